"""Secrets in text that a tool is about to show: what they are called and what they look like.

The rules rather hide too much: what is shown goes to a model, and so to its provider.
"""

from __future__ import annotations

import re

from loopspan.secrets import MASK

_SECRET_NAME = re.compile(
    r"SECRET|PASSW|PASSPHRASE|CREDENTIAL|TOKEN(?!IZ)|APIKEY|ACCESSKEY|PRIVATEKEY|COOKIE|JWT"
    r"|(?:^|[_.-])(?:KEYS?|PASS|AUTH|PAT|PIN|DSN|HEADERS|SIGNATURE|SALT)(?:$|[_.-])"
    r"|KEYS?$|PASS$|(?<!^)(?<!^OLD)PWD$",  # `PWD` and `OLDPWD` are folders
    re.IGNORECASE,
)

_KEY_SHAPES = re.compile(
    r"""
    -----BEGIN[ A-Z]*PRIVATE\ KEY-----(?:.*?-----END[ A-Z]*PRIVATE\ KEY-----|.*)
    | \b(?:sk|pk|rk|gsk|hf|npm|r8|pplx|xai|nvapi|tvly|dop_v1|lin_api|glpat|whsec)[-_][\w-]{8,}
    | \bgh[oprsu]_\w{20,} | \bgithub_pat_\w{20,}            # GitHub
    | \bxox[a-z]-[\w-]{10,} | \bxapp-[\w-]{10,}             # Slack
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b                         # Amazon
    | \bAIza[\w-]{30,} | \bya29\.[\w.-]{10,} | \bAQ\.[\w-]{20,}    # Google
    | \bpypi-[\w-]{20,} | \bSG\.[\w-]{10,}\.[\w-]{10,}
    | \beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*                     # a JSON web token
    """,
    re.VERBOSE | re.DOTALL,
)

# A password may hold anything, so it ends at the last @ of the word.
_URL_LOGIN = re.compile(r"(?<=://)(?:[^\s:/?#@]*:\S*|[^\s/?#]*)(?=@)")

_SCHEME = re.compile(
    r"\b(Bearer|Basic|Token)((?:\s|%20)+)(?=\S*[\d=+/])[\w.~+/=-]{6,}", re.IGNORECASE
)

_ASSIGNMENT = re.compile(
    r"""
    ( (?: pass(?:word|wd|phrase) | pwd | secret | token | credentials?
        | (?:api|access|account|private|shared|secret)[_-]?key | sig(?:nature)?
        | authorization | cookie )
      ["']? \s* [=:] \s* )
    ( "[^"]*" | '[^']*' | [^\s,;&"']+ )
    """,
    re.IGNORECASE | re.VERBOSE,
)

_RANDOM = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[\w+=~-]{24,}|[0-9a-f]{32,}|[0-9A-F]{32,}")


def is_secret_name(name: str, value: str = "") -> bool:
    """Whether a variable's name says that its value is a secret; a count of tokens is none."""
    return bool(_SECRET_NAME.search(name)) and not (
        name.upper().endswith("TOKENS") and value.isdigit()
    )


def looks_random(value: str) -> bool:
    """Whether the whole value is one long word of random letters and digits, as many keys are."""
    return _RANDOM.fullmatch(value) is not None


def masked(text: str) -> str:
    """Return the text with what looks like a secret in it replaced by the mask."""
    text = _KEY_SHAPES.sub(MASK, text)
    text = _SCHEME.sub(rf"\1\2{MASK}", text)
    text = _URL_LOGIN.sub(MASK, text)
    return _ASSIGNMENT.sub(rf"\1{MASK}", text)
