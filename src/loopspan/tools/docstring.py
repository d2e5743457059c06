"""What a docstring says about a function and its parameters: Google style and reST fields."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_SECTION = re.compile(
    r"(args|arguments|params|parameters|keyword arg(?:ument)?s|other parameters|returns?|yields?"
    r"|raises|attributes|examples?|notes?|warnings?|see also|references|todo):\s*",
    re.IGNORECASE,
)
_PARAMETER_SECTIONS = ("arg", "param", "keyword", "other")
_FIELD = re.compile(
    r":(?P<kind>param|parameter|arg|argument|key|keyword|type|raises?|except|exception|[ic]?var"
    r"|vartype|returns?|rtype|meta)(?:\s+(?P<of>[^:]*))?:\s*(?P<said>.*)"
)
_PARAMETER_FIELDS = frozenset({"param", "parameter", "arg", "argument", "key", "keyword"})
_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:(?:\s+(.*))?$")


@dataclass(frozen=True, slots=True)
class Docstring:
    """The text before all sections, and the description of each parameter that has one."""

    text: str | None
    parameters: Mapping[str, str]


def parse_docstring(docstring: str | None) -> Docstring:
    """Return what the docstring says; anything it does not understand stays in the text.

    Source: the Google style guide, section 3.8.3, and the field lists of Sphinx's Python domain.
    """
    text: list[str] = []
    parameters: dict[str, str] = {}
    before_sections = True
    for block in _blocks(inspect.cleandoc(docstring or "").splitlines()):
        if _SECTION.fullmatch(block[0]):
            before_sections = False
            if block[0].lower().startswith(_PARAMETER_SECTIONS):
                parameters.update(_entries(block[1:]))
        elif field := _FIELD.match(block[0]):
            before_sections = False
            parameters.update(_from_field(field, block[1:]))
        elif before_sections:
            text += block
    return Docstring("\n".join(text).strip() or None, parameters)


def _blocks(lines: Sequence[str]) -> list[list[str]]:
    """Return the lines grouped: an unindented line with the indented and blank ones below it."""
    blocks: list[list[str]] = []
    for line in lines:
        if blocks and (not line.strip() or line[0].isspace()):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def _entries(lines: Sequence[str]) -> dict[str, str]:
    """Return the entries of a parameter section; what is indented deeper continues an entry."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    for line in lines:
        entry = _ENTRY.match(line[margin:])
        if entry:
            current = found[entry[1]] = [entry[2] or ""]
        else:
            current.append(line)
    return {name: said for name, words in found.items() if (said := _joined(words))}


def _from_field(field: re.Match[str], more: Sequence[str]) -> dict[str, str]:
    """Return `{name: description}` of `:param name:` or `:param type name:`, else nothing."""
    said = _joined([field["said"], *more])
    if field["kind"] not in _PARAMETER_FIELDS or not field["of"] or not said:
        return {}
    return {field["of"].split()[-1].lstrip("*"): said}


def _joined(lines: Sequence[str]) -> str:
    return " ".join(" ".join(lines).split())
