"""The front matter of a `SKILL.md`: what it says of the skill, in YAML between two lines `---`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopspan.catalogue.places import shown
from loopspan.errors import ConfigurationError

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
MAX_CHARACTERS = 32 * 1024
MAX_DEPTH = 20
_ALLOWED = "allowed-tools"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a `SKILL.md` says of its skill, and the body, which is all that follows.

    `allowed_tools` is `None` where nothing is declared, `()` where an empty list is.
    """

    name: str
    description: str
    allowed_tools: tuple[str, ...] | None
    body: str


def read_front_matter(text: str, path: Path) -> FrontMatter:
    """Return the front matter and the body of a `SKILL.md`.

    Other keys than ours are left to others. Raises `ConfigurationError` for a mistake.
    """
    match = _FRONT_MATTER.match(text)
    if match is None:
        raise ConfigurationError(
            f"{path} has no front matter; begin it with '---', 'name: …', 'description: …', '---'"
        )
    meta = _mapping(match[1], path)
    for key in meta:
        if key != _ALLOWED and difflib.get_close_matches(str(key).lower(), [_ALLOWED], 1, 0.8):
            # Not to be left out silently: the skill would be allowed every tool.
            raise ConfigurationError(
                f"{path}: {shown(key)} in the front matter is unknown; did you mean {_ALLOWED!r}?"
            )
    said = FrontMatter(
        name=_text(meta, "name", path),
        description=_text(meta, "description", path),
        allowed_tools=_allowed(meta, path),
        body=text[match.end() :].strip("\n"),
    )
    if not said.body.strip():
        raise ConfigurationError(f"{path} has nothing below its front matter; write the skill")
    return said


def _mapping(text: str, path: Path) -> Mapping[Any, Any]:
    try:
        import yaml  # only catalogues with skills need it
    except ImportError:
        raise ConfigurationError(
            f"{path} cannot be read without PyYAML; run: pip install 'loopspan[yaml]'"
        ) from None
    if len(text) > MAX_CHARACTERS:
        raise ConfigurationError(
            f"{path}: the front matter is longer than {MAX_CHARACTERS:,} characters"
        )
    text = f"---\n{text}"  # lines then have the numbers that they have in the file
    try:
        _check_events(yaml.parse(text, yaml.SafeLoader))
        meta = yaml.safe_load(text)
    except Exception as error:  # noqa: BLE001  # values that are none give errors of many kinds
        said = " ".join(str(error).split()) or type(error).__name__
        raise ConfigurationError(f"{path}: the front matter is no YAML: {said}") from None
    if not isinstance(meta, dict):
        raise ConfigurationError(f"{path}: the front matter is no mapping; write 'name: …'")
    return meta


def _check_events(events: Iterable[Any]) -> None:
    """Raise `ValueError` for a value that would take no end of memory or time."""
    import yaml

    depth = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):  # it may be of aliases of aliases
            raise ValueError("an alias ('*name') is not read here; write the value out")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError("it is nested too deeply")


def _text(meta: Mapping[Any, Any], key: str, path: Path) -> str:
    value = meta.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ConfigurationError(
            f"{path}: {key} in the front matter: expected text, got {shown(value)}"
        )
    return value


def _allowed(meta: Mapping[Any, Any], path: Path) -> tuple[str, ...] | None:
    if _ALLOWED not in meta:
        return None
    value = meta[_ALLOWED]
    match value:
        case None:
            return ()
        case str():
            return tuple(name for name in re.split(r"[,\s]+", value) if name)
        case [*names] if all(isinstance(name, str) for name in names):
            return tuple(names)
        case _:
            raise ConfigurationError(
                f"{path}: {_ALLOWED} in the front matter: expected names, got {shown(value)}"
            )
