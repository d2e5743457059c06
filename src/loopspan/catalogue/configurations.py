"""The configurations of a catalogue, checked against what else it has."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from loopspan.catalogue.document import ConfigurationTable, Document
from loopspan.catalogue.files import Files
from loopspan.catalogue.places import meant, place
from loopspan.configuration import Budget, Configuration
from loopspan.errors import ConfigurationError
from loopspan.messages import Parameters
from loopspan.prompts import Library
from loopspan.providers.connect import adapter


def configurations(
    path: Path, document: Document, library: Library, files: Files
) -> dict[str, Configuration]:
    """Return the configurations by name; raises `ConfigurationError` for the first mistake."""
    found = {
        name: _configuration(name, table, files, path)
        for name, table in document.configurations.items()
    }
    for configuration in found.values():
        _check_names(path, configuration, library)
    return found


def full_spec(where: str, spec: str) -> str:
    """Return `provider:model` with the provider's own model where none is named.

    Raises `ConfigurationError` where a provider is missing or unknown, or needs a model.
    """
    provider, colon, model = spec.partition(":")
    if not colon or not provider:
        raise ConfigurationError(f"{where}: expected 'provider:model', got {spec!r}")
    try:
        found = adapter(provider)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from None
    if not model and not found.default_model:
        raise ConfigurationError(f"{where}: {spec!r} names no model; write 'provider:model'")
    return f"{provider}:{model or found.default_model}"


def _configuration(name: str, table: ConfigurationTable, files: Files, path: Path) -> Configuration:
    full_spec(place(path, ("configurations", name, "model")), table.model)
    settings = table.parameters.model_dump()
    stops = settings.pop("stop_sequences")
    return Configuration(
        name=name,
        model=table.model,
        description=table.description,
        system_prompt=_system_prompt(name, table, files, path),
        parameters=Parameters(**settings, stop_sequences=None if stops is None else tuple(stops)),
        skills=tuple(table.skills),
        snippets=tuple(table.snippets),
        snippet_tags=tuple(table.snippet_tags),
        tools=None if table.tools is None else tuple(table.tools),
        max_rounds=table.max_rounds,
        budget=Budget(**table.budget.model_dump()),
        context_window=table.context_window,
        content=table.content,
        unrecorded_tools=tuple(table.unrecorded_tools),
    )


def _system_prompt(name: str, table: ConfigurationTable, files: Files, path: Path) -> str:
    if table.system_prompt_file is None:
        return table.system_prompt or ""
    if table.system_prompt is not None:
        raise ConfigurationError(
            f"{path}: [configurations.{name}] has both system_prompt and system_prompt_file; "
            f"keep one"
        )
    return files.text(path.parent / table.system_prompt_file, "the system prompt").strip()


def _check_names(path: Path, configuration: Configuration, library: Library) -> None:
    """Raise `ConfigurationError` where a skill, snippet or tag is named that is not there."""

    def check(key: str, name: str, known: Collection[str], said: str) -> None:
        if name not in known:
            where = place(path, ("configurations", str(configuration.name), key))
            raise ConfigurationError(f"{where}: {said} {name!r}; {meant(name, known)}")

    skills = [s.identifier for s in library.skills]
    skills += [f"{s.source}/{s.identifier}" for s in library.skills]
    for name in configuration.skills:
        check("skills", name, skills, "no skill")
    for name in configuration.snippets:
        check("snippets", name, [s.identifier for s in library.snippets], "no snippet")
    tags = dict.fromkeys(tag for snippet in library.snippets for tag in snippet.tags)
    for name in configuration.snippet_tags:
        check("snippet_tags", name, tags, "no snippet has the tag")
