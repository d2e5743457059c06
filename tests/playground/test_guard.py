"""What the walk cannot say through an HTTP client: hosts, navigation, sockets (PG-09)."""

import asyncio
from typing import Any

import pytest
from starlette.types import ASGIApp, Message

from loopspan import ConfigurationError, RunTrace
from loopspan.playground import make_asgi_app
from loopspan.playground.hosts import AllowedHosts
from tests.playground.served import BEARER, GOOD, HERE, catalogue, client, run_async, served
from tests.playground.streams import scope_of


async def asked(app: ASGIApp, scope: dict[str, Any]) -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent


@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        ([], 400),
        (["127.0.0.1:8600", "127.0.0.1:8600"], 400),
        (["127.0.0.1:8600"], 200),
        (["LOCALHOST:8600"], 200),
        (["[::1]:8600"], 200),
        (["localhost"], 421),  # port 80
        (["127.0.0.1:8600 "], 421),
        (["127.0.0.1:8600/"], 421),
        (["user@127.0.0.1:8600"], 421),
        (["127.0.0.1.:8600"], 421),
        ([""], 421),
    ],
)
def test_host_is_one_and_exact(hosts: list[str], status: int) -> None:
    """PG-09: before anything else, on reads too."""
    scope = scope_of("/api/boot")
    scope["headers"] = [(k, v) for k, v in scope["headers"] if k != b"host"]
    scope["headers"] += [(b"host", host.encode()) for host in hosts]
    sent = run_async(asked(served().app, scope))
    assert sent[0]["status"] == status


@pytest.mark.parametrize(
    ("entry", "host", "origin", "status"),
    [
        ("play.example.com", "play.example.com", "http://play.example.com", 200),
        ("play.example.com", "play.example.com", "https://play.example.com", 403),
        ("https://play.example.com", "play.example.com", "https://play.example.com", 200),
        ("https://play.example.com", "play.example.com:443", "https://play.example.com", 200),
        ("https://play.example.com", "play.example.com", "http://play.example.com", 403),
        ("play.example.com:8443", "play.example.com", "http://play.example.com", 421),
        ("play.example.com", "x.play.example.com", "http://play.example.com", 421),
        ("play.example.com", "127.0.0.1:8600", "http://play.example.com", 403),
    ],
)
def test_allowed_host_is_no_pattern_and_its_origin_is_exact(
    entry: str, host: str, origin: str, status: int
) -> None:
    async def story() -> int:
        async with client(served(allowed_hosts=[entry]).app) as http:
            headers = {"host": host, "origin": origin}
            return (await http.get("/api/boot", headers=headers)).status_code

    assert run_async(story()) == status


@pytest.mark.parametrize("entry", ["*.example.com", "http://", "ftp://x", "name/path", "a b", ""])
def test_entry_that_is_no_host_is_refused(entry: str) -> None:
    with pytest.raises(ConfigurationError, match="no host to allow"):
        AllowedHosts([entry])


def test_nothing_is_served_without_auth() -> None:
    with pytest.raises(ConfigurationError, match="auth="):
        make_asgi_app(catalogue(), RunTrace())


def test_socket_is_closed_before_any_handler() -> None:
    scope = {**scope_of("/api/stream"), "type": "websocket", "scheme": "ws"}
    sent = run_async(asked(served().app, scope))
    assert sent == [{"type": "websocket.close", "code": 1008}]


NAVIGATION = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
}


@pytest.mark.parametrize(
    ("path", "change", "status"),
    [
        ("/", {}, 200),
        ("/", {"sec-fetch-dest": "iframe"}, 403),
        ("/", {"sec-fetch-mode": "no-cors"}, 403),
        ("/api/boot", {}, 403),
        ("/static/nothing.js", {}, 403),
    ],
)
def test_only_a_navigation_to_the_shell_may_come_from_elsewhere(
    path: str, change: dict[str, str], status: int
) -> None:
    async def story() -> int:
        async with client(served().app, BEARER) as http:
            return (await http.get(path, headers={**NAVIGATION, **change})).status_code

    assert run_async(story()) == status


@pytest.mark.parametrize("site", ["", "SAME-ORIGIN", "made-up"])
def test_value_that_no_browser_sends_is_refused(site: str) -> None:
    async def story() -> int:
        async with client(served().app) as http:
            return (await http.get("/api/boot", headers={"sec-fetch-site": site})).status_code

    assert run_async(story()) == 403


def test_body_over_the_limit_is_refused_told_or_not() -> None:
    async def story() -> None:
        async def parts() -> Any:
            for _ in range(11):
                yield b"x" * 100_000
                await asyncio.sleep(0)

        async with client(served().app) as http:
            told = await http.post("/api/runs", content=b"x" * 1_000_001)
            untold = await http.post("/api/runs", content=parts())
        assert (told.status_code, untold.status_code) == (413, 413)

    run_async(story())


def test_every_answer_says_how_it_may_be_used() -> None:
    async def story() -> None:
        async with client(served().app) as http:
            for path in ("/", "/api/boot", "/no/such", "/api/runs/unknown"):
                headers = (await http.get(path)).headers
                assert "require-trusted-types-for 'script'" in headers["content-security-policy"]
                assert headers["x-content-type-options"] == "nosniff"
                assert headers["referrer-policy"] == "no-referrer"
                assert headers["cross-origin-opener-policy"] == "same-origin"
                assert headers["cross-origin-resource-policy"] == "same-origin"
                expected = "no-cache" if path == "/" else "no-store"
                assert headers["cache-control"] == expected

    run_async(story())


def test_get_changes_nothing() -> None:
    """A method that a route does not have is refused, and HEAD reads."""

    async def story() -> None:
        async with client(served().app, {**GOOD, **BEARER, "origin": HERE}) as http:
            assert (await http.get("/api/diff")).status_code == 405
            assert (await http.get("/login")).status_code == 405
            assert (await http.head("/api/boot")).status_code == 200

    run_async(story())
