"""The tables of a catalogue and what may stand in them; `examples/catalogue` documents each."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from loopspan.configuration import DEFAULT_MAX_ROUNDS, MAX_ROUNDS_CEILING
from loopspan.errors import ConfigurationError


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ParametersTable(_Table):
    """`[configurations.NAME.parameters]`, by the conventions' names; `extra` goes as it is."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    stop_sequences: list[str] | None = None
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    choice_count: int | None = Field(default=None, ge=1)
    reasoning_level: str | None = None
    extra: dict[str, Any] = {}


class BudgetTable(_Table):
    """`[configurations.NAME.budget]`."""

    tokens: int | None = Field(default=None, ge=0)
    usd: float | None = Field(default=None, ge=0)
    seconds: float | None = Field(default=None, ge=0)


class ConfigurationTable(_Table):
    """`[configurations.NAME]`."""

    model: str
    description: str | None = None
    system_prompt: str | None = None
    system_prompt_file: str | None = None
    skills: list[str] = []
    snippets: list[str] = []
    snippet_tags: list[str] = []
    tools: list[str] | None = None
    max_rounds: int = Field(default=DEFAULT_MAX_ROUNDS, ge=1, le=MAX_ROUNDS_CEILING)
    context_window: int | None = Field(default=None, ge=1)
    parameters: ParametersTable = ParametersTable()
    budget: BudgetTable = BudgetTable()


class SkillSourceTable(_Table):
    """`[skill_sources.NAME]`; `checksums` wins over the lock file."""

    path: str
    enabled: bool = True
    disabled: list[str] = []
    checksums: dict[str, str] = {}


class SnippetTable(_Table):
    """`[snippets.ID]`."""

    text: str
    name: str = ""
    tags: list[str] = []
    metadata: dict[str, str] = {}


class ToolsTable(_Table):
    """`[tools]`; the built-in tools are there unless `builtin` is false."""

    modules: list[str] = []
    builtin: bool = True


class PriceTable(_Table):
    """`[prices."provider:model"]`, in US dollars per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)


class Document(_Table):
    """The whole file."""

    configurations: dict[str, ConfigurationTable] = {}
    skill_sources: dict[str, SkillSourceTable] = {}
    snippets: dict[str, SnippetTable] = {}
    tools: ToolsTable = ToolsTable()
    prices: dict[str, PriceTable] = {}


_SECRETS = ("api_key", "apikey", "key", "token", "secret", "password")


def check_document(path: Path, values: dict[str, Any]) -> Document:
    """Return the checked tables; raises `ConfigurationError` for the first mistake."""
    try:
        return Document.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(_sentence(path, error)) from None


def _sentence(path: Path, error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    *table, key = (str(each) for each in first["loc"])
    index = f"[{key}]" if key.isdigit() else ""
    if index and table:
        key = table.pop() + index
    where = f"{path}: [{'.'.join(table)}] {key}" if table else f"{path}: {key}"
    if first["type"] == "extra_forbidden":
        return f"{where} is unknown{_advice(key, table)}"
    if first["type"] == "missing":
        return f"{where} is missing; every such table has one"
    expected = first["msg"][0].lower() + first["msg"][1:]
    return f"{where}: {expected.replace('input should be', 'expected')}, got {first['input']!r}"


def _advice(key: str, table: list[str]) -> str:
    if key.lower() in _SECRETS:
        return "; keys are never read from a file: set the provider's environment variable"
    known = _keys_of(table)
    near = difflib.get_close_matches(key, known, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"


def _keys_of(table: list[str]) -> list[str]:
    match table:
        case []:
            model: type[_Table] = Document
        case ["configurations", _]:
            model = ConfigurationTable
        case ["configurations", _, "parameters"]:
            model = ParametersTable
        case ["configurations", _, "budget"]:
            model = BudgetTable
        case ["skill_sources", _]:
            model = SkillSourceTable
        case ["snippets", _]:
            model = SnippetTable
        case ["tools"]:
            model = ToolsTable
        case _:
            model = PriceTable
    return list(model.model_fields)
