"""The demo endpoint over HTTP: answers, streams, errors, and who may ask."""

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from loopspan.demo.endpoint import endpoint, stop
from tests.demo.asking import JSON, body, function

ADD = function("add", "Add numbers.", a={"type": "number"}, b={"type": "number"})


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    here = endpoint()
    headers = {"authorization": f"Bearer {here.token.reveal()}"}
    with httpx.Client(base_url=here.base_url, headers=headers, trust_env=False) as client:
        yield client


def ask(client: httpx.Client, asked: Any) -> httpx.Response:
    return client.post("/chat/completions", json=asked)


def error_of(response: httpx.Response) -> JSON:
    assert response.headers["content-type"] == "application/json"
    error: JSON = response.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    return error


@pytest.fixture
def connections() -> Callable[[], int]:
    """How many connections the endpoint has open, beside those of other tests' servers."""
    others = {thread.ident for thread in threading.enumerate()}

    def opened() -> int:
        threads = [t.name for t in threading.enumerate() if t.ident not in others]
        return sum("process_request_thread" in name for name in threads)

    return opened


def test_answer(client: httpx.Client) -> None:
    response = ask(client, body("Add 1 and 2", ADD))
    assert response.status_code == 200
    assert response.headers["x-request-id"].startswith("req_")
    answer = response.json()
    [call] = answer["choices"][0]["message"]["tool_calls"]
    assert call["function"] == {"name": "add", "arguments": '{"a":1,"b":2}'}
    assert abs(answer["created"] - time.time()) < 60


def test_stream(client: httpx.Client) -> None:
    asked = body("Hello", stream=True, stream_options={"include_usage": True})
    with client.stream("POST", "/chat/completions", json=asked) as response:
        assert response.headers["content-type"] == "text/event-stream"
        lines = [line for line in response.iter_lines() if line]
    assert all(line.startswith("data: ") for line in lines)
    assert lines.pop() == "data: [DONE]"
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert len(chunks) > 10
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert chunks[-1]["usage"]["completion_tokens"] > 0


def test_connection_is_kept(client: httpx.Client, connections: Callable[[], int]) -> None:
    for stream in (False, True, False):
        assert ask(client, body("Hello", stream=stream)).status_code == 200
    assert ask(client, {}).status_code == 400
    assert client.get("/nothing").status_code == 404
    assert connections() == 1


def test_models(client: httpx.Client) -> None:
    listed = client.get("/models").json()
    assert [model["id"] for model in listed["data"]] == ["demo-1"]
    assert client.get("/models/demo-1").json() == listed["data"][0]


CALL = {"id": "a", "type": "function", "function": {"name": "add", "arguments": "{}"}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
CHOICE = {"type": "function", "function": {"name": "other"}}


@pytest.mark.parametrize(
    ("asked", "status", "code", "param"),
    [
        ([], 400, None, None),
        ({}, 400, None, "model"),
        ({"model": "demo-1", "messages": []}, 400, None, "messages"),
        ({"model": "demo-1", "messages": [{"role": "x"}]}, 400, None, "messages.0.role"),
        ({"model": "gpt-4o", "messages": [{"role": "user"}]}, 404, "model_not_found", "model"),
        (body("Hello", n=2), 400, None, "n"),
        (body("Hello", max_tokens=0), 400, None, "max_tokens"),
        (body("Hello", max_tokens="5"), 400, None, "max_tokens"),
        (body("Hello", tools=[]), 400, None, "tools"),
        (body("Hello", tool_choice="auto"), 400, None, "tool_choice"),
        (body("Hello", ADD, tool_choice=CHOICE), 400, None, "tool_choice"),
        (body("Hello", stream_options={}), 400, None, "stream_options"),
        (body([ASKED]), 400, None, "messages"),
        (body([ASKED, {"role": "user", "content": "?"}]), 400, None, "messages"),
        (
            body([{"role": "tool", "tool_call_id": "a", "content": "3"}]),
            400,
            None,
            "messages.0.tool_call_id",
        ),
        (body("fail with 503"), 503, None, None),
        (body("fail with 401"), 401, "invalid_api_key", None),
    ],
)
def test_refused_request(
    client: httpx.Client, asked: Any, status: int, code: str | None, param: str | None
) -> None:
    response = ask(client, asked)
    error = error_of(response)
    assert (response.status_code, error["code"], error["param"]) == (status, code, param)
    assert error["message"]
    assert error["type"] == ("server_error" if status >= 500 else "invalid_request_error")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'"\\ud800"', b"[" * 100_000])
def test_bad_json(client: httpx.Client, content: bytes) -> None:
    response = client.post("/chat/completions", content=content)
    assert response.status_code == 400
    assert error_of(response)["message"].startswith("We could not parse the JSON body")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("POST", "/nothing", 404),
        ("GET", "/chat/completions", 405),
        ("POST", "/models", 405),
        ("DELETE", "/models", 501),
    ],
)
def test_unknown_path_or_method(client: httpx.Client, method: str, path: str, status: int) -> None:
    response = client.request(method, path)
    assert response.status_code == status
    assert error_of(response)["message"]


@pytest.mark.parametrize("given", [None, "", "Bearer", "Bearer wrong", "Basic x", "Bearer \xe9"])
@pytest.mark.parametrize("path", ["/models", "/chat/completions", "/nothing"])
def test_token_is_asked_for(client: httpx.Client, given: str | None, path: str) -> None:
    del client.headers["authorization"]
    headers = [] if given is None else [(b"authorization", given.encode("latin-1"))]
    response = client.post(path, json=body("Hello"), headers=headers)
    assert response.status_code == 401
    assert error_of(response)["code"] == "invalid_api_key"


def test_it_listens_on_loopback_only() -> None:
    address = endpoint().base_url
    assert address.startswith("http://127.0.0.1:")
    port = int(address.removesuffix("/v1").rpartition(":")[2])
    with socket.socket() as other:  # nobody has this port on another address
        other.bind(("127.0.0.2", port))


def test_too_many_requests_once(client: httpx.Client) -> None:
    statuses = []
    for _ in range(4):
        response = ask(client, body("fail with 429"))
        statuses.append(response.status_code)
        assert response.headers.get("retry-after") == ("0" if statuses[-1] == 429 else None)
    assert statuses == [429, 200, 429, 200]


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("Content-Length: 99999999999999", 413),
        ("Content-Length: " + "9" * 5_000, 413),
        ("Content-Length: -1", 413),
        ("Transfer-Encoding: chunked", 411),
        ("X: " + "x" * 100_000, 431),
    ],
)
def test_odd_http_is_answered_and_ended(client: httpx.Client, head: str, status: int) -> None:
    port = client.base_url.port
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        lines = ["POST /v1/chat/completions HTTP/1.1", head, "", ""]
        connection.sendall("\r\n".join(lines).encode())
        answer = b""
        while chunk := connection.recv(65536):  # the server ends the connection
            answer += chunk
    top, _, content = answer.partition(b"\r\n\r\n")
    assert top.startswith(b"HTTP/1.1 %d " % status)
    assert json.loads(content)["error"]["message"]


def test_client_that_goes_away_is_no_error(
    client: httpx.Client,
    connections: Callable[[], int],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked = body("slowly", stream=True)
    with client.stream("POST", "/chat/completions", json=asked) as response:
        next(response.iter_lines())
    client.close()
    deadline = time.monotonic() + 60
    while connections() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert connections() == 0
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_slow_stream_takes_its_time(client: httpx.Client) -> None:
    """Before each piece it waits 50 ms; a busy machine makes that more, never less."""
    asked = body("slowly", stream=True, max_tokens=5)
    begun = time.monotonic()
    with client.stream("POST", "/chat/completions", json=asked) as response:
        pieces = [line for line in response.iter_lines() if line and line != "data: [DONE]"]
    assert len(pieces) > 3
    assert time.monotonic() - begun >= 0.05 * len(pieces)


def test_nothing_is_written(client: httpx.Client, capfd: pytest.CaptureFixture[str]) -> None:
    ask(client, body("Hello"))
    client.get("/nothing")
    assert capfd.readouterr() == ("", "")


def test_failure_of_the_model_is_reported(
    client: httpx.Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("loopspan.demo.handler.completion", broken)
    with pytest.raises(httpx.RemoteProtocolError):
        ask(client, body("Hello"))
    [record] = caplog.records
    assert (record.name, record.levelno) == ("loopspan.demo", logging.ERROR)


def test_stop_ends_open_streams_and_the_next_request_starts_another(
    client: httpx.Client, connections: Callable[[], int]
) -> None:
    first = endpoint()
    asked = body("slowly", stream=True)
    with client.stream("POST", "/chat/completions", json=asked) as response:
        lines = response.iter_lines()
        next(lines)
        stop()
        with pytest.raises(httpx.HTTPError):
            list(lines)
    assert connections() == 0
    assert not any(thread.name == "loopspan-demo" for thread in threading.enumerate())
    with pytest.raises(httpx.ConnectError):
        ask(client, body("Hello"))
    second = endpoint()
    assert second is not first
    assert second.token != first.token
    stop()
    stop()
