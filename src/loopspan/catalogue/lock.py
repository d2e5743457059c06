"""The lock file beside a catalogue: the checksums of skills that somebody has read and accepted."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loopspan.catalogue.files import Files, toml
from loopspan.errors import ConfigurationError
from loopspan.jsontext import dump_text
from loopspan.prompts import Skill, body_checksum

_HEAD = """\
# Checksums (SHA-256) of the skills' bodies, written by `loopspan skills lock`.
# A skill that does not match is not used. Read a changed skill before you lock it.

[checksums]
"""


def lock_path(catalogue: Path) -> Path:
    """Return where the lock file of a catalogue lies."""
    return catalogue.with_name(f"{catalogue.stem}.lock")


def read_lock(catalogue: Path, files: Files) -> dict[str, str]:
    """Return the recorded checksums by `source/identifier`; none where there is no lock file."""
    path = lock_path(catalogue)
    files.watch(path)
    if not path.exists():
        return {}
    text = files.text(path, "the lock file")
    try:
        checksums = toml(text, path).get("checksums")
    except ConfigurationError as error:
        raise ConfigurationError(f"{error}; remove it and run `loopspan skills lock`") from None
    if not isinstance(checksums, dict) or not all(isinstance(c, str) for c in checksums.values()):
        raise ConfigurationError(
            f"{path} has no [checksums]; remove it and run `loopspan skills lock`"
        )
    return checksums


@dataclass(frozen=True, slots=True)
class SkillState:
    """Whether a skill would be used, and if not, why."""

    skill: Skill
    state: Literal["ok", "changed", "unrecorded", "disabled"]


def states(skills: Iterable[Skill]) -> tuple[SkillState, ...]:
    """Return the state of each skill."""
    return tuple(SkillState(skill, _state(skill)) for skill in skills)


def _state(skill: Skill) -> Literal["ok", "changed", "unrecorded", "disabled"]:
    if not skill.enabled:
        return "disabled"
    if skill.checksum is None:
        return "unrecorded"
    return "ok" if skill.is_verified else "changed"


@dataclass(frozen=True, slots=True)
class Changes:
    """What a new lock file says otherwise than the one before, by `source/identifier`."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def lock_skills(catalogue: Path, skills: Iterable[Skill]) -> Changes:
    """Record the checksums of these skills as they were read; the file is replaced as a whole.

    Raises `ConfigurationError` where it cannot be written.
    """
    path = lock_path(catalogue)
    before = read_lock(catalogue, Files(catalogue.parent))
    now = {f"{s.source}/{s.identifier}": body_checksum(s.body) for s in skills}
    # TOML's basic strings are JSON's, but for one character.
    names = {name: dump_text(name).replace("\x7f", "\\u007f") for name in sorted(now)}
    lines = (f'{names[name]} = "{now[name]}"\n' for name in names)
    if before != now or not path.exists():
        try:
            _replace(path, _HEAD + "".join(lines))
        except OSError as error:
            raise ConfigurationError(
                f"{path}: the lock file cannot be written ({error.strerror})"
            ) from error
    return _changes(before, now)


def _replace(path: Path, text: str) -> None:
    """Put a text in the place of a file; who reads it meanwhile has the one or the other."""
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with fresh.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def _changes(before: Mapping[str, str], now: Mapping[str, str]) -> Changes:
    both = before.keys() & now.keys()
    return Changes(
        added=tuple(sorted(now.keys() - before.keys())),
        changed=tuple(sorted(name for name in both if before[name] != now[name])),
        removed=tuple(sorted(before.keys() - now.keys())),
    )
