"""What the page sends, checked; and how its body is read within its limit."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from loopspan.configuration import Budget, RunAugmentation, ToolOptions
from loopspan.jsontext import load
from loopspan.messages import Parameters
from loopspan.playground.answers import Problem
from loopspan.tools import Actor

BODY_LIMIT = 1_000_000
IMPORT_LIMIT = 64_000_000

M = TypeVar("M", bound=BaseModel)


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Login(_Asked):
    """A one-use code, or the token."""

    code: str = Field(max_length=500)


class Limits(_Asked):
    """What a run may use up."""

    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None

    @property
    def budget(self) -> Budget:
        """The same as the loop takes it; raises `ConfigurationError` for what cannot be."""
        return Budget(self.tokens, self.usd, self.seconds)


class Fetch(_Asked):
    """A trace of a backend to open."""

    backend: str = Field(max_length=200)
    trace_id: str = Field(max_length=64)


class Diff(_Asked):
    """Two bodies to compare, by their hashes."""

    a: str = Field(max_length=64)
    b: str = Field(max_length=64)
    mode: Literal["line", "word"] = "line"


class Relabel(_Asked):
    """What somebody puts on a run; what is left out stays."""

    title: str | None = Field(default=None, max_length=200)
    pinned: bool = False
    note: str | None = Field(default=None, max_length=10_000)


class StartRun(_Asked):
    """A run to start; `tools` `None` is every enabled tool, an empty list none."""

    configuration: str
    prompt: str
    system: str | None = None
    skills: list[str] = []
    snippets: list[str] = []
    tools: list[str] | None = None
    max_rounds: int | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    thinking: Literal["on", "off"] | None = None
    budget: Limits | None = None
    capture_raw: bool = False
    dry_run: bool = False
    export: bool = False
    stream: bool = False
    idempotency_key: str | None = Field(default=None, max_length=200)

    def options(self, run_id: str, actor: Actor, budget: Budget) -> ToolOptions:
        """Return the options of the run; raises `ConfigurationError` for what cannot be."""
        thinking = {None: None, "on": "medium", "off": "none"}[self.thinking]
        return ToolOptions(
            allow=None if self.tools is None else tuple(self.tools),
            max_rounds=self.max_rounds,
            budget=budget,
            parameters=Parameters(
                temperature=self.temperature,
                max_tokens=self.max_tokens,
                reasoning_level=thinking,
            ),
            actor=actor,
            content="full",
            capture_raw=self.capture_raw,
            run_id=run_id,
        )

    def augmentation(self) -> RunAugmentation | None:
        """Return what is put over the configuration."""
        if self.system is None and not self.skills and not self.snippets:
            return None
        return RunAugmentation(self.system, tuple(self.skills), tuple(self.snippets))


async def read_body(request: Request, limit: int = BODY_LIMIT) -> bytes:
    """Return the body of a request; raises a `Problem` where it is larger than the limit."""
    told = request.headers.get("content-length", "")
    size, parts = 0, []
    if told.isdecimal() and int(told) > limit:
        raise _too_large(limit)
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise _too_large(limit)
        parts.append(part)
    return b"".join(parts)


async def read_json(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request."""
    try:
        value = load(await read_body(request) or b"{}")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Problem(400, "bad_json", "the body of the request is no JSON object")
    return value


def checked(model: type[M], value: dict[str, Any]) -> M:
    """Return the value as this model; raises a `Problem` that names the fields."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        # The values stay out: a prompt may stand where a number should.
        wrong = [
            {"field": ".".join(map(str, each["loc"])), "message": each["msg"]}
            for each in error.errors(include_input=False, include_url=False, include_context=False)
        ]
        said = "; ".join(f"{each['field']}: {each['message']}" for each in wrong)
        raise Problem(422, "invalid", said, detail=wrong) from None


def _too_large(limit: int) -> Problem:
    return Problem(413, "too_large", f"the body of the request is larger than {limit} bytes")
