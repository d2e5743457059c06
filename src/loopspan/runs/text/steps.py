"""The steps of a run as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from loopspan.runs import AssembledStep, ChatStep, RequestStep, RunStep, ToolStep
from loopspan.runs.steps import RawBodies
from loopspan.runs.text.dry_run import assembled_items
from loopspan.runs.text.figures import Bytes, count, duration, one_line, tokens, usd
from loopspan.runs.text.lines import Body, Item, Line, Style, flat, unknown
from loopspan.runs.text.parts import call_text, joined, message_text
from loopspan.runs.text.visible import visible


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a text is shown, in lines or bytes; `None` is all of it."""

    sent: int | Bytes | None = 12
    again: bool = False
    """Whether later rounds show more than a line of a message: of one that no step has shown."""
    thinking: int | Bytes | None = 30
    answer: int | Bytes | None = None
    call: int | Bytes | None = 4
    result: int | Bytes | None = 12

    @classmethod
    def each(cls, most: int | Bytes | None) -> Limits:
        """Return limits that are the same for all texts."""
        return cls(most, True, most, most, most, most)


ALL = Limits.each(None)


class StepText:
    """Steps as lines, in the order of the run: what was said before is not said again."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._tools: tuple[dict[str, Any], ...] | None = None
        self._results: set[str] = set()

    def lines(self, step: RunStep) -> list[Line]:
        """Return a step as lines, a heading first."""
        return flat(self.items(step))

    def items(self, step: RunStep) -> list[Item]:
        """Return a step as lines and bodies, a heading first."""
        match step:
            case RequestStep():
                return list(self._request(step))
            case ChatStep():
                return list(self._chat(step))
            case ToolStep():
                return list(self._tool(step))
            case AssembledStep():
                return list(
                    assembled_items(step, self._limits.result if self._limits.again else None)
                )
            case _:
                assert_never(step)

    def _request(self, step: RequestStep) -> Iterator[Item]:
        model = " ".join(filter(None, (step.provider, step.model)))
        settings = (k if v is True else f"{k} {v}" for k, v in step.parameters.items())
        facts = visible(joined((model, *settings)))
        yield Line(f"Round {step.round or '?'}", "round", note=facts, indent=0)
        if step.messages is None:
            yield unknown(step, "messages")
        start = step.new_from or 0
        for message in (step.messages or ())[start:]:
            role, text = visible(str(message.get("role") or "?")), message_text(message)
            if start and (not self._limits.again or self._was_shown(message)):
                yield Line(one_line(text), label=role, folds=False)
            else:
                yield Body(text, self._limits.sent, role)
        yield self._offered(step)
        self._tools = step.tools

    def _was_shown(self, message: Mapping[str, Any]) -> bool:
        """Whether a message carries nothing but results that the steps of their calls have shown.

        Traces without spans for tools have them in the messages only.
        """
        parts = message.get("parts")
        results = [part.get("response") for part in parts or () if isinstance(part, Mapping)]
        return bool(results) and all(isinstance(r, str) and r in self._results for r in results)

    def _offered(self, step: RequestStep) -> Line:
        if step.tools is None:
            return unknown(step, "tools")
        if step.tools and step.tools == self._tools:
            return Line(f"the same {len(step.tools)}", "note", "tools")
        names = ", ".join(str(tool.get("name")) for tool in step.tools)
        return Line(visible(names) or "none", "note", "tools")

    def _chat(self, step: ChatStep) -> Iterator[Item]:
        words = "Reply" if step.error is None or step.content else "No reply"
        yield _heading(step, words, "reply", _chat_facts(step))
        for retry in step.retries:
            said = f"answered {retry.status}" if retry.status else "failed"
            waited = duration(retry.delay_ms)
            yield Line(f"attempt {retry.attempt} {said}, waited {waited}", "warning", "retry")
        if step.thinking:
            yield Body(step.thinking, self._limits.thinking, "thinking", "thinking")
        if step.content:
            yield Body(step.content, self._limits.answer)
        elif step.content is None and step.state == "ok":
            yield unknown(step, "content")
        unknown_fields = {missing.field for missing in step.missing}
        for index, call in enumerate(step.tool_calls or ()):
            known = f"tool_calls.{index}.arguments" not in unknown_fields
            yield Body(f"→ {call_text(call.name, call.arguments, known)}", self._limits.call)
        yield from _error(step, self._limits.answer)
        if step.raw is not None:
            yield from self._raw(step.raw)

    def _raw(self, raw: RawBodies) -> Iterator[Item]:
        for name, body in (("sent", raw.request), ("received", raw.response)):
            if body is not None:
                size = count(len(body.encode("utf-8", "replace")), "byte")
                yield Line(f"{name}, {size}", "note", "raw body")
                yield Body(body, self._limits.result, style="note", indent=4)

    def _tool(self, step: ToolStep) -> Iterator[Item]:
        known = all(missing.field != "arguments" for missing in step.missing)
        call = one_line(call_text(step.name, step.arguments, known))
        yield _heading(step, f"Tool {call}", "tool", _tool_facts(step))
        yield from _error(step, self._limits.answer)
        if step.result is not None:
            self._results.add(step.result)
            style: Style = "error" if step.is_error else "plain"
            yield Body(step.result, self._limits.result, style=style)
        elif step.error is None and step.state == "ok":
            yield unknown(step, "result")
        for each in step.cut:
            sizes = f"{each.kept:,} of {each.total:,} bytes went to the model"
            yield Line(sizes, "warning", visible(each.field))


def step_lines(steps: Iterable[RunStep], limits: Limits | None = None) -> list[Line]:
    """Return the lines of the steps of a run, an empty line between two of them."""
    text = StepText(limits)
    lines: list[Line] = []
    for step in steps:
        lines += [Line(), *text.lines(step)] if lines else text.lines(step)
    return lines


def _heading(step: ChatStep | ToolStep, words: str, style: Style, facts: Iterable[str]) -> Line:
    took = duration(step.duration_ms)
    match step.state:
        case "ok":
            return Line(words, style, note=joined((took, *facts)), indent=0)
        case "error":
            return Line(words, "error", note=joined((f"failed after {took}", *facts)), indent=0)
        case "cancelled":
            return Line(words, "warning", note=joined((f"stopped after {took}", *facts)), indent=0)
        case "open" | "lost":
            return Line(words, "warning", note=joined((step.state, *facts)), indent=0)
        case _:
            assert_never(step.state)


def _chat_facts(step: ChatStep) -> Iterator[str]:
    if step.time_to_first_chunk_ms is not None:
        yield f"first part after {duration(step.time_to_first_chunk_ms)}"
    if step.usage.input_tokens is not None or step.usage.output_tokens is not None:
        yield f"{tokens(step.usage)} tokens"
    if step.cost_usd is not None:
        yield usd(step.cost_usd)
    reason, raw = step.finish_reason, step.finish_reason_raw
    if reason is not None:
        yield visible(reason if raw in (None, reason) else f"{reason} ({raw})")


def _tool_facts(step: ToolStep) -> Iterator[str]:
    if step.refused_by is not None:
        yield f"refused: {visible(step.refused_by.replace('_', ' '))}"
    if step.is_error and step.error is None:
        yield "returned an error"


def _error(step: ChatStep | ToolStep, limit: int | Bytes | None) -> Iterator[Item]:
    if step.error is not None and step.state != "cancelled":
        said = f"{step.error.type}: {step.error.message}" if step.error.message else step.error.type
        yield Body(said, limit, "error", "error")
