"""Skills in folders: `IDENTIFIER/SKILL.md`, front matter and body."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from loopspan.catalogue.document import NAMES, SkillSourceTable, is_name
from loopspan.catalogue.files import Files
from loopspan.catalogue.front_matter import read_front_matter
from loopspan.catalogue.places import meant, place, shown
from loopspan.errors import ConfigurationError
from loopspan.prompts import Skill

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


def read_skills(
    name: str,
    table: SkillSourceTable,
    locked: Mapping[str, str],
    files: Files,
    catalogue: Path,
) -> Iterator[Skill]:
    """Yield the skills of a source in the order of their folders.

    `locked` has the checksums of the lock file by `source/identifier`. Raises
    `ConfigurationError` for a folder without a readable `SKILL.md`.
    """
    folder = catalogue.parent / table.path
    found = _identified(files.folders(folder, f"the path of skill source {name!r}"))
    _check(name, table, found, catalogue)
    for identifier, path in found.items():
        skill = path / "SKILL.md"
        said = read_front_matter(files.text(skill, "the skill"), skill)
        yield Skill(
            identifier=identifier,
            body=said.body,
            name=said.name,
            description=said.description,
            source=name,
            checksum=table.checksums.get(identifier) or locked.get(f"{name}/{identifier}"),
            enabled=table.enabled and identifier not in table.disabled,
            allowed_tools=said.allowed_tools,
        )


def _identified(folders: Iterable[Path]) -> dict[str, Path]:
    """Return the folders by identifier; no two may differ only in case or in how é is written."""
    found: dict[str, Path] = {}
    seen: dict[str, Path] = {}
    for folder in folders:
        identifier = unicodedata.normalize("NFC", folder.name)
        if not is_name(identifier):
            raise ConfigurationError(f"{folder}: the folder of a skill: expected {NAMES}")
        other = seen.setdefault(identifier.casefold(), folder)
        if other is not folder:
            raise ConfigurationError(f"{other} and {folder} are one skill; rename or remove one")
        found[identifier] = folder
    return found


def _check(name: str, table: SkillSourceTable, found: Mapping[str, Path], catalogue: Path) -> None:
    """Raise `ConfigurationError` where the table names a skill that is not there."""
    for key, names in (("disabled", table.disabled), ("checksums", table.checksums)):
        for each in names:
            if each not in found:
                where = place(catalogue, ("skill_sources", name, key))
                raise ConfigurationError(
                    f"{where}: {table.path} has no skill {each!r}; {meant(each, found)}"
                )
    for each, checksum in table.checksums.items():
        if not _SHA256.fullmatch(checksum):
            where = place(catalogue, ("skill_sources", name, "checksums", each))
            raise ConfigurationError(
                f"{where}: expected the 64 hexadecimal digits of a SHA-256, got {shown(checksum)}"
            )
