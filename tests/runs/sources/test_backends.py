"""What Jaeger and Tempo are asked for, and what is said where they cannot answer."""

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from loopspan.errors import ConfigurationError, RunNotFound, SourceError
from loopspan.runs.sources import Fetched, JaegerSource, Source, TempoSource
from loopspan.runs.sources.drivers import Drivers
from loopspan.testing import capture
from tests.runs.sources.recorded import recorded
from tests.runs.sources.shapes import (
    WAYS,
    Way,
    answering,
    as_jaeger,
    as_tempo_1,
    as_tempo_2,
    asked,
)

ID = "0af7651916cd43dd8448eb211c80319c"
Make = Callable[[Drivers], Source]


def jaeger(drivers: Drivers) -> Source:
    return JaegerSource("http://jaeger:16686/", drivers)


def tempo(drivers: Drivers) -> Source:
    return TempoSource("http://tempo:3200/prefix", drivers)


each_backend = pytest.mark.parametrize("make", [jaeger, tempo])
each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


def refusal(make: Make, response: httpx.Response | Exception, way: Way = WAYS[0]) -> SourceError:
    def answer(_: httpx.Request) -> httpx.Response:
        if isinstance(response, Exception):
            raise response
        return response

    with pytest.raises(SourceError) as raised:
        way(make(asked(answer)), ID)
    return raised.value


def test_jaeger_is_asked_by_its_stable_api() -> None:
    with capture() as captured:
        recorded(captured.provider)
    drivers, requests = answering(httpx.Response(200, json=as_jaeger(captured.spans)))
    jaeger(drivers).fetch(ID.upper())
    assert [str(r.url) for r in requests] == [f"http://jaeger:16686/api/v3/traces/{ID}"]


def test_tempo_is_asked_by_its_second_api_then_by_its_first() -> None:
    with capture() as captured:
        run = recorded(captured.provider)
    first = httpx.Response(200, json=as_tempo_1(captured.spans))
    drivers, requests = answering(httpx.Response(200, json={"metrics": {}, "trace": {}}), first)
    assert tempo(drivers).fetch(ID).runs == (run,)
    assert [(r.url.path, r.url.query) for r in requests] == [
        (f"/prefix/api/v2/traces/{ID}", b"span_pruning=false"),
        (f"/prefix/api/traces/{ID}", b""),
    ]
    assert requests[1].headers["accept"].startswith("application/protobuf")


def test_leading_zeros_of_an_id_may_be_missing() -> None:
    drivers, requests = answering(httpx.Response(404, json={"error": {"message": "none"}}))
    with pytest.raises(RunNotFound):
        jaeger(drivers).fetch("af7651916cd43dd8448eb211c80319c")
    assert requests[0].url.path.endswith("/" + ID)


@each_backend
@pytest.mark.parametrize(
    "id", ["", "x" * 32, ID + "0", "../services", "0" * 32, f"{ID}\n", "0af7651", "٣" * 32]
)
def test_what_is_no_trace_id_is_not_asked_for(make: Make, id: str) -> None:
    drivers, requests = answering()
    with pytest.raises(ConfigurationError, match="is no trace id; give its 32 hex digits"):
        make(drivers).fetch(id)
    assert requests == []


@each_backend
@each_way
def test_headers_go_with_each_request(make: Make, way: Way) -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(404, json={"error": {"httpCode": 404, "message": "none"}})

    drivers = asked(answer, headers={"X-Scope-OrgID": "team-a"})
    with pytest.raises(RunNotFound, match=f"has no trace {ID}"):
        way(make(drivers), ID)
    assert {request.headers["x-scope-orgid"] for request in requests} == {"team-a"}


@pytest.mark.parametrize(
    "headers",
    [{"Authorization": "Bearer s3cret\n"}, {"Authorization": "s3crét"}, {"a b": "s3cret"}],
)
def test_a_header_that_http_does_not_allow_is_refused_without_its_value(
    headers: dict[str, str],
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        Drivers(headers=headers)
    assert "s3cr" not in str(raised.value)
    assert next(iter(headers)) in str(raised.value)
    assert "s3cr" not in repr(Drivers(headers={"Authorization": "s3cret"}))


@each_backend
@each_way
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (httpx.ConnectError("connection refused"), r"cannot be reached \(connection refused\); "),
        (httpx.RemoteProtocolError("broke off"), r"cannot be reached \(broke off\); "),
        (httpx.ReadTimeout("slow"), "did not answer within 10 s; check that it runs"),
        (httpx.DecodingError("no gzip"), r"cannot be read \(no gzip\); "),
        ((200, {"text": "<html>"}), "answered text/plain, which is no JSON object; "),
        ((200, {"json": [1]}), "answered application/json, which is no JSON object; "),
        ((302, {"headers": {"location": "/login"}}), "redirect to '/login'; it is not followed"),
        ((401, {}), "answered 401; .* asks for a login; pass its header"),
        ((400, {"text": "bad\n id"}), "answered 400: bad id; check that this version"),
        ((500, {"json": {"error": "boom"}}), "answered 500: boom; see the log of"),
        ((502, {"text": "<html>bad"}), "answered 502; see the log of"),
    ],
)
def test_what_went_wrong_is_said_with_the_address(
    make: Make, way: Way, answer: tuple[int, dict[str, Any]] | Exception, said: str
) -> None:
    response = answer if isinstance(answer, Exception) else httpx.Response(answer[0], **answer[1])
    error = refusal(make, response, way)
    assert re.search(said, str(error)), str(error)
    assert re.search("http://(jaeger:16686|tempo:3200/prefix)/api/v[23]/traces/", error.message)


def test_json_that_is_no_trace_is_no_missing_trace() -> None:
    error = refusal(jaeger, httpx.Response(200, json={"a": 1}))
    assert "no 'resourceSpans'" in str(error)
    assert not isinstance(error, RunNotFound)


def test_a_jaeger_without_the_api_is_not_a_missing_trace() -> None:
    error = refusal(jaeger, httpx.Response(404, text="404 page not found"))
    assert not isinstance(error, RunNotFound)
    assert "query API" in error.hint


@each_backend
@each_way
def test_an_answer_that_is_too_large_is_not_read_to_its_end(make: Make, way: Way) -> None:
    drivers = asked(lambda _: httpx.Response(200, content=b"x" * 2000), max_bytes=1000)
    with pytest.raises(SourceError, match="is larger than 1,000 bytes; ask for less"):
        way(make(drivers), ID)


def partial(status: Any) -> Fetched:
    with capture() as captured:
        recorded(captured.provider)
    body = {**as_tempo_2(captured.spans), "status": status, "message": "trace exceeds max size"}
    drivers, _ = answering(httpx.Response(200, json=body))
    return tempo(drivers).fetch(ID)


@pytest.mark.parametrize("status", ["PARTIAL", 1])
def test_tempo_says_that_a_trace_is_partial(status: Any) -> None:
    told = partial(status)
    assert told.partial
    assert told.warnings == ("Tempo gave a part of the trace only: trace exceeds max size",)


@pytest.mark.parametrize("status", ["COMPLETE", 0, None])
def test_tempo_says_that_a_trace_is_complete(status: Any) -> None:
    assert (partial(status).partial, partial(status).warnings) == (False, ())


def test_a_parent_that_is_not_in_the_trace_is_said() -> None:
    with capture() as captured:
        recorded(captured.provider)
    spans = [span for span in captured.spans if span.parent is not None]
    drivers, _ = answering(httpx.Response(200, json=as_jaeger(spans)))
    told = jaeger(drivers).fetch(ID)
    assert told.warnings == (
        "1 parent of its spans is not in the trace: a part of it may be missing",
    )


@pytest.mark.parametrize(
    "url",
    ["", "jaeger:16686", "ftp://jaeger", "http://", "http://jaeger:x", "http://jaeger/?a=b"],
)
def test_an_address_that_cannot_be_one_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="is no address of Jaeger; give one such as"):
        JaegerSource(url)


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    with pytest.raises(ConfigurationError, match="pass a header instead") as raised:
        TempoSource("http://admin:s3cret@tempo:3200")
    assert "s3cret" not in str(raised.value)


@each_backend
@pytest.mark.parametrize(
    "wrong",
    [
        {"resourceSpans": [None, 3, {"scopeSpans": [{"spans": [7, {"attributes": ["a", {}]}]}]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"status": "x", "events": [1]}]}]}]},
    ],
)
def test_odd_values_in_an_answer_are_passed_over(make: Make, wrong: dict[str, Any]) -> None:
    drivers, _ = answering(httpx.Response(200, json={"result": wrong, "trace": wrong}))
    assert len(make(drivers).fetch(ID).spans) == 1


@each_backend
@pytest.mark.parametrize(
    "span",
    [
        {"traceId": "no id"},
        {"startTimeUnixNano": "soon"},
        {"attributes": [{"key": "a", "value": {"intValue": "many"}}]},
        {"attributes": [{"key": "a", "value": {"bytesValue": "x"}}]},
        {"attributes": [{"key": "a", "value": {"intValue": []}}]},
    ],
)
def test_an_answer_that_is_damaged_is_said(make: Make, span: dict[str, Any]) -> None:
    wrong = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    body = json.dumps({"result": wrong, "trace": wrong})
    error = refusal(make, httpx.Response(200, text=body))
    assert "answered what cannot be read" in str(error)
