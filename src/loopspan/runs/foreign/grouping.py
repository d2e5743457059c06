"""Which spans of another instrumentation make a run: those below its nearest agent, else its trace.

A group comes out as our own spans would: with the id of its run, the number of each round, and
only those messages that are new in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from loopspan.runs.foreign.current import current
from loopspan.runs.foreign.names import MARKERS
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord


def is_genai(attributes: Mapping[str, Any]) -> bool:
    """Return whether a span with these attributes tells of a generative AI."""
    return not MARKERS.isdisjoint(attributes)


def groups(spans: Iterable[SpanRecord], ours: Iterable[SpanRecord] = ()) -> list[list[SpanRecord]]:
    """Return the runs that these spans make, each as spans that the reader takes.

    A model call below one that `ours` tell of is told again by an instrumented SDK, and left out.
    """
    chats = {span.span_id for span in ours if _operation(span) == names.CHAT}
    traces: dict[str | None, list[SpanRecord]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    return [run for trace_id, trace in traces.items() for run in _runs(trace_id, trace, chats)]


def _runs(
    trace_id: str | None, trace: Sequence[SpanRecord], ours: Set[str | None]
) -> list[list[SpanRecord]]:
    parents = {span.span_id: span.parent_id for span in trace}
    told = [current(span) for span in trace if is_genai(span.attributes) or _is_named(span)]
    told.sort(key=lambda span: (span.started_at, span.span_id or ""))
    agents = {span.span_id: span for span in told if _operation(span) == names.INVOKE_AGENT}
    chats = {span.span_id for span in told if _operation(span) == names.CHAT} | ours
    below: dict[str | None, list[SpanRecord]] = {}
    for span in told:
        if _operation(span) == names.CHAT and _is_repeated(span, parents, chats):
            continue
        if _operation(span) in (names.CHAT, names.EXECUTE_TOOL):
            below.setdefault(_agent_of(span, parents, agents), []).append(span)
    return [
        _run(trace_id, agents.get(agent), spans) for agent, spans in sorted(below.items(), key=_age)
    ]


def _age(item: tuple[str | None, list[SpanRecord]]) -> int:
    return item[1][0].started_at


def _is_named(span: SpanRecord) -> bool:
    """Logfire's old spans are known by their names alone."""
    return span.name.endswith("agent run") or span.name.startswith("running tool")


def _operation(span: SpanRecord) -> Any:
    return span.attributes.get(names.OPERATION_NAME)


def _is_repeated(
    span: SpanRecord, parents: Mapping[str | None, str | None], chats: Set[str | None]
) -> bool:
    """Whether the span tells again, from inside, of a model call that the one above it tells of."""
    seen: set[str | None] = set()
    above = span.parent_id
    while above is not None and above not in seen:
        if above in chats:
            return True
        seen.add(above)
        above = parents.get(above)
    return False


def _agent_of(
    span: SpanRecord, parents: Mapping[str | None, str | None], agents: Mapping[str | None, Any]
) -> str | None:
    """Return the id of the nearest agent above a span, `None` where there is none."""
    seen: set[str | None] = set()
    above = span.parent_id
    while above is not None and above not in seen:
        if above in agents:
            return above
        if above not in parents and len(agents) == 1:
            return next(iter(agents))  # what was between them is not here
        seen.add(above)
        above = parents.get(above)
    return None


def _run(
    trace_id: str | None, agent: SpanRecord | None, spans: Sequence[SpanRecord]
) -> list[SpanRecord]:
    whole = f"{trace_id or ''}"
    run_id = whole if agent is None else f"{whole}-{agent.span_id}"
    told: list[SpanRecord] = []
    known: list[Any] = []
    round = 0
    for span in spans:
        own: dict[str, Any] = {names.RUN_ID: run_id}
        if _operation(span) == names.CHAT:
            round += 1
            sent = span.attributes.get(names.INPUT_MESSAGES)
            if isinstance(sent, list):
                offset = _common(known, sent)
                own |= {names.INPUT_OFFSET: offset, names.INPUT_MESSAGES: sent[offset:]}
                own[names.TOOLS_ROUND] = 0  # without definitions nobody knows what was offered
                known = [*sent, *map(_without_reason, _answer(span))]
        own[names.ROUND] = max(1, round)
        told.append(replace(span, attributes={**span.attributes, **own}))
    return [_agent(agent, told, run_id), *told]


def _answer(span: SpanRecord) -> list[Any]:
    answered = span.attributes.get(names.OUTPUT_MESSAGES)
    return answered[:1] if isinstance(answered, list) else []


def _without_reason(message: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in message.items() if k != "finish_reason"}


def _common(known: Sequence[Any], sent: Sequence[Any]) -> int:
    """Return how many messages the rounds before have told, 0 where the history is another."""
    for size in (len(known), len(known) - 1):
        if 0 < size <= len(sent) and list(known[:size]) == list(sent[:size]):
            return size
    return 0


def _agent(agent: SpanRecord | None, told: Sequence[SpanRecord], run_id: str) -> SpanRecord:
    """Return the span of the run; a trace without an agent is one by itself."""
    chats = [span for span in told if _operation(span) == names.CHAT]
    costs = [span.attributes.get(names.COST_USD) for span in chats]
    known = [cost for cost in costs if isinstance(cost, int | float)]
    own: dict[str, Any] = {names.RUN_ID: run_id}
    if chats:
        own[names.REQUEST_MODEL] = chats[0].attributes.get(names.REQUEST_MODEL)
        if len(known) == len(costs):
            own[names.COST_USD] = sum(known)
    if agent is not None:
        return replace(agent, attributes={**own, **agent.attributes, names.RUN_ID: run_id})
    ends = [span.ended_at for span in told]
    last = told[-1]
    failed = last.status == "error"
    return SpanRecord(
        name=names.INVOKE_AGENT,
        trace_id=last.trace_id,
        span_id=None,
        parent_id=None,
        started_at=min(span.started_at for span in told),
        ended_at=None if None in ends else max(end for end in ends if end is not None),
        attributes={
            **own,
            names.OPERATION_NAME: names.INVOKE_AGENT,
            **({names.ERROR_TYPE: last.attributes.get(names.ERROR_TYPE)} if failed else {}),
        },
        status=last.status,
        status_message=last.status_message,
    )
