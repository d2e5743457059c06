"""What the base class does for every adapter: guards, errors, and how long to wait."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from loopspan.errors import (
    AuthenticationError,
    BadResponse,
    InvalidRequestError,
    NotFoundError,
    ProviderError,
    RateLimitError,
    ServerError,
)
from loopspan.messages import Choice, Reply, Request, Text, assistant
from loopspan.providers.adapter import Adapter, Delta, ErrorDetail, StreamState
from loopspan.providers.framing import Event
from loopspan.secrets import Secret


class Tiny(Adapter):
    """A format of one word a message, with no guards of its own."""

    name = "tiny"
    provider_name = "tiny"
    documentation = "https://example.org"
    base_url = "https://example.org"

    def url(self, base_url: str, request: Request) -> str:
        return base_url

    def headers(self, key: Secret | None) -> dict[str, str]:
        return {}

    def body(self, request: Request) -> dict[str, Any]:
        return {"say": request.messages[-1].text}

    def read_request(self, body: Mapping[str, Any], url: str) -> Request:
        return Request(body["model"], ())

    def read_reply(self, body: Mapping[str, Any]) -> Reply:
        return Reply((Choice(assistant(body["said"] + ""), "stop"),))

    def read_event(
        self, state: StreamState, name: str | None, data: dict[str, Any]
    ) -> Iterator[Delta]:
        state.body["said"] = state.body.get("said", "") + data["piece"]
        yield Text(data["piece"])

    def is_complete(self, state: StreamState) -> bool:
        return str(state.body.get("said", "")).endswith(".")


# Errors of HTTP


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequestError),
        (401, AuthenticationError),
        (403, AuthenticationError),
        (404, NotFoundError),
        (408, ServerError),
        (413, InvalidRequestError),
        (422, InvalidRequestError),
        (429, RateLimitError),
        (500, ServerError),
        (503, ServerError),
        (529, ServerError),
        (302, BadResponse),
    ],
)
def test_a_status_has_its_error(status: int, kind: type[ProviderError]) -> None:
    error = Tiny().error(status, {"error": {"message": "No."}})
    assert type(error) is kind
    assert (error.status, error.message, error.provider) == (status, "No.", "tiny")


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"error": {"message": "No.", "code": "bad_thing"}}, "No.", "bad_thing"),
        ({"error": {"message": "No.", "type": "bad"}}, "No.", "bad"),
        ({"error": "No."}, "No.", None),
        ({"error": {"code": 17}}, "", "17"),
        ({"other": 1}, "", None),
        ("not json", "not json", None),
        ("x" * 1000, "x" * 500, None),
        (None, "", None),
        ([1], "", None),
    ],
)
def test_a_body_tells_message_and_code(body: Any, message: str, code: str | None) -> None:
    error = Tiny().error(500, body)
    assert (error.message, error.code, error.body) == (message, code, body)


@pytest.mark.parametrize(
    "code", ["what the user said", "x" * 65, "a\nb", "", "sk-test 123", {"a": 1}, ["x"]]
)
def test_a_code_that_is_no_token_is_dropped(code: Any) -> None:
    error = Tiny().error(400, {"error": {"message": "No.", "code": code}})
    assert error.code is None
    assert error.error_type == "400"


def test_a_body_that_cannot_be_read_is_still_an_error() -> None:
    class Broken(Tiny):
        def read_error(self, body: Any) -> ErrorDetail | None:
            raise KeyError("error")

    assert type(Broken().error(429, {"a": 1})) is RateLimitError


def test_an_inner_status_tells_the_kind_and_http_the_status() -> None:
    class Gateway(Tiny):
        def read_error(self, body: Any) -> ErrorDetail | None:
            return ErrorDetail("Upstream is busy.", status=429)

    error = Gateway().error(502, {})
    assert type(error) is RateLimitError
    assert error.status == 502
    assert Gateway().error(200, {}).status == 429


def test_the_request_id_is_found_in_any_case() -> None:
    assert Tiny().error(400, {}, {"X-Request-Id": "r1"}).request_id == "r1"


# How long to wait


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"retry-after": " 3 "}, 3.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "-5"}, 0.0),
        ({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_the_time_to_wait_has_several_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert Tiny().error(429, {}, headers).retry_after == seconds


def test_the_time_to_wait_may_be_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    wait = Tiny().error(429, {}, {"Retry-After": date}).retry_after
    assert wait is not None
    assert 85 < wait <= 90


def test_the_header_comes_before_what_the_body_says() -> None:
    class Telling(Tiny):
        def read_error(self, body: Any) -> ErrorDetail | None:
            return ErrorDetail("No.", retry_after=5)

    assert Telling().error(429, {}, {"retry-after": "2"}).retry_after == 2
    assert Telling().error(429, {}).retry_after == 5


# Answers


def test_an_answer_is_read() -> None:
    assert Tiny().reply({"said": "Hi."}).message.text == "Hi."


@pytest.mark.parametrize("body", [None, "text", 5, {}, {"said": None}, {"said": 5}])
def test_an_answer_of_another_form_is_a_bad_response(body: Any) -> None:
    with pytest.raises(BadResponse, match="answer is not of the form that tiny documents"):
        Tiny().reply(body)


@pytest.mark.parametrize("body", [None, [], "text", {}])
def test_a_request_of_another_form_is_a_bad_response(body: Any) -> None:
    with pytest.raises(BadResponse, match="request is not of the form"):
        Tiny().request(body)


def test_a_stream_that_came_as_one_array_is_read() -> None:
    assert Tiny().reply([{"piece": "Hi"}, {"piece": "."}]).message.text == "Hi."


def test_an_array_that_holds_no_whole_stream_is_a_bad_response() -> None:
    with pytest.raises(BadResponse):
        Tiny().reply([])


def test_an_error_inside_a_200_is_raised() -> None:
    with pytest.raises(BadResponse) as caught:
        Tiny().reply({"error": {"message": "Overloaded", "code": "busy"}})
    assert (caught.value.message, caught.value.code, caught.value.error_type) == (
        "Overloaded",
        "busy",
        "busy",
    )


# Streams


def fed(*texts: str) -> StreamState:
    """A stream of which these events have arrived."""
    state = StreamState()
    for text in texts:
        Tiny().event(state, Event(text))
    return state


def test_events_give_deltas_and_a_reply() -> None:
    state = StreamState()
    assert Tiny().event(state, Event('{"piece":"Hi"}')) == (Text("Hi"),)
    assert Tiny().event(state, Event('{"piece":"."}')) == (Text("."),)
    assert Tiny().finish(state).message.text == "Hi."


def test_a_stream_that_says_it_is_done_is_over() -> None:
    assert Tiny().finish(fed('{"piece":"Hi"}', "[DONE]")).message.text == "Hi"


def test_a_stream_that_broke_off_is_a_bad_response() -> None:
    with pytest.raises(BadResponse, match="ended before its last event"):
        Tiny().finish(fed('{"piece":"Hi"}'))


@pytest.mark.parametrize("text", ["", "not json", "[]", "5", "{}", '{"piece":5}', '{"piece":'])
def test_an_event_of_another_form_is_a_bad_response(text: str) -> None:
    with pytest.raises(BadResponse, match="event is not of the form"):
        fed(text)


def test_an_error_event_is_raised_whatever_it_says() -> None:
    with pytest.raises(BadResponse):
        Tiny().event(StreamState(), Event('{"piece":"Hi"}', "error"))


def test_an_error_in_the_middle_of_a_stream_is_raised() -> None:
    with pytest.raises(BadResponse, match="Overloaded"):
        fed('{"piece":"Hi"}', '{"error":{"message":"Overloaded"}}')


def test_what_arrived_of_a_stream_can_be_had() -> None:
    reply = Tiny().partial(fed('{"piece":"Hi"}'))
    assert reply is not None
    assert reply.message.text == "Hi"


def test_nothing_arrived_is_no_reply() -> None:
    assert Tiny().partial(fed()) is None
    assert Tiny().partial(StreamState(body={"said": 5})) is None
