"""A catalogue as it was read: checked as a whole, never half loaded."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from loopspan.builtin import builtin_tools
from loopspan.catalogue.document import ConfigurationTable, Document, check_document
from loopspan.catalogue.files import Files, toml
from loopspan.catalogue.lock import read_lock
from loopspan.catalogue.skill_folders import read_skills
from loopspan.configuration import Budget, Configuration
from loopspan.errors import ConfigurationError
from loopspan.loop import ToolLoop
from loopspan.messages import Parameters, Price
from loopspan.prompts import Library, Snippet
from loopspan.providers.connect import adapter
from loopspan.tools import ToolRegistry


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What a catalogue file holds."""

    path: Path
    configurations: Mapping[str, Configuration]
    library: Library
    tool_modules: tuple[str, ...]
    has_builtin_tools: bool
    prices: Mapping[str, Price]
    files: Files = field(repr=False, compare=False)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a catalogue and all files that it names.

        Raises `ConfigurationError` for the first mistake, with file, table, key and what was
        expected.
        """
        path = Path(path)
        files = Files(path.resolve().parent)
        document = check_document(path, toml(files.text(path, "the catalogue"), path))
        library = _library(document, files, path)
        configurations = {
            name: _configuration(name, table, files, path)
            for name, table in document.configurations.items()
        }
        for name, configuration in configurations.items():
            _check_names(f"{path}: [configurations.{name}]", configuration, library)
        prices = {spec: Price(**table.model_dump()) for spec, table in document.prices.items()}
        for spec in prices:
            _check_model(f'{path}: [prices."{spec}"]', spec)
        return cls(
            path,
            configurations,
            library,
            tuple(document.tools.modules),
            document.tools.builtin,
            prices,
            files,
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

    def tools(self) -> ToolRegistry:
        """Return the tools of the modules that the catalogue names, and the built-in ones.

        Modules are found beside the catalogue first, then as Python finds them.
        """
        with _beside(self.path):
            own = ToolRegistry.from_modules(self.tool_modules)
        return ToolRegistry([*(builtin_tools() if self.has_builtin_tools else ()), *own])

    def loop(self, name: str, **settings: Any) -> ToolLoop:
        """Return a loop for a configuration; `settings` are further arguments of `ToolLoop`."""
        defaults: dict[str, Any] = {"library": self.library, "prices": self.prices}
        if "tools" not in settings:
            defaults["tools"] = self.tools()
        return ToolLoop(configuration=self.configuration(name), **{**defaults, **settings})


@contextmanager
def _beside(path: Path) -> Iterator[None]:
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _configuration(name: str, table: ConfigurationTable, files: Files, path: Path) -> Configuration:
    where = f"{path}: [configurations.{name}]"
    _check_model(f"{where} model", table.model)
    prompt = table.system_prompt
    if table.system_prompt_file is not None:
        if prompt is not None:
            raise ConfigurationError(
                f"{where} has both system_prompt and system_prompt_file; keep one"
            )
        prompt = files.text(path.parent / table.system_prompt_file, "the system prompt").strip()
    settings = table.parameters.model_dump()
    stops = settings.pop("stop_sequences")
    return Configuration(
        name=name,
        model=table.model,
        description=table.description,
        system_prompt=prompt or "",
        parameters=Parameters(**settings, stop_sequences=None if stops is None else tuple(stops)),
        skills=tuple(table.skills),
        snippets=tuple(table.snippets),
        snippet_tags=tuple(table.snippet_tags),
        tools=None if table.tools is None else tuple(table.tools),
        max_rounds=table.max_rounds,
        budget=Budget(**table.budget.model_dump()),
        context_window=table.context_window,
    )


def _check_model(where: str, spec: str) -> None:
    provider, colon, model = spec.partition(":")
    if not colon or not provider:
        raise ConfigurationError(f"{where}: expected 'provider:model', got {spec!r}")
    try:
        found = adapter(provider)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from None
    if not model and not found.default_model:
        raise ConfigurationError(f"{where}: {spec!r} names no model; write 'provider:model'")


def _check_names(where: str, configuration: Configuration, library: Library) -> None:
    for name in configuration.skills:
        if library.skill(name) is None:
            known = ", ".join(f"{s.source}/{s.identifier}" for s in library.skills) or "none"
            raise ConfigurationError(f"{where} skills: no skill {name!r}; known are {known}")
    for name in configuration.snippets:
        if library.snippet(name) is None:
            known = ", ".join(s.identifier for s in library.snippets) or "none"
            raise ConfigurationError(f"{where} snippets: no snippet {name!r}; known are {known}")


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
