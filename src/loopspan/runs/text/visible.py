"""Characters that a terminal would obey, or nobody would see, made visible."""

from __future__ import annotations

import re

_UNSAFE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and newline, ESC among them
    "\u2028\u2029"  # line and paragraph separator
    "\u00ad\u180e\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # invisible
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u206a-\u206f"  # change the direction of text
    "\ud800-\udfff"  # halves of characters
)
_UNSAFE_CHARACTER = re.compile(f"[{_UNSAFE}]")


def visible(text: str) -> str:
    r"""Return the text with such characters as escapes, `\x1b`; newlines and tabs stay.

    Joiners stay too: emoji and several scripts are written with them.
    """
    return _UNSAFE_CHARACTER.sub(_escape, text.replace("\r\n", "\n"))


def visible_json(text: str) -> str:
    """Return compact JSON with such characters as JSON escapes; its value is the same."""
    return _UNSAFE_CHARACTER.sub(_json_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
