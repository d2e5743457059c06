"""Skills in folders: `IDENTIFIER/SKILL.md`, front matter and body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loopspan.catalogue.document import SkillSourceTable
from loopspan.catalogue.files import Files
from loopspan.errors import ConfigurationError
from loopspan.prompts import Skill

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KNOWN = ("name", "description", "allowed-tools")


def read_skills(
    name: str,
    table: SkillSourceTable,
    locked: Mapping[str, str],
    files: Files,
    catalogue: Path,
) -> Iterator[Skill]:
    """Yield the skills of a source in the order of their identifiers.

    `locked` has the checksums of the lock file by `source/identifier`. Raises
    `ConfigurationError` for a folder without a readable `SKILL.md`.
    """
    where = f"{catalogue}: [skill_sources.{name}]"
    folder = catalogue.parent / table.path
    found = files.folders(folder, f"the path of skill source {name!r}")
    unknown = sorted({*table.disabled, *table.checksums} - {each.name for each in found})
    if unknown:
        raise ConfigurationError(f"{where} names the skill {unknown[0]!r}, which {folder} has not")
    for each in found:
        path = each / "SKILL.md"
        meta, body = _split(files.text(path, "the skill"), path)
        checksum = table.checksums.get(each.name) or locked.get(f"{name}/{each.name}")
        yield Skill(
            identifier=each.name,
            body=body,
            name=_text(meta, "name", path),
            description=_text(meta, "description", path),
            source=name,
            checksum=checksum,
            enabled=table.enabled and each.name not in table.disabled,
            allowed_tools=_allowed(meta, path),
        )


def _split(text: str, path: Path) -> tuple[dict[str, Any], str]:
    match = _FRONT_MATTER.match(text)
    if match is None:
        raise ConfigurationError(
            f"{path} has no front matter; begin it with '---', 'name: …', 'description: …', '---'"
        )
    try:
        import yaml  # only catalogues with skills need it
    except ImportError:
        raise ConfigurationError(
            f"{path} cannot be read without PyYAML; run: pip install 'loopspan[yaml]'"
        ) from None
    try:
        meta = yaml.safe_load(match[1])
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())
        raise ConfigurationError(f"{path}: the front matter is no YAML: {said}") from None
    if not isinstance(meta, dict):
        raise ConfigurationError(f"{path}: the front matter is no mapping; write 'name: …'")
    return meta, text[match.end() :].strip("\r\n")


def _text(meta: Mapping[str, Any], key: str, path: Path) -> str:
    value = meta.get(key, "")
    if not isinstance(value, str):
        raise ConfigurationError(f"{path}: {key} in the front matter: expected text, got {value!r}")
    return value


def _allowed(meta: Mapping[str, Any], path: Path) -> tuple[str, ...] | None:
    """Return the tools that are declared: `None` where none are, `()` for an empty list."""
    if "allowed-tools" not in meta:
        return None
    value = meta["allowed-tools"]
    match value:
        case None:
            return ()
        case str():
            return tuple(name for name in re.split(r"[,\s]+", value) if name)
        case [*names] if all(isinstance(name, str) for name in names):
            return tuple(names)
        case _:
            raise ConfigurationError(
                f"{path}: allowed-tools in the front matter: expected names, got {value!r}"
            )
