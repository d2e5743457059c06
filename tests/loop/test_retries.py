"""When a request is sent again, what is told of it, and when it is not."""

from typing import Any

import httpx
import pytest

from loopspan import (
    Budget,
    ConfigurationError,
    ConnectionFailed,
    ConnectionTimeout,
    LoopspanError,
    RateLimitError,
    RetryPolicy,
    ServerError,
    ToolOptions,
)
from loopspan.runs import ChatStep
from loopspan.testing import Answer, ScriptedModel, capture, message
from tests.loop.ways import Way, each_streamed_way, each_way, loop_of

AT_ONCE = RetryPolicy(attempts=3, base_delay=0.0)


def refusal(status: int, **headers: str) -> Answer:
    """An answer of this status; a response of its own each time, since a client reads it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"error": {"message": "not now"}}
    return lambda _: httpx.Response(status, json=body, headers=named)


@each_way
@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (refusal(429, retry_after="0"), 429),
        (refusal(500), 500),
        (refusal(503), 503),
        (refusal(408), 408),
        (httpx.ConnectError("refused"), None),
        (httpx.ReadTimeout("slow"), None),
        (httpx.RemoteProtocolError("gone"), None),
    ],
    ids=["429", "500", "503", "408", "connect", "timeout", "protocol"],
)
def test_what_may_pass_is_tried_again_and_told(
    way: Way, failure: Answer, status: int | None
) -> None:
    model = ScriptedModel([failure, "Hello."])
    with capture() as captured:
        result = way(loop_of(model, [], captured, retry=AT_ONCE))

    assert (result.outcome, result.content, result.rounds) == ("completed", "Hello.", 1)
    assert model.wire[0] == model.wire[1]
    [chat, run] = captured.spans
    assert (chat.status.status_code.name, run.status.status_code.name) == ("UNSET", "UNSET")
    assert "error.type" not in (chat.attributes or {})
    [event] = chat.events
    expected: dict[str, Any] = {"loopspan.retry.delay": 0.0, "loopspan.retry.attempt": 1}
    if status is not None:
        expected["loopspan.retry.status"] = status
    assert (event.name, dict(event.attributes or {})) == ("loopspan.retry", expected)
    [step] = [step for step in result.run.steps if isinstance(step, ChatStep)]
    assert [r.model_dump() for r in step.retries] == [
        {"attempt": 1, "status": status, "delay_ms": 0.0}
    ]


@each_way
@pytest.mark.parametrize(
    ("failure", "error", "error_type"),
    [
        (refusal(429, retry_after="0"), RateLimitError, "429"),
        (refusal(500), ServerError, "500"),
        (httpx.ConnectError("refused"), ConnectionFailed, "ConnectionFailed"),
        (httpx.ReadTimeout("slow"), ConnectionTimeout, "ConnectionTimeout"),
    ],
    ids=["429", "500", "connect", "timeout"],
)
def test_after_the_last_attempt_the_error_is_raised_with_what_there_is(
    way: Way, failure: Answer, error: type[LoopspanError], error_type: str
) -> None:
    model = ScriptedModel([failure] * 4)
    with capture() as captured, pytest.raises(error) as raised:
        way(loop_of(model, [], captured, retry=AT_ONCE))

    assert len(model.requests) == 3
    result = raised.value.result
    assert result.error is raised.value
    assert (result.outcome, result.content) == ("error", None)
    assert [m.role for m in result.messages] == ["user"]
    [chat, run] = captured.spans
    assert [event.name for event in chat.events] == ["loopspan.retry"] * 2 + ["exception"]
    for span in (chat, run):
        assert span.status.status_code.name == "ERROR"
        assert (span.attributes or {})["error.type"] == error_type
    assert result.run == captured.run_trace.run(result.run_id)


@each_way
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_will_not_pass_is_sent_once(way: Way, status: int) -> None:
    model = ScriptedModel([refusal(status), "never"])
    with pytest.raises(LoopspanError):
        way(loop_of(model, retry=AT_ONCE))

    assert len(model.requests) == 1


@each_way
@pytest.mark.parametrize(
    ("retry", "options"),
    [
        (RetryPolicy(attempts=1), ToolOptions()),
        (RetryPolicy(max_delay=29.9), ToolOptions()),
        (RetryPolicy(max_delay=60.0), ToolOptions(budget=Budget(seconds=29.0))),
    ],
    ids=["one-attempt", "longer-than-the-policy", "longer-than-the-budget"],
)
def test_a_wait_that_is_too_long_is_not_taken(
    way: Way, retry: RetryPolicy, options: ToolOptions
) -> None:
    model = ScriptedModel([refusal(429, retry_after="30"), "never"])
    with pytest.raises(RateLimitError) as raised:
        way(loop_of(model, retry=retry), options=options)

    assert raised.value.retry_after == 30.0
    assert len(model.requests) == 1


@pytest.mark.parametrize("attempts", [0, -1])
def test_a_policy_has_at_least_one_attempt(attempts: int) -> None:
    with pytest.raises(ConfigurationError, match=str(attempts)):
        RetryPolicy(attempts=attempts)


def test_the_wait_doubles_with_jitter_and_what_the_provider_says_goes_first() -> None:
    policy = RetryPolicy(attempts=5, base_delay=1.0, max_delay=30.0)
    error = ServerError("", provider="p", status=500)
    told = RateLimitError("", provider="p", status=429, retry_after=7.5)

    for attempt, expected in enumerate((1.0, 2.0, 4.0, 8.0), 1):
        delay = policy.delay(attempt, error)
        assert delay is not None
        assert 0.75 * expected <= delay <= 1.25 * expected
    assert policy.delay(1, told) == 7.5
    assert policy.delay(5, error) is None


def broken(text: str | None) -> httpx.Response:
    """A stream that says this, or asks for half a call, and breaks."""
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "x", "arguments": "{"}}
    delta = {"tool_calls": [call]} if text is None else {"content": text}
    chunk = {"id": "1", "model": "half", "choices": [{"index": 0, "delta": delta}]}

    class Breaking(httpx.SyncByteStream, httpx.AsyncByteStream):
        data = b"data: " + httpx.Response(200, json=chunk).content + b"\n\n"

        def __iter__(self) -> Any:
            yield self.data
            raise httpx.ReadError("reset")

        async def __aiter__(self) -> Any:
            yield self.data
            raise httpx.ReadError("reset")

    return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Breaking())


@each_streamed_way
def test_nothing_is_sent_again_once_the_consumer_has_seen_a_piece(way: Way) -> None:
    model = ScriptedModel([broken("Hel"), "Hello."])
    with capture() as captured, pytest.raises(ConnectionFailed) as raised:
        way(loop_of(model, [], captured, retry=AT_ONCE, content="full"))

    assert len(model.requests) == 1
    assert raised.value.result.content == "Hel"
    [step] = [s for s in raised.value.result.run.steps if isinstance(s, ChatStep)]
    assert (step.content, step.state, step.usage.input_tokens) == ("Hel", "error", None)


@each_streamed_way
def test_a_stream_that_breaks_before_its_first_piece_is_asked_for_again(way: Way) -> None:
    model = ScriptedModel([broken(None), message("Hello.", usage={"prompt_tokens": 3})])
    with capture() as captured:
        result = way(loop_of(model, [], captured, retry=AT_ONCE, content="full"))

    assert (result.content, result.usage.input_tokens) == ("Hello.", 3)


@each_streamed_way
def test_what_a_broken_attempt_has_said_is_not_told_of_a_later_one(way: Way) -> None:
    model = ScriptedModel([broken(None), refusal(400)])
    with capture() as captured, pytest.raises(LoopspanError) as raised:
        way(loop_of(model, [], captured, retry=AT_ONCE, content="full"))

    [step] = [s for s in raised.value.result.run.steps if isinstance(s, ChatStep)]
    assert (step.response_model, step.time_to_first_chunk_ms, step.tool_calls) == (None, None, None)
