"""What secrets look like: the rules that redaction goes by unless it is given others.

Every rule takes time in line with the text: what follows a prefix is bounded, or is used up by the
match. Rules rather leave an odd case than mask what is no secret: a trace has to stay readable.
"""

from __future__ import annotations

import re

from loopspan.telemetry.rule import Rule, field_name


def _shapes(*patterns: str) -> tuple[re.Pattern[str], ...]:
    # ASCII: what matches without regard to case is then found in lower case too.
    return tuple(re.compile(each, re.VERBOSE | re.ASCII | re.DOTALL) for each in patterns)


def _hints(*patterns: str) -> tuple[re.Pattern[str], ...]:
    # Each begins with letters: these the search finds as fast as a plain text. An alternative in
    # one pattern is ten times as slow.
    return tuple(map(re.compile, patterns))


# A key that was cut before it came here is one all the same.
_CUT = r"(?=…\ \[cut:\ )"

_API_KEY = Rule(
    "api_key",  # OpenAI, Anthropic, OpenRouter and others; Groq; Google
    _shapes(
        rf"""
        (?<![A-Za-z0-9])
        (?: (?: sk-|gsk_ ) (?: [\w-]{{16,}} | [\w-]+{_CUT} )
          | AIza (?: [\w-]{{30,}} | [\w-]+{_CUT} ) )
        """
    ),
    _hints("sk-", "gsk_", "aiza"),
)

_AWS_KEY = Rule(
    "aws_key",
    _shapes(r"(?<![A-Za-z0-9]) (?:AKIA|ASIA) [A-Z0-9]{16} (?![A-Za-z0-9])"),
    _hints("akia", "asia"),
)

_GITHUB_TOKEN = Rule(
    "github_token",
    _shapes(
        rf"""
        (?<![A-Za-z0-9])
        (?: gh[oprsu]_ (?: [A-Za-z0-9]{{20,}} | [A-Za-z0-9]+{_CUT} )
          | github_pat_ (?: \w{{20,}} | \w+{_CUT} ) )
        """
    ),
    _hints("gh[oprsu]_", "github_pat_"),
)

_SLACK_TOKEN = Rule(
    "slack_token",
    _shapes(rf"(?<![A-Za-z0-9]) xox[a-z]- (?: [\w-]{{10,}} | [\w-]+{_CUT} )"),
    _hints("xox[a-z]-"),
)

# Possessive, and only at the start of a word: no part of a text is gone over more than thrice.
_JWT = Rule(
    "jwt",
    _shapes(r"(?<![\w-]) eyJ[\w-]{8,}+ \.eyJ[\w-]{8,}+ (?: \.[\w-]*+ )?"),
    _hints("eyj"),
)

_PRIVATE_KEY = Rule(
    "private_key",
    _shapes(
        r"""
        -----BEGIN[ A-Z0-9]{0,40}PRIVATE\ KEY-----
        (?: (?!-----END) [^"'] )*+
        (?: -----END[ A-Z0-9]{0,40}PRIVATE\ KEY----- )?
        """
    ),
    _hints("private key-----"),
)

_AUTHORIZATION = Rule(
    "authorization",
    _shapes(
        r"""
        (?<![A-Za-z0-9])
        (?: (?i: authorization | x-api-key | x-goog-api-key ) \\{0,7}["']? \s{0,5} [:=] \s{0,5}
            \\{0,7}["']?
            (?: (?i: bearer|basic|token|apikey|negotiate ) \s{1,5} (?= [^\s"',;\\]{8} )
              | (?= [^\s"',;\\]{16} | [^\s"',;\\]{0,64}\d | (?i: digest|aws4-hmac-sha256 )\s ) )
          | (?i: bearer ) (?: \s|%20 ){1,4} (?= [\w.~+/=-]{8} )
            (?= [\w.~+/=-]{0,64}\d | [\w.~+/=-]{24} ) )
        (?P<secret> (?i: digest|aws4-hmac-sha256 )\s[^\r\n]+ | [^\s"',;\\]+ )
        """
    ),
    _hints("authorization", "bearer", "api-key"),
)

# A password may hold what should have been escaped, and what looks like a port is none. After the
# host of a page an @ is common, after that of a database it is rather a part of the password.
_UNESCAPED = r"""(?! \d{1,5}[/?\#,] ) (?: (?!://) [^\s"'<>] )+ (?=@)"""

_URL_PASSWORD = Rule(
    "url_password",
    _shapes(
        rf"""
        :// (?<!http://) (?<!https://) [^\s:/?\#@"'<>]*+ : (?P<secret> {_UNESCAPED} )
        """,
        rf"""
        :// (?: (?<=http://) | (?<=https://) ) [^\s:/?\#@"'<>]*+ :
        (?P<secret> [^\s/?\#"'<>]+ (?=@) | {_UNESCAPED} )
        """,
    ),
    _hints("@"),
    _hints("://"),
)

_FIELDS = (
    "access_token",
    "api_key",
    "api_secret",
    "api_token",
    "auth_token",
    "authorization",
    "aws_secret_access_key",
    "aws_session_token",
    "bearer_token",
    "client_secret",
    "cookie",
    "db_password",
    "id_token",
    "passphrase",
    "passwd",
    "password",
    "private_key",
    "proxy_authorization",
    "refresh_token",
    "secret",
    "secret_access_key",
    "secret_key",
    "session_token",
    "set_cookie",
    "x_api_key",
    "x_goog_api_key",
)
_FIELD = "|".join(name.replace("_", "[-_]?") for name in _FIELDS)

_ENDS = ("token", "key", "secret", "passw(?:or)?d", "passphrase", "authorization", "cookie", "pwd")

# In JSON and the like, in the addresses of services and databases.
_SECRET_FIELD = Rule(
    "secret_field",
    _shapes(
        rf"""
        ["'] (?i:{_FIELD}) \\{{0,7}}["'] \s{{0,9}} : \s{{0,9}} (?P<v> \\{{0,7}}["'] )
        (?P<secret> .*? ) (?: (?<!\\)(?P=v) | \Z )
        """,
        rf"(?: ^|[\s?&;] ) (?i:{_FIELD}|pwd) = (?P<secret> [^\s&;,\"'<>(){{}}\[\]]+ )",
    ),
    _hints(*(f"{end}[\"'\\\\=]" for end in _ENDS)),
    fields=frozenset(map(field_name, _FIELDS)),
)

DEFAULT_RULES: tuple[Rule, ...] = (
    _API_KEY,
    _AWS_KEY,
    _GITHUB_TOKEN,
    _SLACK_TOKEN,
    _JWT,
    _PRIVATE_KEY,
    _AUTHORIZATION,
    _URL_PASSWORD,
    _SECRET_FIELD,
)
"""Keys of providers and services, tokens, authorization headers, passwords in addresses, fields."""
