"""A run in its light form, built step by step: the same live and afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from loopspan.playground.bodies import Bodies, Hasher, Shape
from loopspan.playground.exchanges import Exchange, Exchanges
from loopspan.playground.header import Source, has_own_error, header
from loopspan.playground.origins import Origins
from loopspan.playground.step_shapes import (
    assembled_shape,
    chat_shape,
    open_chat,
    request_shape,
    run_error,
    tool_shape,
)
from loopspan.runs import AssembledStep, ChatStep, RequestStep, Run, RunStep, ToolStep


class RunView:
    """The steps of a run as the page takes them, numbered from 1, and their bodies.

    A chat span has two numbers: its request, and its answer, which is `open` until it is there.
    """

    def __init__(
        self,
        run: Run,
        source: Source,
        hasher: Hasher,
        parents: Mapping[str, str | None] | None = None,
    ) -> None:
        self.run = run
        self.source = source
        self.bodies = Bodies(hasher)
        self.steps: list[Shape] = []
        self.exchanges: dict[int, Exchange] = {}
        """The requests, by their number."""
        self._parents = parents or {}
        self._origins = Origins(run.parts)
        self._exchanges = Exchanges(self.bodies, self._origins)
        self._places: dict[tuple[str, str], int] = {}
        self._answers: dict[int, Shape] = {}
        self._definitions: dict[str, str] = {}
        for step in run.steps:
            self.put(step)
        self.close(run)

    @property
    def header(self) -> Shape:
        """The run without its steps."""
        return header(self.run, self.source)

    def put(self, step: RunStep) -> list[int]:
        """Take a step that is new or has changed; returns the numbers of what has changed."""
        if self._is_stale(step):
            return []
        match step:
            case RequestStep():
                return self._request(step)
            case ChatStep():
                return self._chat(step)
            case ToolStep():
                definition = self._definitions.get(step.name)
                return [self._set(step, tool_shape(step, self.bodies, definition))]
            case AssembledStep():
                return [self._set(step, self._assembled(step))]
            case _:
                assert_never(step)

    def close(self, run: Run) -> list[int]:
        """Take the run as it is now; an error that no step shows becomes a step of its own."""
        self.run = run
        if not has_own_error(run):
            return []
        return [self._place(("", "error"), run_error(run))]

    def request_of(self, round: int) -> Exchange | None:
        """Return the request of a round."""
        return next((e for e in self.exchanges.values() if e.step.round == round), None)

    def _is_stale(self, step: RunStep) -> bool:
        """Whether a later state of this step is known already."""
        n = self._places.get((_key(step), step.kind))
        return n is not None and step.state == "open" and self.steps[n - 1]["state"] != "open"

    def _request(self, step: RequestStep) -> list[int]:
        key = _key(step)
        known = self._places.get((key, "request"))
        if known is not None:
            return []
        agent = self._parents.get(key)
        exchange = self._exchanges.take(step, agent)
        for tool in exchange.tools or ():
            self._definitions[tool["name"]] = tool["h"]
        n = self._set(step, request_shape(step, exchange))
        self.exchanges[n] = exchange
        answer = self._place((key, "chat"), self._placed(step, open_chat(step)))
        return [*self._recognised(exchange), n, answer]

    def _recognised(self, exchange: Exchange) -> list[int]:
        """Let the answer before be the very message that this request carries of it.

        It may hold details of the provider that the step does not tell.
        """
        message = exchange.answer_before
        if message is None or exchange.base is None:
            return []
        n = self._places[_key(exchange.base.step), "chat"]
        step = self.steps[n - 1]
        if step["content"] is None or step["content"]["h"] == message["h"]:
            return []
        self._answers[n] = message
        self.steps[n - 1] = self._with_answer(step)
        return [n]

    def _with_answer(self, step: Shape) -> Shape:
        """Return an answer as the message that a later request carries, where that is known."""
        message = self._answers.get(step["n"])
        return step if message is None else {**step, "content": {**step["content"], **message}}

    def _chat(self, step: ChatStep) -> list[int]:
        n = self._set(step, chat_shape(step, self.bodies))
        asked = self._places.get((_key(step), "request"))
        tokens = step.usage.input_tokens
        if asked is None or tokens is None or self.exchanges[asked].reported == tokens:
            return [n]
        exchange = self.exchanges[asked]
        self._exchanges.answered(exchange, tokens)
        if isinstance(exchange.step, RequestStep):
            self._set(exchange.step, request_shape(exchange.step, exchange))
        return [asked, n]

    def _assembled(self, step: AssembledStep) -> Shape:
        exchange = self._exchanges.take(step, self._parents.get(_key(step)))
        return assembled_shape(step, exchange, self.bodies)

    def _set(self, step: RunStep, shape: Shape) -> int:
        return self._place((_key(step), step.kind), self._placed(step, shape))

    def _placed(self, step: RunStep, shape: Shape) -> Shape:
        """Return a step with the step whose span its own span lies in."""
        parent, depth = None, 0
        above = self._parents.get(_key(step))
        while above is not None:
            owner = self._places.get((above, "tool")) or self._places.get((above, "chat"))
            parent, depth = parent or owner, depth + (owner is not None)
            above = self._parents.get(above)
        return {**shape, "parent": parent, "depth": depth}

    def _place(self, key: tuple[str, str], shape: Shape) -> int:
        n = self._places.get(key)
        if n is None:
            n = self._places[key] = len(self.steps) + 1
            self.steps.append({})
        self.steps[n - 1] = self._with_answer({"n": n, **shape})
        return n


def _key(step: RunStep) -> str:
    return step.span_id or f"at {step.started_at}"


def parents_of(spans: Any) -> dict[str, str | None]:
    """Return the parent of each span."""
    return {span.span_id: span.parent_id for span in spans if span.span_id is not None}
