"""A run and its steps, readonly: what CLI, playground, files and backends show."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, PlainSerializer

Nanoseconds: TypeAlias = Annotated[
    int, PlainSerializer(str, return_type=str, when_used="json-unless-none")
]
"""Unix nanoseconds; a decimal string in JSON, where larger numbers lose digits."""

Object: TypeAlias = InstanceOf[dict[str, Any]]
"""A JSON object, taken as it is: each round of a run holds the very messages of the one before."""

StepState: TypeAlias = Literal["open", "ok", "error", "cancelled", "lost"]
CostSource: TypeAlias = Literal["provider", "table"]

Reason: TypeAlias = Literal[
    "not_captured",
    "not_reported",
    "not_recorded",
    "no_price",
    "not_permitted",
    "redacted",
    "cut",
    "evicted",
    "unparsable",
    "still_open",
]


class _Frozen(BaseModel):
    # Built when the first run is read, since most programs only write spans.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Missing(_Frozen):
    """A field that is `None` because it is unknown, and why."""

    field: str
    why: Reason
    detail: str | None = None


class StepError(_Frozen):
    """What ended a step; the message follows the content policy."""

    type: str
    message: str | None = None


class Cut(_Frozen):
    """A value that was cut, in bytes."""

    field: str
    kept: int
    total: int


class TokenUsage(_Frozen):
    """Token counts; `None` is unknown. Cached tokens are a part of input, reasoning of output."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    reasoning_output_tokens: int | None = None


class CalledTool(_Frozen):
    """A call that the model asked for."""

    id: str | None
    name: str
    arguments: Any


class Retry(_Frozen):
    """An attempt that failed and was followed by another after `delay_ms`."""

    attempt: int
    status: int | None
    delay_ms: float


class RawBodies(_Frozen):
    """The bodies as they went over the wire, kept when the gate was on."""

    request: str | None = None
    response: str | None = None


class _Step(_Frozen):
    kind: str
    round: int | None
    started_at: Nanoseconds
    duration_ms: float | None
    state: StepState
    error: StepError | None = None
    span_id: str | None
    missing: tuple[Missing, ...] = ()


class Context(_Frozen):
    """What a request takes of the context window, in tokens: an estimate.

    It is `calibrated` once an earlier round of the run has reported a count.
    """

    estimated_tokens: int
    calibrated: bool
    window: int | None
    window_source: Literal["configuration", "table"] | None
    fits: bool


class RequestStep(_Step):
    """What was sent: the whole list of messages; those from `new_from` on are new in this round."""

    kind: Literal["request"] = "request"
    provider: str | None
    model: str | None
    messages: tuple[Object, ...] | None
    new_from: int | None
    tools: tuple[Object, ...] | None
    parameters: dict[str, Any]
    context: Context | None = None


class ChatStep(_Step):
    """What the provider answered."""

    kind: Literal["chat"] = "chat"
    response_model: str | None
    content: str | None
    thinking: str | None
    finish_reason: str | None
    finish_reason_raw: str | None
    tool_calls: tuple[CalledTool, ...] | None
    usage: TokenUsage
    cost_usd: float | None
    cost_source: CostSource | None
    time_to_first_chunk_ms: float | None
    retries: tuple[Retry, ...] = ()
    raw: RawBodies | None = None


class ToolStep(_Step):
    """What a tool did."""

    kind: Literal["tool"] = "tool"
    tool_call_id: str | None
    name: str
    arguments: Any
    result: str | None
    is_error: bool
    refused_by: str | None = None
    cut: tuple[Cut, ...] = ()


class AssembledStep(_Step):
    """What a dry run put together; nothing was sent."""

    kind: Literal["assembled"] = "assembled"
    messages: tuple[Object, ...] | None
    tools: tuple[Object, ...] | None
    parts: tuple[Object, ...] | None
    body: dict[str, Any] | None
    context: Context | None = None


RunStep: TypeAlias = Annotated[
    RequestStep | ChatStep | ToolStep | AssembledStep, Field(discriminator="kind")
]

RunOutcome: TypeAlias = Literal[
    "running",
    "lost",
    "completed",
    "max_rounds",
    "budget_tokens",
    "budget_cost",
    "budget_time",
    "length",
    "blocked",
    "error",
    "cancelled",
    "abandoned",
    "dry_run",
]

TRUNCATED: frozenset[str] = frozenset(
    {"max_rounds", "budget_tokens", "budget_cost", "budget_time", "length"}
)
"""The outcomes of a run that was cut short."""


class Run(_Frozen):
    """A run: how it ended, its totals, its steps in the order of their start."""

    run_id: str
    trace_id: str | None
    configuration: str | None
    model: str | None
    outcome: RunOutcome
    truncated: bool
    error: StepError | None = None
    rounds: int
    max_rounds: int | None
    tool_calls: int
    usage: TokenUsage
    cost_usd: float | None
    cost_source: CostSource | None
    started_at: Nanoseconds
    duration_ms: float | None
    content: str | None
    parts: tuple[Object, ...] | None
    steps: tuple[RunStep, ...]
    missing: tuple[Missing, ...] = ()
