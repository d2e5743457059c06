"""The tables of a catalogue and what may stand in them; `examples/catalogue` documents each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from loopspan.catalogue.places import Location, meant, place, shown
from loopspan.catalogue.values import check_values
from loopspan.configuration import DEFAULT_MAX_ROUNDS, MAX_ROUNDS_CEILING
from loopspan.errors import ConfigurationError
from loopspan.telemetry.content import Content


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
    content: Content | None = None
    unrecorded_tools: list[str] = []
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


_NAME = re.compile(r"\w[\w.-]{0,63}")
NAMES = "a name of at most 64 letters, digits, '_', '-' and '.'"


def is_name(text: str) -> bool:
    """Whether a configuration, source, skill or snippet may be called so."""
    return _NAME.fullmatch(text) is not None


def check_document(path: Path, values: dict[str, Any]) -> Document:
    """Return the checked tables; raises `ConfigurationError` for the first mistake."""
    check_values(path, values)
    try:
        document = Document.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(_sentence(path, error)) from None
    for table, names in (
        ("configurations", document.configurations),
        ("skill_sources", document.skill_sources),
        ("snippets", document.snippets),
    ):
        for name in names:
            if not is_name(name):
                raise ConfigurationError(f"{path}: [{table}] {name!r}: expected {NAMES}")
    return document


def _sentence(path: Path, error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    location = first["loc"]
    where = place(path, location)
    match first["type"]:
        case "extra_forbidden":
            return f"{where} is unknown; {meant(str(location[-1]), _keys_of(location[:-1]))}"
        case "missing":
            return f"{where} is missing; every such table has one"
        case "dict_type" | "model_type":
            expected = "expected a table"
        case _:
            said = first["msg"][0].lower() + first["msg"][1:]
            expected = said.replace("input should be", "expected")
    return f"{where}: {expected}, got {shown(first['input'])}"


def _keys_of(table: Location) -> list[str]:
    match table:
        case ():
            model: type[_Table] = Document
        case ("configurations", _):
            model = ConfigurationTable
        case ("configurations", _, "parameters"):
            model = ParametersTable
        case ("configurations", _, "budget"):
            model = BudgetTable
        case ("skill_sources", _):
            model = SkillSourceTable
        case ("snippets", _):
            model = SnippetTable
        case ("tools",):
            model = ToolsTable
        case _:
            model = PriceTable
    return list(model.model_fields)
