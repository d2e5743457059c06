"""Traces grow in a line with the rounds, and the list of each round is restored as it was."""

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest
from google.protobuf.json_format import MessageToJson
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan

from loopspan import Message, ToolOptions, assistant, system, tool, user
from loopspan.messages import Choice, Endpoint, Reply, Request
from loopspan.runs import RequestStep, Run, read_runs
from loopspan.runs.otlp import spans as otlp_spans
from loopspan.telemetry import semconv as names
from loopspan.telemetry.operations import AgentSpan, ChatSpan, RunFacts
from loopspan.telemetry.spans import SpanSettings, get_tracer
from loopspan.testing import Captured, ScriptedModel, calls, capture
from tests.loop.ways import Way, each_way, loop_of

RESULT = "r" * 2000


@tool
def look(n: int) -> str:
    """Look something up."""
    return f"{n} {RESULT}"


def made(captured: Captured, rounds: int, way: Way | None = None, **settings: Any) -> Any:
    """The requests of a run of so many calls, one a round, and its id."""
    model = ScriptedModel([*(calls("look", id=f"c{n}", n=n) for n in range(rounds)), "Done."])
    loop = loop_of(model, [look], captured, content="full", **settings)
    prompt = (system("Be kind."), user("Go on."))
    options = ToolOptions(max_rounds=rounds + 1, max_tool_calls=None)
    result = (
        loop.run(prompt, options=options) if way is None else way(loop, prompt, options=options)
    )
    return model.requests, result


def from_json(spans: Sequence[ReadableSpan]) -> Run:
    """The run as the reader has it from OTLP JSON."""
    [run] = read_runs(otlp_spans(json.loads(MessageToJson(encode_spans(spans)))))
    return run


def lists(run: Run | None) -> list[Any]:
    assert run is not None
    return [step.messages for step in run.steps if isinstance(step, RequestStep)]


def as_sent(body: Any) -> list[tuple[Any, ...]]:
    """The dialogue of a request as it went over the wire."""
    return [
        (m["role"], m.get("content"), [c["id"] for c in m.get("tool_calls", ())])
        for m in body["messages"]
    ]


def as_shown(messages: Any) -> list[tuple[Any, ...]]:
    shown = []
    for m in messages:
        parts = m["parts"]
        text = "".join(p.get("content") or p.get("response") or "" for p in parts)
        asked = [p["id"] for p in parts if p["type"] == "tool_call"]
        shown.append((m["role"], text or None, asked))
    return shown


@pytest.fixture
def _long_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopspan.configuration.MAX_ROUNDS_CEILING", 1000)


@pytest.mark.usefixtures("_long_runs")
@pytest.mark.parametrize("messages", ["new", "full"])
def test_sz06_bytes_grow_with_the_rounds_and_each_list_is_restored(messages: Any) -> None:
    sizes = {}
    for rounds in (10, 40, 160):
        with capture() as captured:
            requests, result = made(captured, rounds, messages=messages)
        sizes[rounds] = len(encode_spans(captured.spans).SerializeToString())
        shown = lists(captured.run_trace.run(result.run_id))
        assert len(shown) == rounds + 1
        assert [as_shown(m) for m in shown] == [as_sent(body) for body in requests]
        assert lists(from_json(captured.spans)) == shown
        assert lists(result.run) == shown

    growth = [
        math.log(sizes[b] / sizes[a]) / math.log(b / a) for a, b in ((10, 40), (40, 160), (10, 160))
    ]
    if messages == "new":
        assert max(growth) <= 1.1, (sizes, growth)
        assert sizes[160] <= 160 * 4000
    else:
        assert min(growth) > 1.5, (sizes, growth)


@each_way
def test_sz06_lists_are_restored_whatever_the_way(way: Way) -> None:
    with capture() as captured:
        requests, result = made(captured, 12, way)
    shown = lists(captured.run_trace.run(result.run_id))
    assert [as_shown(m) for m in shown] == [as_sent(body) for body in requests]
    assert lists(from_json(captured.spans)) == shown


def test_a_dialogue_that_goes_on_is_the_base_of_its_own_run() -> None:
    with capture() as captured:
        _, first = made(captured, 2)
        edited = (*first.messages[:2], *first.messages[4:], user("And now?"))
        model = ScriptedModel(["Well."])
        again = loop_of(model, [look], captured, content="full").run(edited)
    [step] = [s for s in again.run.steps if isinstance(s, RequestStep)]
    assert step.new_from == 0
    assert as_shown(step.messages) == as_sent(model.requests[0])
    assert captured.run_trace.run(again.run_id) == again.run


texts = st.text(max_size=3)
messages_of = st.builds(lambda role, text: role(text), st.sampled_from([user, assistant]), texts)


@st.composite
def edits(draw: st.DrawFn) -> list[tuple[tuple[Message, ...], Message]]:
    """Requests and replies in order: most go on, some had their history edited or shortened."""
    dialogue: list[Message] = [user("Hi.")]
    rounds = []
    for _ in range(draw(st.integers(1, 6))):
        match draw(st.sampled_from(["on", "on", "shorten", "edit", "drop", "empty"])):
            case "shorten":
                dialogue = dialogue[: draw(st.integers(0, len(dialogue)))]
            case "edit" if dialogue:
                dialogue[draw(st.integers(0, len(dialogue) - 1))] = draw(messages_of)
            case "drop" if dialogue:
                del dialogue[draw(st.integers(0, len(dialogue) - 1))]
            case "empty":
                dialogue = []
        reply = draw(messages_of)
        rounds.append((tuple(dialogue), reply))
        dialogue = [*dialogue, reply, *draw(st.lists(messages_of, max_size=2))]
    return rounds


def recorded(captured: Captured, rounds: Sequence[tuple[tuple[Message, ...], Message]]) -> None:
    """Record rounds as the loop would; it has no way to edit what it sends, other callers may."""
    settings = SpanSettings(get_tracer(captured.provider), "full", shared={names.RUN_ID: "r1"})
    endpoint = Endpoint("openai", "localhost", 80)
    with AgentSpan(settings, RunFacts("r1")) as run:
        for messages, reply in rounds:
            with ChatSpan(settings, run, endpoint, Request("m", messages)) as chat:
                chat.reply = Reply((Choice(reply, "stop"),))


@given(rounds=edits())
def test_an_edited_history_is_a_new_base_and_every_list_is_exact(rounds: Any) -> None:
    with capture() as captured:
        recorded(captured, rounds)
    expected = [tuple(m.to_json() for m in messages) for messages, _ in rounds]
    assert lists(captured.run_trace.run("r1")) == expected
    assert lists(from_json(captured.spans)) == expected
    known: tuple[Message, ...] = ()
    chats = [span for span in captured.spans if span.name == "chat m"]
    for span, (messages, reply) in zip(chats, rounds, strict=True):
        goes_on = messages[: len(known)] == known
        assert (span.attributes or {})[names.INPUT_OFFSET] == (len(known) if goes_on else 0)
        known = (*messages, reply)
