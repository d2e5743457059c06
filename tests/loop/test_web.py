"""Case CT-05: a web application streams a run to a client that goes away."""

import contextlib
import logging
import socket
import threading
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from loopspan import TextDelta, ToolLoop
from loopspan.testing import Captured, ScriptedModel, capture, message
from tests.loop.held import Held, holding
from tests.loop.ways import loop_of

LATER = 100
WATCHED = ("asyncio", "uvicorn", "opentelemetry", "loopspan")


def loops(held: Held, captured: Captured) -> tuple[ToolLoop, ToolLoop]:
    """A loop whose provider does not come to an end, and one whose provider does."""
    model = ScriptedModel([message("Hello.", usage={"cost": 0.1})] * LATER)
    return ToolLoop(held.model, tracer_provider=captured.provider), loop_of(model, [], captured)


@contextlib.contextmanager
def serving(app: Starlette) -> Iterator[str]:
    """Serve an application on loopback, in a thread."""
    # A socket that names its protocol: asyncio switches Nagle's algorithm off for no other.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none", http="h11")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def ask(url: str, held: Held) -> None:
    """Go away from the endless answer, then ask for the others."""
    with httpx.Client() as client:
        with client.stream("GET", f"{url}/endless") as response:
            next(response.iter_bytes())
        assert held.left.wait(30)
        for _ in range(LATER):
            assert client.get(f"{url}/short").text == "Hello."


def check(captured: Captured) -> None:
    runs = captured.run_trace.runs()
    assert [run.outcome for run in runs[1:]] == ["completed"] * LATER
    assert runs[0].outcome in ("abandoned", "cancelled")
    assert len(captured.spans) == 2 * (LATER + 1)


def test_ct05_an_asgi_application_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    with capture() as captured, holding("Hel", "lo") as held:
        endless, short = loops(held, captured)

        async def texts(loop: ToolLoop) -> AsyncIterator[str]:
            async with loop.astream("Hi") as stream:
                async for event in stream:
                    if isinstance(event, TextDelta):
                        yield event.content

        async def answer(request: Request) -> StreamingResponse:
            return StreamingResponse(texts(endless if request.url.path == "/endless" else short))

        with serving(Starlette(routes=[Route("/{which}", answer)])) as url:
            ask(url, held)

    check(captured)
    assert [r for r in caplog.records if r.name.partition(".")[0] in WATCHED] == []
