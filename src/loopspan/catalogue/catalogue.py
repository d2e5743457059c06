"""A catalogue as it was read: checked as a whole, never half loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from loopspan.builtin import builtin_tools
from loopspan.catalogue.configurations import configurations, full_spec
from loopspan.catalogue.document import Document, check_document
from loopspan.catalogue.files import Files, toml
from loopspan.catalogue.lock import read_lock
from loopspan.catalogue.modules import beside, check_modules
from loopspan.catalogue.places import meant, place
from loopspan.catalogue.skill_folders import read_skills
from loopspan.configuration import Configuration
from loopspan.errors import ConfigurationError
from loopspan.loop import ToolLoop
from loopspan.messages import Price
from loopspan.prompts import Library, Skill, Snippet
from loopspan.tools import ToolRegistry, ToolSet


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What a catalogue file holds; `skill_sources` says of each whether it is enabled."""

    path: Path
    configurations: Mapping[str, Configuration]
    library: Library
    skill_sources: Mapping[str, bool]
    tool_modules: tuple[str, ...]
    has_builtin_tools: bool
    prices: Mapping[str, Price]

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a catalogue and all files that it names.

        Raises `ConfigurationError` for the first mistake, with file, table, key and what was
        expected. Modules of tools are only looked for; `tools()` imports them.
        """
        path = Path(path)
        return cls.read(path, Files(path.parent))

    @classmethod
    def read(cls, path: Path, files: Files) -> Self:
        """Do what `load` does, with these files of its folder."""
        text = files.text(path, "the catalogue", anywhere=True)
        document = check_document(path, toml(text, path))
        library = _library(document, files, path)
        check_modules(path, document.tools.modules, files)
        return cls(
            path,
            MappingProxyType(configurations(path, document, library, files)),
            library,
            MappingProxyType({n: table.enabled for n, table in document.skill_sources.items()}),
            tuple(document.tools.modules),
            document.tools.builtin,
            MappingProxyType(_prices(path, document)),
        )

    def configuration(self, name: str) -> Configuration:
        """Return a configuration; raises `ConfigurationError` where there is none of this name."""
        try:
            return self.configurations[name]
        except KeyError:
            known = ", ".join(self.configurations) or "none"
            raise ConfigurationError(
                f"{self.path} has no configuration {name!r}; it has {known}"
            ) from None

    def check_has(self, *, skills: Iterable[str], snippets: Iterable[str]) -> None:
        """Raise `ConfigurationError` for the first skill or snippet that there is none of."""
        for kind, wanted, get in (
            ("skill", skills, self.library.skill),
            ("snippet", snippets, self.library.snippet),
        ):
            for name in wanted:
                if get(name) is None:
                    raise ConfigurationError(f"{self.path} has no {kind} {name!r}")

    @property
    def lockable_skills(self) -> tuple[Skill, ...]:
        """The skills that a lock file has the checksums of: those of the enabled sources."""
        return tuple(skill for skill in self.library.skills if self.skill_sources[skill.source])

    def tools(self) -> ToolRegistry:
        """Return the tools of the modules that the catalogue names, and the built-in ones.

        Modules are found beside the catalogue first, then as Python finds them.
        """
        try:
            with beside(self.path):
                own = ToolRegistry.from_modules(self.tool_modules)
            return ToolRegistry([*(builtin_tools() if self.has_builtin_tools else ()), *own])
        except ConfigurationError as error:
            where = place(self.path, ("tools", "modules"))
            raise ConfigurationError(f"{where}: {error}") from error

    def check_tools(self, tools: ToolSet, *names: str) -> None:
        """Raise `ConfigurationError` where a configuration names a tool that is not there.

        Without names, for any configuration.
        """
        for name in names or self.configurations:
            configuration = self.configuration(name)
            named = [("tools", each) for each in configuration.tools or ()]
            named += [("unrecorded_tools", each) for each in configuration.unrecorded_tools]
            for key, each in named:
                if each not in tools:
                    where = place(self.path, ("configurations", name, key))
                    known = [tool.name for tool in tools]
                    raise ConfigurationError(f"{where}: no tool {each!r}; {meant(each, known)}")

    def loop(self, name: str, **settings: Any) -> ToolLoop:
        """Return a loop for a configuration; `settings` are further arguments of `ToolLoop`.

        Where they have no `tools`, it has those of the catalogue.
        """
        configuration = self.configuration(name)
        if "tools" not in settings:
            settings["tools"] = self.tools()
            self.check_tools(settings["tools"], name)
        defaults = {"library": self.library, "prices": self.prices}
        return ToolLoop(configuration=configuration, **{**defaults, **settings})


def _prices(path: Path, document: Document) -> dict[str, Price]:
    prices: dict[str, Price] = {}
    for name, table in document.prices.items():
        where = place(path, ("prices", name))
        spec = full_spec(where, name)
        if spec in prices:
            raise ConfigurationError(f"{where} is a second price of {spec!r}; keep one")
        prices[spec] = Price(**table.model_dump())
    return prices


def _library(document: Document, files: Files, path: Path) -> Library:
    locked = read_lock(path, files)
    skills = [
        skill
        for name, table in document.skill_sources.items()
        for skill in read_skills(name, table, locked, files, path)
    ]
    snippets = (
        Snippet(identifier, table.text, table.name, tuple(table.tags), table.metadata)
        for identifier, table in document.snippets.items()
    )
    return Library(tuple(skills), tuple(snippets))
