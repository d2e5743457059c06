"""The rounds of one run as a flow: this is the loop."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from loopspan.errors import BadResponse, LoopspanError
from loopspan.flow.effects import Emit, Flow
from loopspan.flow.events import ReplyReceived, RoundStarted
from loopspan.loop.exchange import Exchange
from loopspan.loop.plan import Plan
from loopspan.loop.result import Outcome, RunResult
from loopspan.loop.tool_calls import ToolCalls
from loopspan.messages import ContextUse, Reply, Request
from loopspan.prompts.context import ContextGauge
from loopspan.telemetry import semconv as names
from loopspan.telemetry.attributes import dry_run_attributes
from loopspan.telemetry.operations import AgentSpan, ChatSpan
from loopspan.telemetry.spans import SpanSettings

logger = logging.getLogger("loopspan.loop")


class Rounds:
    """One run: its dialogue as it grows, and how it ended."""

    def __init__(self, plan: Plan, settings: SpanSettings) -> None:
        self._plan = plan
        self._settings = settings
        self._messages = list(plan.assembled.messages)
        self._outcome: Outcome = "error"
        self._error: LoopspanError | None = None
        self._started = time.monotonic()
        self._span: AgentSpan | None = None
        self._unpriced = False
        self._gauge: ContextGauge | None = None

    def perform(self) -> Flow[None]:
        """Run to the end; the span of the run ends with the flow, however it ends."""
        with self._start() as run:
            try:
                self._outcome = yield from self._rounds(run)
            except GeneratorExit:
                self._outcome = "abandoned"
                raise
            except LoopspanError as error:
                self._error = error
                raise
            except BaseException as error:
                if not isinstance(error, Exception):
                    self._outcome = "cancelled"
                raise
            finally:
                run.outcome = self._outcome

    def _start(self) -> AgentSpan:
        facts = self._plan.facts(self._settings.shared[names.RUN_ID])
        self._span = AgentSpan(self._settings, facts)
        self._started = time.monotonic()
        return self._span

    def _rounds(self, run: AgentSpan) -> Flow[Outcome]:
        if self._plan.dry_run:
            self._assemble(run)
            return "dry_run"
        while True:
            if spent := self._spent(run):
                return spent
            closing = run.rounds >= self._plan.max_rounds
            reply = yield from self._ask(run, closing)
            calls = reply.message.tool_calls
            if closing:
                return "max_rounds"
            if not calls or not self._plan.offered:
                return self._ending(run, reply)
            cut = reply.finish_reason == "length"
            results = yield from ToolCalls(run, self._plan.offer, cut).perform(calls)
            self._messages.extend(results)

    def _assemble(self, run: AgentSpan) -> None:
        """Tell what round 1 would send."""
        plan = self._plan
        request = self._request(1, closing=False)
        told = tuple(self._settings.unrecorded.messages(request.messages))
        request = replace(request, messages=told)
        body = plan.model.adapter.body(request)
        use = ContextGauge(plan.window).use(request)
        run.assembled = dry_run_attributes(
            plan.endpoint, request, body, use, self._settings.content
        )

    def _ask(self, run: AgentSpan, closing: bool) -> Flow[Reply]:
        plan = self._plan
        request = self._request(run.rounds + 1, closing)
        yield Emit(RoundStarted(run.rounds + 1))
        use = self._context_use(run, request)
        with ChatSpan(self._settings, run, plan.endpoint, request, use) as chat:
            seconds = plan.budget.seconds
            deadline = None if seconds is None else self._started + seconds
            exchange = Exchange(plan.model, request, chat, plan.retry, deadline, plan.http_spans)
            chat.reply = reply = yield from exchange.perform()
        self._messages.append(reply.message)
        yield Emit(ReplyReceived(chat.round, reply))
        return reply

    def _context_use(self, run: AgentSpan, request: Request) -> ContextUse | None:
        """Return the estimate for a request, calibrated by what the last round has reported.

        Nobody asks for it where nothing is recorded and the configuration names no window.
        """
        if not run.span.is_recording() and self._plan.configuration.context_window is None:
            return None
        if self._gauge is None:
            self._gauge = ContextGauge(self._plan.window)
        elif run.last_chat is not None:
            self._gauge.calibrate(run.last_chat.usage.input_tokens)
        use = self._gauge.use(request)
        if not use.fits and use.window is not None:
            logger.warning(
                "round %d of run %s takes about %d tokens and may answer with %d, but the window "
                "of %s is %d; shorten the prompt, or expect the provider to refuse it",
                run.rounds + 1,
                run.facts.run_id,
                use.tokens,
                use.reserve,
                request.model,
                use.window.tokens,
            )
        return use

    def _request(self, number: int, closing: bool) -> Request:
        plan = self._plan
        tools, choice = plan.offered, plan.options.tool_choice
        if choice not in (None, "auto", "none") and number > plan.options.forced_rounds:
            choice = None
        if closing:
            # Some APIs want the tools of a dialogue defined as long as it holds calls of them.
            tools, choice = (tools, "none") if plan.model.adapter.keeps_tools else ((), None)
        return Request(
            model=plan.model.name,
            messages=tuple(self._messages),
            tools=tools,
            parameters=plan.parameters,
            tool_choice=choice if tools else None,
            stream=plan.stream,
        )

    def _spent(self, run: AgentSpan) -> Outcome | None:
        """Return the outcome of the budget that is spent, if one is."""
        budget = self._plan.budget
        if budget.seconds is not None and time.monotonic() - self._started >= budget.seconds:
            return "budget_time"
        if budget.tokens is not None:
            usage = run.usage
            if (usage.input_tokens or 0) + (usage.output_tokens or 0) >= budget.tokens:
                return "budget_tokens"
        if budget.usd is not None and self._known_cost(run) >= budget.usd:
            return "budget_cost"
        return None

    def _known_cost(self, run: AgentSpan) -> float:
        costs = [chat.cost for chat in run.chats]
        if not self._unpriced and any(cost.usd is None for cost in costs):
            self._unpriced = True
            logger.warning("a round's cost is unknown; the cost budget counts what is known")
        return sum(cost.usd or 0.0 for cost in costs)

    def _ending(self, run: AgentSpan, reply: Reply) -> Outcome:
        match reply.finish_reason:
            case "length":
                return "length"
            case "content_filter":
                return "blocked"
            case "error":
                said = reply.finish_reason_raw or "no finish reason"
                self._error = BadResponse(
                    f"the model ended its answer with {said!r}",
                    provider=self._plan.model.adapter.name,
                )
                run.error = self._error
                return "error"
            case _:
                return "completed"

    def result(self) -> RunResult:
        """Return what the run has reached."""
        if self._span is None:
            raise LoopspanError("the run has not started; iterate over its events first")
        result = RunResult(self._outcome, tuple(self._messages), self._error, _span=self._span)
        if self._error is not None:
            self._error.result = result
        return result
