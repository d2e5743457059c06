"""The tool calls of one reply as a flow: decided first, then run side by side, bounded."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from loopspan.configuration import ToolOptions
from loopspan.errors import InvalidArguments, ToolError, ToolNotRun
from loopspan.flow.effects import Done, Emit, Flow, Spawn, Wait
from loopspan.flow.events import ToolFinished, ToolStarted
from loopspan.messages import Message, ToolCall, ToolCallResponse
from loopspan.telemetry.operations import AgentSpan, ToolSpan
from loopspan.telemetry.spans import error_type
from loopspan.tools import (
    AllowLists,
    Tool,
    ToolContext,
    ToolSet,
    decide,
)

logger = logging.getLogger("loopspan.tools")


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of a run and who may use which of them."""

    tools: ToolSet
    allow_lists: AllowLists
    options: ToolOptions


@dataclass(frozen=True, slots=True)
class _Planned:
    """A call and what becomes of it: a function to call, or the error that it ends with."""

    call: ToolCall
    tool: Tool | None = None
    function: Callable[[], Any] | None = None
    error: ToolError | None = None
    rule: str | None = None


class ToolCalls:
    """The calls of one reply."""

    def __init__(self, run: AgentSpan, offer: Offer, cut_by_length: bool) -> None:
        self._run = run
        self._offer = offer
        self._cut = cut_by_length
        self._round = run.rounds
        self._open: dict[int, ToolSpan] = {}
        self._messages: dict[int, Message] = {}

    def perform(self, calls: Sequence[ToolCall]) -> Flow[tuple[Message, ...]]:
        """Run the calls and return one `tool` message for each, in order."""
        # A call has a key of its own in the whole run: one that was given up may still end later.
        waiting = deque(enumerate(self._plan(calls), self._run.tool_calls))
        parallel = self._offer.options.parallel
        alone = min(len(waiting), parallel) == 1
        try:
            while waiting or self._open:
                while waiting and len(self._open) < parallel:
                    yield from self._start(*waiting.popleft(), alone=alone)
                if self._open:
                    done: Done = yield Wait()
                    yield from self._finish(done)
        except BaseException as error:
            for span in self._open.values():
                span.fail(error)
                span.tool_outcome = span.outcome or "error"
                span.end()
            raise
        return tuple(self._messages[key] for key in sorted(self._messages))

    def _plan(self, calls: Sequence[ToolCall]) -> list[_Planned]:
        limit = self._offer.options.max_tool_calls
        left = len(calls) if limit is None else max(0, limit - self._run.made_calls)
        plan = [
            self._decide(call, cut=self._cut and call is calls[-1])
            if i < left
            else _past_limit(call)
            for i, call in enumerate(calls)
        ]
        self._run.made_calls += min(left, len(calls))
        return plan

    def _decide(self, call: ToolCall, cut: bool) -> _Planned:
        offer = self._offer
        decision = decide(call.name, offer.tools, offer.allow_lists, offer.options.actor)
        tool = decision.tool
        if decision.error is not None or tool is None:
            return _Planned(call, tool, error=decision.error, rule=decision.rule)
        if cut and not isinstance(call.arguments, str):
            return _Planned(
                call, tool, error=ToolNotRun("The reply was cut by length in this call.")
            )
        try:
            arguments = tool.arguments(call.arguments)
        except InvalidArguments as error:
            return _Planned(call, tool, error=error)
        context = ToolContext(self._run.facts.run_id, self._round, call.id, offer.options.actor)
        return _Planned(call, tool, partial(tool.call, arguments, context))

    def _start(self, key: int, planned: _Planned, *, alone: bool) -> Iterator[Emit | Spawn]:
        tool, call = planned.tool, planned.call
        span = self._open[key] = ToolSpan(
            self._run.settings,
            self._run,
            self._round,
            call,
            tool.description if tool else None,
            is_known=call.name in self._offer.tools,
        )
        span.refused_by = planned.rule
        yield Emit(ToolStarted(self._round, call))
        if tool is None or planned.function is None:
            done = Done(key, span.started_at, error=planned.error)
            yield from self._finish(done, ran=False)
            return
        timeout = tool.timeout or self._offer.options.tool_timeout
        yield Spawn(key, planned.function, tool.is_async, span.span, timeout, alone)

    def _finish(self, done: Done, ran: bool = True) -> Iterator[Emit]:
        span = self._open[done.key]
        call = span.call
        error = done.error
        text = ""
        if error is None:
            try:
                text = span.take(done.value)
            except Exception as unreadable:  # noqa: BLE001  # a value whose text form fails
                error = unreadable
        if error is not None:
            text = self._failed(span, error, ran)
        # Jaeger makes a nanosecond of no time at all; a run is the same wherever it is read.
        span.end(max(done.ended_at, span.started_at + 1))
        del self._open[done.key]
        is_error = error is not None
        response = ToolCallResponse(text, call.id, call.name, is_error or None)
        self._messages[done.key] = message = Message("tool", (response,))
        span.tells(message)
        yield Emit(ToolFinished(self._round, call, text, is_error))

    def _failed(self, span: ToolSpan, error: BaseException, ran: bool) -> str:
        """End a call in error and return what the model is told: never the exception's text.

        The log follows the content of the run: a tool's exception may hold what it was given.
        """
        span.fail(error)
        cancelled = not isinstance(error, Exception)
        span.tool_outcome = "cancelled" if cancelled else "error"
        if isinstance(error, ToolNotRun):
            span.tool_outcome = "not_run"
        run_id, name = span.run.facts.run_id, span.call.name
        if isinstance(error, ToolError):
            rule = span.refused_by or error.error_type
            # What we say ourselves holds nothing of what a model or tool wrote.
            said = error.summary if ran and span.content != "full" else error
            logger.warning("tool %r in run %s: %s (%s)", name, run_id, said, rule)
            return f"Error: {error.told}"
        if span.content == "full":
            logger.error("tool %r failed in run %s", name, run_id, exc_info=error)
        else:
            told = f"{error_type(error)}{_place(error)}"
            logger.error("tool %r failed in run %s: %s", name, run_id, told)
        return f"Error: {ToolError.told}"


def _place(error: BaseException) -> str:
    """Return where an exception was raised, in code alone."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return ""
    code = frame.tb_frame.f_code
    return f" in {code.co_qualname} ({code.co_filename}, line {frame.tb_lineno})"


def _past_limit(call: ToolCall) -> _Planned:
    return _Planned(call, error=ToolNotRun("The run has made all the calls that it may make."))
