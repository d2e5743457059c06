"""The three operations of a run: the run itself, a round-trip to a model, a tool call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, format_span_id

from loopspan.messages import ContextUse, Endpoint, Message, Reply, Request, ToolCall, Usage
from loopspan.telemetry import attributes as made
from loopspan.telemetry import semconv as names
from loopspan.telemetry.content import Content, result_reference
from loopspan.telemetry.cost import Cost, cost_of
from loopspan.telemetry.metrics import Instruments
from loopspan.telemetry.raw import parts
from loopspan.telemetry.spans import Invocation, SpanSettings
from loopspan.tools import cap, result_text, returned_error


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of a run before it starts."""

    run_id: str
    configuration: str | None = None
    description: str | None = None
    model: str | None = None
    max_rounds: int | None = None
    prompt_parts: str | None = None


class AgentSpan(Invocation):
    """A run: `invoke_agent`."""

    tells_exception: ClassVar[bool] = False

    def __init__(self, settings: SpanSettings, facts: RunFacts) -> None:
        self.facts = facts
        self.calls: list[Invocation] = []
        self.last_chat: ChatSpan | None = None
        self.rounds = 0
        self.tool_calls = 0
        self.made_calls = 0
        self.told: dict[int, str] = {}
        """The results that tool spans hold, as the references that later requests carry."""
        self.assembled: Mapping[str, Any] = {}
        """What a dry run shows, as attributes: messages, tools, and the body that would be sent."""
        name = f"{names.INVOKE_AGENT} {facts.configuration}".strip()
        super().__init__(settings, name if facts.configuration else names.INVOKE_AGENT, None)

    def attributes_for_sampling(self) -> dict[str, Any]:
        facts = self.facts
        optional = {
            names.AGENT_NAME: facts.configuration,
            names.AGENT_DESCRIPTION: facts.description,
            names.REQUEST_MODEL: facts.model,
            names.MAX_ROUNDS: facts.max_rounds,
        }
        return {
            names.OPERATION_NAME: names.INVOKE_AGENT,
            **{k: v for k, v in optional.items() if v is not None},
            **self.settings.shared,
        }

    def attributes_at_start(self) -> dict[str, Any]:
        attributes = self.attributes_for_sampling()
        attributes[names.CONTENT] = self.settings.content
        if self.facts.prompt_parts is not None:
            attributes[names.PROMPT_PARTS] = self.facts.prompt_parts
        return attributes

    def attributes_at_end(self) -> dict[str, Any]:
        usage, cost = self.usage, self.cost
        optional = {
            names.RUN_INPUT_TOKENS: usage.input_tokens,
            names.RUN_OUTPUT_TOKENS: usage.output_tokens,
        }
        return {
            names.ROUNDS: self.rounds,
            names.TOOL_CALLS: self.tool_calls,
            **{k: v for k, v in optional.items() if v is not None},
            **({} if cost is None else made.cost_attributes(cost)),
            **self.assembled,
        }

    def measure(self, instruments: Instruments, context: Context) -> None:
        facts, outcome = self.facts, self.outcome or "completed"
        calls = None if outcome == "dry_run" else (self.rounds, self.tool_calls)
        instruments.run(
            context,
            facts.configuration,
            facts.model,
            outcome,
            self.seconds,
            calls,
            self.error_type,
        )

    @property
    def chats(self) -> list[ChatSpan]:
        """The round-trips of the run, in order."""
        return [call for call in self.calls if isinstance(call, ChatSpan)]

    @property
    def usage(self) -> Usage:
        """The sum of what the rounds reported."""
        return sum((chat.usage for chat in self.chats), Usage())

    @property
    def cost(self) -> Cost | None:
        """The sum of the rounds' costs, unknown where one of them is; `None` without a round."""
        costs = [chat.cost for chat in self.chats]
        if not costs:
            return None
        missing = next((c.missing for c in costs if c.usd is None), None)
        if missing is not None:
            return Cost(None, missing=missing)
        sources = {c.source for c in costs}
        source: Literal["provider", "table"] = "table" if "table" in sources else "provider"
        return Cost(sum(c.usd or 0.0 for c in costs), source)


class ChatSpan(Invocation):
    """A round-trip to a model: `chat`."""

    kind: ClassVar[SpanKind] = SpanKind.CLIENT

    def __init__(
        self,
        settings: SpanSettings,
        run: AgentSpan,
        endpoint: Endpoint,
        request: Request,
        use: ContextUse | None = None,
    ) -> None:
        run.rounds += 1
        self.run = run
        self.endpoint = endpoint
        self.request = request
        self.round = run.rounds
        self.use = use
        self.reply: Reply | None = None
        self.first_chunk_after: float | None = None
        self.chunk_gaps: list[float] = []
        """The seconds between the chunks of a stream, kept for metrics only."""
        self.retries = 0
        self._cost: Cost | None = None
        self._raw_response = bytearray()
        self.delta = self._delta()
        super().__init__(settings, f"{names.CHAT} {request.model}", run)
        run.calls.append(self)
        run.last_chat = self

    def _delta(self) -> made.Delta:
        previous = self.run.last_chat
        same_tools = previous is not None and previous.request.tools == self.request.tools
        tools_round = previous.delta.tools_round if previous and same_tools else self.round
        if previous is None or self.run.settings.messages == "full":
            return made.Delta(0, tools_round)
        known = previous.request.messages
        if previous.reply is not None:
            known = (*known, previous.reply.message)
        return made.Delta(made.known_before(known, self.request.messages), tools_round)

    def attributes_for_sampling(self) -> dict[str, Any]:
        return made.chat_start(self.endpoint, self.request, self.round) | self.settings.shared

    def attributes_at_start(self) -> dict[str, Any]:
        content = self.settings.content
        new = self.settings.unrecorded.messages(self.request.messages[self.delta.offset :])
        return (
            self.attributes_for_sampling()
            | made.request_attributes(
                self.endpoint, self.request, new, self.delta, content, self.run.told
            )
            | made.definitions_attribute(self.request, self.delta, self.round, content)
            | ({} if self.use is None else made.context_attributes(self.use))
        )

    def attributes_at_end(self) -> dict[str, Any]:
        attributes: dict[str, Any] = {}
        if self.first_chunk_after is not None:
            attributes[names.RESPONSE_TIME_TO_FIRST_CHUNK] = self.first_chunk_after
        if self.reply is not None:
            reply = self.settings.unrecorded.reply(self.reply)
            attributes |= made.reply_attributes(reply, self.settings.content)
            if self._broken_off:
                del attributes[names.RESPONSE_FINISH_REASONS]
            attributes |= made.cost_attributes(self.cost)
        return attributes

    @property
    def _broken_off(self) -> bool:
        """Whether the reply is the beginning of one that did not tell how it ends."""
        ended_early = self.error is not None or self.outcome is not None
        return ended_early and self.reply is not None and self.reply.finish_reason_raw is None

    def measure(self, instruments: Instruments, context: Context) -> None:
        reply, compat = self.reply, self.settings.compat
        labels = made.chat_start(self.endpoint, self.request, self.round)
        del labels[names.ROUND]
        if reply is not None and reply.response_model is not None:
            labels[names.RESPONSE_MODEL] = reply.response_model
        first = self.first_chunk_after
        chunks = [] if first is None else [first, *self.chunk_gaps]
        instruments.chat(
            context, labels, self.seconds, self.error_type, chunks, self.retries, compat
        )
        if reply is None:
            return
        instruments.reply(context, labels, reply, self.cost, self.run.facts.configuration)
        if not self._broken_off:
            reasons = [choice.finish_reason for choice in reply.choices]
            instruments.finish_reasons(context, labels, reasons)
        if compat:
            instruments.older_tokens(context, labels, reply)

    def retry(self, status: int | None, delay: float, attempt: int) -> None:
        """Say that an attempt failed and that the next comes after `delay` seconds."""
        self.retries += 1
        self.reply = self.first_chunk_after = None
        self.chunk_gaps.clear()
        self._raw_response.clear()
        told = {names.RETRY_DELAY: delay, names.RETRY_ATTEMPT: attempt}
        if status is not None:
            told[names.RETRY_STATUS] = status
        self.add_event(names.RETRY_EVENT, told)

    def raw_request(self, body: bytes) -> None:
        """Keep the body that is sent, where the gate is on."""
        if self.settings.capture_raw:
            for part in parts(body):
                self.add_event(names.RAW_REQUEST_EVENT, part)

    def raw_response(self, chunk: bytes) -> None:
        """Keep a piece of the body that came, where the gate is on."""
        if self.settings.capture_raw:
            self._raw_response += chunk

    def end(self, ended_at: int | None = None) -> None:
        if self._raw_response and self.ended_at is None:
            for part in parts(bytes(self._raw_response)):
                self.add_event(names.RAW_RESPONSE_EVENT, part)
        super().end(ended_at)

    @property
    def usage(self) -> Usage:
        """What the reply reported."""
        return Usage() if self.reply is None else self.reply.usage

    @property
    def cost(self) -> Cost:
        """What the reply cost, unknown as long as there is none."""
        if self.reply is None:
            return Cost(None, missing="no reply")
        if self._cost is None:
            self._cost = cost_of(self.reply, self.endpoint, self.request.model)
        return self._cost


class ToolSpan(Invocation):
    """A tool call: `execute_tool`."""

    def __init__(
        self,
        settings: SpanSettings,
        run: AgentSpan,
        round: int,
        call: ToolCall,
        description: str | None,
        *,
        is_known: bool = True,
    ) -> None:
        run.tool_calls += 1
        self.is_known = is_known
        self.run = run
        self.round = round
        self.call = call
        self.description = description
        self.result: str | None = None
        self.result_is_object = False
        self.tool_outcome: str | None = None
        self.refused_by: str | None = None
        self.cuts: dict[str, tuple[int, int]] = {}
        super().__init__(settings, f"{names.EXECUTE_TOOL} {call.name}", run)
        run.calls.append(self)

    @property
    def is_unrecorded(self) -> bool:
        """Whether the tool's arguments and results stay out of everything that is recorded."""
        return self.settings.unrecorded.hides(self.call.name)

    @property
    def content(self) -> Content:
        return "off" if self.is_unrecorded else self.settings.content

    @property
    def error_content(self) -> Content:
        return self.content

    def take(self, value: Any) -> str:
        """Take what the tool gave; returns the text that a model is to be told.

        Raises what the value's text form raises, and then holds nothing of it.
        """
        text, cut_from = cap(result_text(value))
        self.tool_outcome = "returned_error" if returned_error(value) else "ok"
        self.result = text
        self.result_is_object = cut_from is None and isinstance(value, Mapping)
        if cut_from is not None:
            self.cuts["result"] = (cut_from, len(text.encode()))
        return text

    def tells(self, message: Message) -> None:
        """Let later requests refer to the result that this span holds, where it holds it whole."""
        settings, context = self.settings, self.span_context
        linear = self.content == "full" and settings.messages == "new"
        if linear and context.is_valid and self.result is not None and self.error is None:
            span_id = format_span_id(context.span_id)
            self.run.told[id(message)] = result_reference(message, span_id)

    def attributes_for_sampling(self) -> dict[str, Any]:
        agent = self.run.facts.configuration
        return made.tool_start(self.call, self.round, agent) | self.settings.shared

    def attributes_at_start(self) -> dict[str, Any]:
        described = made.tool_description(self.description, self.settings.content)
        arguments = made.tool_arguments(self.call, self.content)
        return self.attributes_for_sampling() | described | arguments

    def attributes_at_end(self) -> dict[str, Any]:
        attributes = {} if self.is_unrecorded else made.truncated_attribute(self.cuts)
        if self.tool_outcome is not None:
            attributes[names.TOOL_OUTCOME] = self.tool_outcome
        if self.refused_by is not None:
            attributes[names.TOOL_REFUSED_BY] = self.refused_by
        if self.result is not None and self.error is None:
            attributes |= made.tool_result(self.result, self.result_is_object, self.content)
        return attributes

    def measure(self, instruments: Instruments, context: Context) -> None:
        # A model may ask for any name: one that no tool has would be a label of its own for ever.
        name = self.call.name if self.is_known else None
        agent = self.run.facts.configuration
        instruments.tool(context, name, agent, self.seconds, self.error_type)
