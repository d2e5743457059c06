"""An application for servers with several processes: each request makes a run.

`preloaded` has its provider before the server forks; `app` makes it when it is imported.
"""

import json
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from opentelemetry.sdk.trace import TracerProvider

from loopspan import PolicyExporter, RunTrace, ToolLoop, tool
from loopspan.telemetry.export import Delivery, ExportProcessor, OtlpExporter
from loopspan.testing import ScriptedModel, calls

run_trace = RunTrace()
provider = TracerProvider()
provider.add_span_processor(run_trace)
_delivery = Delivery()
provider.add_span_processor(ExportProcessor(PolicyExporter(OtlpExporter(_delivery)), _delivery))


@tool
def look() -> str:
    """Look."""
    return "A cat."


def loop() -> ToolLoop:
    model = ScriptedModel([calls("look"), "A cat."])
    return ToolLoop(
        model.model,
        [look],
        client=model.client,
        async_client=model.async_client,
        tracer_provider=provider,
        content="full",
    )


def told() -> bytes:
    """Whose runs these are, and how they came out."""
    runs = [[run.run_id, run.outcome, len(run.steps)] for run in run_trace.runs()]
    return json.dumps({"pid": os.getpid(), "runs": runs}).encode()


def preloaded(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """The application as WSGI."""
    if environ["PATH_INFO"] == "/run":
        loop().run("What is there?")
    start_response("200 OK", [("content-type", "application/json"), ("connection", "close")])
    return [told()]


async def app(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[Any]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """The application as ASGI."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        provider.shutdown()  # uvicorn ends its processes by the signal, without Python's exit
        await send({"type": "lifespan.shutdown.complete"})
        return
    if scope["path"] == "/run":
        await loop().arun("What is there?")
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": told()})
