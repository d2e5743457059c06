"""Cases AS-01, AS-02, and the events of a stream: streamed or not, a run is the same."""

from typing import Any

import httpx
import pytest

from loopspan import (
    LoopspanError,
    ReasoningDelta,
    ReplyReceived,
    RoundStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    tool,
)
from loopspan.runs import ChatStep, Run
from loopspan.testing import Answer, Captured, ScriptedModel, capture, message, span_tree
from tests.loop.ways import (
    Way,
    awaited,
    awaited_stream,
    each_streamed_way,
    loop_of,
    plain,
    streamed,
)
from tests.loop.wire import completion, delta, stream_of

USAGE = {
    "prompt_tokens": 9,
    "completion_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 3},
    "cost": 0.25,
}


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


ANSWERS: list[Answer] = [
    message(
        "Let me see.",
        tool_calls=[("add", {"a": 1, "b": 2}, "call_1"), ("add", "no", "call_2")],
        usage=USAGE,
    ),
    message("3 👋", finish_reason="length", usage=USAGE),
]


def made(way: Way) -> tuple[Captured, Run]:
    with capture() as captured:
        loop = loop_of(ScriptedModel(ANSWERS), [add], captured, content="full")
        return captured, way(loop).run


def timeless(value: Any) -> Any:
    """A dump without what differs from run to run, and between streamed and plain."""
    if isinstance(value, list):
        return [timeless(item) for item in value]
    if not isinstance(value, dict):
        return value
    left_out = {"span_id", "trace_id", "run_id", "started_at", "duration_ms", "stream"}
    left_out |= {"time_to_first_chunk_ms"}
    return {k: timeless(v) for k, v in value.items() if k not in left_out}


@pytest.mark.parametrize(
    ("unstreamed", "in_pieces"), [(plain, streamed), (awaited, awaited_stream)]
)
def test_as01_streamed_and_plain_tell_the_same(unstreamed: Way, in_pieces: Way) -> None:
    (plain_spans, plain_run), (spans, run) = made(unstreamed), made(in_pieces)

    streaming = ("gen_ai.request.stream", "gen_ai.response.time_to_first_chunk")
    left_out = ("loopspan.run.id", *streaming)
    assert span_tree(spans.spans, without=left_out) == span_tree(
        plain_spans.spans, without=left_out
    )
    assert timeless(run.model_dump(mode="json")) == timeless(plain_run.model_dump(mode="json"))
    for captured, is_streamed in ((spans, True), (plain_spans, False)):
        for chat in (s for s in captured.spans if s.name.startswith("chat")):
            assert [name in (chat.attributes or {}) for name in streaming] == [is_streamed] * 2
    times = [s.time_to_first_chunk_ms for s in run.steps if isinstance(s, ChatStep)]
    assert all(time is not None and time >= 0 for time in times)


@each_streamed_way
def test_as02_chunks_without_choices_at_both_ends(way: Way) -> None:
    answer = stream_of(
        {"choices": []},
        delta(role="assistant", content=""),
        delta(content="Hello, "),
        delta(content="you."),
        delta("stop"),
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
    )
    with capture() as captured:
        result = way(loop_of(ScriptedModel([answer]), [], captured, content="full"))

    [step] = [step for step in result.run.steps if isinstance(step, ChatStep)]
    assert (result.content, step.content, step.finish_reason) == ("Hello, you.",) * 2 + ("stop",)
    assert (step.usage.input_tokens, step.usage.output_tokens) == (7, 3)


@each_streamed_way
def test_a_server_that_does_not_stream_is_understood(way: Way) -> None:
    def whole(body: Any) -> httpx.Response:
        assert body["stream"]
        return completion({"content": "Hello."}, prompt_tokens=7, completion_tokens=3)

    with capture() as captured:
        result = way(loop_of(ScriptedModel([whole]), [], captured))

    assert (result.content, result.usage.total_tokens) == ("Hello.", 10)
    assert result.run == captured.run_trace.run(result.run_id)


def test_events_come_in_the_order_in_which_things_happen() -> None:
    model = ScriptedModel([ANSWERS[0], message("Three.", reasoning_content="Hm.")])
    with loop_of(model, [add]).stream("1 + 2?") as stream:
        events = list(stream)

    told = [
        (type(event), getattr(event, "content", None) or getattr(event, "round", None))
        for event in events
    ]
    assert told[:2] == [(RoundStarted, 1), (TextDelta, "Let me s")]
    kinds = [kind for kind, _ in told if kind is not TextDelta]
    assert kinds[:2] == [RoundStarted, ReplyReceived]
    assert sorted(k.__name__ for k in kinds[2:6]) == ["ToolFinished"] * 2 + ["ToolStarted"] * 2
    assert kinds[2] is ToolStarted
    assert kinds[6:] == [RoundStarted, ReasoningDelta, ReplyReceived]
    text = "".join(e.content for e in events if isinstance(e, TextDelta))
    assert text == "Let me see.Three."
    assert stream.result.content == "Three."
    finished = {e.call.id: e for e in events if isinstance(e, ToolFinished)}
    assert (finished["call_1"].result, finished["call_2"].is_error) == ("3", True)


def test_a_stream_that_is_over_stays_over() -> None:
    stream = loop_of(ScriptedModel(["Hello."])).stream("Hi")
    assert stream.drain().content == "Hello."
    assert list(stream) == []
    stream.close()
    assert stream.result.outcome == "completed"


def test_a_stream_that_was_never_read_has_no_result_and_no_span() -> None:
    with capture() as captured:
        model = ScriptedModel([])
        with loop_of(model, [], captured).stream("Hi") as stream:
            pass
        with pytest.raises(LoopspanError, match="has not started"):
            _ = stream.result

    assert captured.spans == []
