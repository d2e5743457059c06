"""A function's parameters as a closed JSON Schema, and arguments checked against them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PydanticUndefinedAnnotation,
    PydanticUserError,
    ValidationError,
    create_model,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import ErrorDetails, core_schema

from loopspan.errors import ConfigurationError, InvalidArguments
from loopspan.jsontext import well_formed
from loopspan.tools.context import ToolContext

_EMPTY = inspect.Parameter.empty
_KNOWN_ERRORS = frozenset(get_args(core_schema.ErrorType))
_MOST_ERRORS = 5


class _Schema(GenerateJsonSchema):
    """Pydantic's JSON Schema without the titles it makes up from names."""

    # A default that JSON cannot hold is left to the function; the model need not know it.
    ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012  # pydantic's own type
        "skipped-choice",
        "non-serializable-default",
    }

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """What a tool takes: its JSON Schema, and the check of what a model sends."""

    schema: Mapping[str, Any]
    context_parameters: tuple[str, ...]
    _model: type[BaseModel]
    _parameters: Mapping[str, str]
    """The parameter of each of the model's fields, which have neutral names: a parameter may be
    called `json` or `_x`, a field of a pydantic model may not."""
    _without_default: frozenset[str]
    _words: frozenset[str]
    """What an error may name: the keys of the schema, while others are the model's words."""

    def check(self, tool: str, arguments: object) -> dict[str, Any]:
        """Return the keyword arguments; raises `InvalidArguments`, whose text holds no values.

        `None` and `""` are what providers send for a call without arguments. What was not sent
        is not in the result: the function's own default applies.
        """
        if arguments is None or arguments == "":
            arguments = {}
        if not isinstance(arguments, dict):
            kind = type(arguments).__name__
            raise InvalidArguments(f"tool {tool!r}: the arguments are a {kind}, not a JSON object")
        text = _json(tool, arguments)
        # Not `from error` below: its text shows the arguments, which may be private.
        try:
            values = self._model.model_validate_json(text)
        except ValidationError as error:
            raise InvalidArguments(f"tool {tool!r}: {_reasons(error, self._words)}") from None
        except Exception as error:  # noqa: BLE001  # validators are the user's code
            what = f"a validator failed with {type(error).__name__}"
            raise InvalidArguments(f"tool {tool!r}: {what}") from None
        return {
            parameter: getattr(values, field)
            for field, parameter in self._parameters.items()
            if field in values.model_fields_set or parameter in self._without_default
        }


def read_signature(
    function: Callable[..., Any], name: str, descriptions: Mapping[str, str]
) -> ToolSignature:
    """Return what the function takes; raises `ConfigurationError` where no schema can say it."""
    wrong = partial(_wrong, name)
    parameters, contexts = _parameters(function, wrong)
    fields = {f"p{i}": parameter for i, parameter in enumerate(parameters)}
    try:
        model = create_model(
            name,
            __config__=ConfigDict(extra="forbid"),
            __module__=function.__module__,
            **{f: _field(p, descriptions.get(p.name)) for f, p in fields.items()},
        )
        schema = model.model_json_schema(schema_generator=_Schema)
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        what = error.message.splitlines()[0]
        raise wrong(f"a parameter's type has no JSON Schema: {what}") from error
    for named in (schema, *schema.get("$defs", {}).values()):
        named.pop("title", None)
    schema.setdefault("properties", {})
    return ToolSignature(
        schema,
        contexts,
        model,
        {field: parameter.name for field, parameter in fields.items()},
        frozenset(p.name for p in parameters if _own_default(p) is _EMPTY),
        frozenset(_keys(schema)),
    )


def _wrong(name: str, what: str) -> ConfigurationError:
    return ConfigurationError(f"The function of tool {name!r} cannot be a tool: {what}")


def _parameters(
    function: Callable[..., Any], wrong: Callable[[str], ConfigurationError]
) -> tuple[list[inspect.Parameter], tuple[str, ...]]:
    """Return the parameters that the model fills in, and the names of those for the context."""
    try:
        signature = inspect.signature(function, eval_str=True)
    except NameError as error:
        what = f"{error}; annotations must be names that the function's module knows"
        raise wrong(f"an annotation cannot be read: {what}") from error
    parameters: list[inspect.Parameter] = []
    contexts: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise wrong(f"give `{parameter}` as parameters with names; a schema cannot say it")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise wrong(f"{parameter.name!r} is positional-only; models send arguments by name")
        if not parameters and parameter.name in ("self", "cls") and parameter.annotation is _EMPTY:
            raise wrong(
                f"it takes {parameter.name!r}; pass the bound method, `tool(object.method)`"
            )
        if _takes_context(parameter.annotation):
            contexts.append(parameter.name)
        else:
            parameters.append(parameter)
    return parameters, tuple(contexts)


def _takes_context(annotation: object) -> bool:
    return annotation is ToolContext or ToolContext in get_args(annotation)


def _own_default(parameter: inspect.Parameter) -> Any:
    """The default that a call in Python gets; `Field(…)` in its place is pydantic's business."""
    return _EMPTY if isinstance(parameter.default, FieldInfo) else parameter.default


def _field(parameter: inspect.Parameter, description: str | None) -> Any:
    """Return the field's annotation and settings as `create_model` takes them."""
    annotation = Any if parameter.annotation is _EMPTY else parameter.annotation
    if isinstance(parameter.default, FieldInfo):
        annotation = Annotated[annotation, parameter.default]
    annotated = FieldInfo.from_annotation(annotation)
    settings: dict[str, Any] = {"alias": annotated.alias or parameter.name}
    if annotated.description is None:
        settings["description"] = description
    if _own_default(parameter) is not _EMPTY:
        settings["default"] = parameter.default
    return annotation, Field(**settings)


def _json(tool: str, arguments: dict[Any, Any]) -> str:
    """Return the arguments as text: only that is read as JSON, where a list may be a tuple.

    Not `jsontext.dump`, which shortens what is nested deeply: a tool runs with what was sent.
    """
    try:
        return well_formed(json.dumps(arguments, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError) as error:
        what = type(error).__name__
        raise InvalidArguments(f"tool {tool!r}: the arguments are no JSON ({what})") from None


def _keys(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema
    if isinstance(schema, dict | list):
        for value in schema.values() if isinstance(schema, dict) else schema:
            yield from _keys(value)


def _reasons(error: ValidationError, words: Collection[str]) -> str:
    """Return where the arguments are wrong and why, in the schema's words, never their values."""
    errors = error.errors(include_url=False, include_input=False)
    said = [f"{_place(details, words)}: {_reason(details)}" for details in errors[:_MOST_ERRORS]]
    more = len(errors) - len(said)
    return "; ".join(said) + (f"; and {more} more" if more else "")


def _place(error: ErrorDetails, words: Collection[str]) -> str:
    """Return the path to the wrong value; a name that the model made up is `?`."""
    parts = (str(p) if isinstance(p, int) or p in words else "?" for p in error["loc"])
    return ".".join(parts) or "arguments"


def _reason(error: ErrorDetails) -> str:
    """Return pydantic's message without what it quotes from the input or from a validator."""
    kind, context = error["type"], error.get("ctx", {})
    if kind not in _KNOWN_ERRORS or kind in ("value_error", "assertion_error"):
        return f"not accepted ({kind})"
    if "tag" in context or "encoding_error" in context:
        return f"not accepted ({kind})"
    return error["msg"].partition(",")[0] if "error" in context else error["msg"]
