"""`loopspan skills`: what a catalogue's skills are, and the checksums that let them be used."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from loopspan.catalogue import Catalogue, SkillState, lock_path, lock_skills
from loopspan.catalogue.lock import states
from loopspan.cli.facts import Fact
from loopspan.cli.lines import JsonLines
from loopspan.cli.settings import DEFAULT_CATALOGUE, open_catalogue
from loopspan.cli.stderr import say
from loopspan.cli.views import open_writer
from loopspan.errors import ConfigurationError
from loopspan.runs.text.figures import count
from loopspan.runs.text.lines import Line, Style
from loopspan.runs.text.visible import visible

_STYLES: Mapping[str, Style] = {
    "ok": "good",
    "disabled": "note",
    "changed": "error",
    "unrecorded": "error",
}
USED = ("ok", "disabled")
"""The states of a skill that need nobody to look at it."""


def list_skills(path: Path | None, json: bool) -> int:
    """Show each skill and its state; returns 1 where an enabled one would not be used."""
    found = states(open_catalogue(path).library.skills)
    if json:
        out = JsonLines(sys.stdout.buffer)
        for each in found:
            out.write({"event": "skill", "skill": _as_json(each)})
    else:
        open_writer().write(list(_lines(found)))
    return 0 if all(each.state in USED for each in found) else 1


def lock(path: Path | None, json: bool) -> int:
    """Record the checksums of all skills, and show what that changes."""
    catalogue = open_catalogue(path)
    skills = catalogue.lockable_skills
    changes = lock_skills(catalogue.path, skills)
    if json:
        out = JsonLines(sys.stdout.buffer)
        out.write({"event": "lock", "file": str(lock_path(catalogue.path)), **asdict(changes)})
    else:
        lines = [
            Line(visible(name), label=what)
            for what, names in asdict(changes).items()
            for name in names
        ]
        written = f"{lock_path(catalogue.path)} has {count(len(skills), 'skill')}"
        said = written if lines else f"{written}, as before"
        open_writer().write([*lines, Line(visible(said), "good", indent=0)])
    _warn_of_pinned(open_catalogue(path))
    return 0


def _warn_of_pinned(catalogue: Catalogue) -> None:
    pinned = [s.skill for s in states(catalogue.library.skills) if s.state == "changed"]
    if pinned:
        names = ", ".join(f"{skill.source}/{skill.identifier}" for skill in pinned)
        say(
            "warning",
            f"still not used: {names}; {catalogue.path} has other checksums of its own, which win",
        )


def catalogue_facts(path: Path | None) -> Iterator[Fact]:
    """Yield what `loopspan check` says of a catalogue, where one was named or lies here."""
    if path is None and not DEFAULT_CATALOGUE.exists():
        return
    try:
        catalogue = open_catalogue(path)
        tools = catalogue.tools()
        catalogue.check_tools(tools)
    except ConfigurationError as error:
        yield Fact(name="catalogue", value=str(path or DEFAULT_CATALOGUE), problem=str(error))
        return
    known = f"{count(len(catalogue.configurations), 'configuration')}, {count(len(tools), 'tool')}"
    yield Fact(name="catalogue", value=f"{catalogue.path}: {known}")
    yield _skills_fact(catalogue)


def _skills_fact(catalogue: Catalogue) -> Fact:
    found = states(catalogue.library.skills)
    counted = Counter(each.state for each in found)
    value = ", ".join(f"{count} {state}" for state, count in sorted(counted.items())) or "none"
    unused = [each.skill.identifier for each in found if each.state not in USED]
    problem = None
    if unused:
        problem = (
            f"not used, since not as recorded: {', '.join(unused)}; read them, then run "
            f"`loopspan skills lock`"
        )
    return Fact(name="skills", value=value, problem=problem)


def _lines(found: tuple[SkillState, ...]) -> Iterator[Line]:
    for each in found:
        skill = each.skill
        name = f"{skill.source}/{skill.identifier}"
        yield Line(visible(f"{name}  {skill.description}"), _STYLES[each.state], label=each.state)
    if not found:
        yield Line("The catalogue has no skills", "note", indent=0)


def _as_json(found: SkillState) -> dict[str, object]:
    skill = found.skill
    return {
        "source": skill.source,
        "identifier": skill.identifier,
        "name": skill.title,
        "description": skill.description,
        "state": found.state,
        "allowed_tools": skill.allowed_tools,
    }
