"""Our spans for programs that have a loop of their own: with a `with` around each operation.

Bodies of requests and answers are taken as they go over the wire and read by the adapters, so the
official SDKs' `model_dump()` is all that is needed. What cannot be read is left out and logged: a
traced program never fails for its tracing.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from opentelemetry import trace
from opentelemetry.metrics import MeterProvider

from loopspan.environment import capture_content
from loopspan.environment import compat as read_compat
from loopspan.errors import ConfigurationError
from loopspan.jsontext import dump
from loopspan.messages import Message, Reply, Request, ToolCall, ToolCallResponse
from loopspan.providers.adapter import Adapter
from loopspan.providers.model import Model
from loopspan.telemetry import semconv as names
from loopspan.telemetry.content import Content, content_mode
from loopspan.telemetry.operations import AgentSpan, ChatSpan, RunFacts, ToolSpan
from loopspan.telemetry.spans import (
    Invocation,
    Messages,
    SpanSettings,
    get_instruments,
    get_tracer,
    never_raising,
)
from loopspan.telemetry.unrecorded import Unrecorded


class LoopTracer:
    """Makes the spans of runs.

    Spans go to `provider`, else to the global one, set now or later; metrics likewise. `content`,
    `messages` and `compat` are those of a `ToolLoop`; `unrecorded_tools` are never recorded.
    """

    def __init__(
        self,
        provider: trace.TracerProvider | None = None,
        *,
        content: Content | None = None,
        messages: Messages = "new",
        capture_raw: bool = False,
        compat: bool | None = None,
        unrecorded_tools: Iterable[str] = (),
        meter_provider: MeterProvider | None = None,
    ) -> None:
        """Raises `ConfigurationError` for an unknown `content` and for settings that contradict."""
        self._provider = provider
        self._content: Content = content_mode(content or capture_content() or "off")
        self._messages: Messages = messages
        self._raw = capture_raw
        self._compat = read_compat() if compat is None else compat
        self._unrecorded = Unrecorded(frozenset(unrecorded_tools))
        self._meter_provider = meter_provider
        if capture_raw and self._unrecorded:
            raise ConfigurationError(
                "capture_raw keeps whole bodies, but unrecorded_tools must not be in them; "
                "leave one of the two out"
            )

    def invoke_agent(
        self,
        name: str | None = None,
        *,
        model: str | None = None,
        description: str | None = None,
        max_rounds: int | None = None,
        run_id: str | None = None,
        conversation_id: str | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> TracedRun:
        """Begin a run; use it as a context manager."""
        optional = {
            names.CONVERSATION_ID: conversation_id,
            names.SESSION_ID: session_id,
            names.USER_ID: user_id,
        }
        facts = RunFacts(run_id or uuid.uuid4().hex, name, description, model, max_rounds)
        settings = SpanSettings(
            get_tracer(self._provider),
            self._content,
            self._messages,
            self._raw,
            self._compat,
            self._unrecorded,
            {
                names.RUN_ID: facts.run_id,
                **{k: v for k, v in optional.items() if v is not None},
                **{names.METADATA_PREFIX + k: v for k, v in (metadata or {}).items()},
            },
            get_instruments(self._meter_provider),
        )
        return TracedRun(AgentSpan(settings, facts))


class _Traced:
    """An operation: its span is current inside the `with`, and ends with it, once."""

    _span: Invocation

    def __enter__(self) -> Self:
        self._current = contextlib.ExitStack()
        self._current.enter_context(
            trace.use_span(self._span.span, record_exception=False, set_status_on_exception=False)
        )
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._current.close()
        if exc is not None:
            self._span.fail(exc)
        self._ending()
        self._span.end()

    def _ending(self) -> None:
        """Say what is known only now."""


class TracedRun(_Traced):
    """A run; its calls and tools hang below it, wherever they are made."""

    def __init__(self, span: AgentSpan) -> None:
        self._span: AgentSpan = span
        self.outcome: str | None = None
        """What becomes of the run where its `with` is left without an error: `completed`, or
        `max_rounds`, `length`, `blocked`, …"""

    @property
    def run_id(self) -> str:
        """The id of the run, under which a `RunTrace` has it."""
        return self._span.facts.run_id

    def chat(
        self, provider: str, body: Mapping[str, Any] | Request, *, base_url: str | None = None
    ) -> TracedChat:
        """Begin a round-trip to a model; `body` is what is sent to it, as `provider` takes it.

        `provider` is one that adapters are named by: `openai`, `anthropic`, `gemini`, … Raises
        `ConfigurationError` for one that is unknown.
        """
        from loopspan.providers.connect import adapter

        found = adapter(provider)
        request = body if isinstance(body, Request) else _read_request(found, body)
        model = Model(found, request.model or "unknown", base_url or found.base_url)
        span = ChatSpan(self._span.settings, self._span, model.endpoint(), request)
        if not isinstance(body, Request):
            with never_raising():
                span.raw_request(dump(body))
        return TracedChat(span, found)

    def execute_tool(
        self,
        name: str,
        arguments: Any = None,
        *,
        id: str | None = None,
        description: str | None = None,
    ) -> TracedTool:
        """Begin a tool call that the last reply asked for, with the id that it gave."""
        call = ToolCall(name, {} if arguments is None else arguments, id)
        settings = self._span.settings
        return TracedTool(ToolSpan(settings, self._span, self._span.rounds, call, description))

    def _ending(self) -> None:
        span = self._span
        if span.outcome is None:
            span.outcome = (self.outcome or "completed") if span.error is None else "error"


class TracedChat(_Traced):
    """A round-trip to a model."""

    def __init__(self, span: ChatSpan, adapter: Adapter) -> None:
        self._span: ChatSpan = span
        self._adapter = adapter

    def first_chunk(self) -> None:
        """Say that the first piece of a streamed answer is here."""
        span = self._span
        if span.first_chunk_after is None:
            span.first_chunk_after = (time.time_ns() - span.started_at) / 1e9

    def reply(self, body: Mapping[str, Any] | Reply) -> Reply | None:
        """Take the answer: the body of an unstreamed one, or a `Reply`; returns how it was read."""
        with never_raising():
            if isinstance(body, Reply):
                self._span.reply = body
            else:
                self._span.raw_response(dump(body))
                self._span.reply = self._adapter.reply(body)
        return self._span.reply


class TracedTool(_Traced):
    """A tool call."""

    def __init__(self, span: ToolSpan) -> None:
        self._span: ToolSpan = span

    def result(self, value: Any) -> str:
        """Take what the tool gave; returns the text that a model is to be told."""
        span = self._span
        text = ""
        with never_raising():
            text = span.take(value)
            call = span.call
            span.tells(Message("tool", (ToolCallResponse(text, call.id, call.name),)))
        return text

    def _ending(self) -> None:
        span = self._span
        if span.error is not None:
            cancelled = not isinstance(span.error, Exception)
            span.tool_outcome = "cancelled" if cancelled else "error"
        elif span.tool_outcome is None:
            span.tool_outcome = span.outcome or "ok"


def _read_request(adapter: Adapter, body: Mapping[str, Any]) -> Request:
    """Return what a body asks for; one that cannot be read has a model and nothing else."""
    request = Request(str(body.get("model") or "unknown"), ())
    with never_raising():
        request = adapter.request(body)
    return request
