"""The playground in this process: a scripted model, a catalogue of one configuration, a client."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import httpx
from opentelemetry.sdk.trace import SpanProcessor
from starlette.types import ASGIApp

from loopspan import Configuration, RunTrace, Tool, ToolRegistry, tool
from loopspan.catalogue import Catalogue
from loopspan.playground import Principal, TokenAuth, administrator
from loopspan.playground.app import Playground, guarded
from loopspan.playground.guard import CHECKS, Check
from loopspan.playground.hosts import AllowedHosts
from loopspan.playground.opening import Backend
from loopspan.playground.runner import Runner
from loopspan.prompts import Library, Skill, Snippet
from loopspan.prompts.skills import body_checksum
from loopspan.testing import Answer, ScriptedModel

HERE = "http://127.0.0.1:8600"
TOKEN = "a-token-that-is-only-used-by-tests-0123456789"
GOOD = {
    "content-type": "application/json",
    "x-playground": "1",
    "sec-fetch-site": "same-origin",
    "origin": HERE,
}
BEARER = {"authorization": f"Bearer {TOKEN}"}

T = TypeVar("T")


@tool(group="numbers")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(group="numbers", requires_admin=True)
def reset() -> str:
    """Reset everything."""
    return "done"


@tool
def fail() -> str:
    """Fail."""
    raise ValueError("no")


TOOLS = (add, reset, fail)


def catalogue(**settings: Any) -> Catalogue:
    """Return a catalogue of one configuration, `helper`."""
    given = {
        "name": "helper",
        "model": "openai:scripted-1",
        "system_prompt": "You help.",
        "skills": ("local/sums",),
        "snippets": ("hours",),
    }
    body = "Add carefully.\n"
    return Catalogue(
        path=Path("test.toml"),
        configurations=MappingProxyType({"helper": Configuration(**{**given, **settings})}),
        library=Library(
            (Skill("sums", body, checksum=body_checksum(body)),),
            (Snippet("hours", "Open from 9 to 17."),),
        ),
        skill_sources=MappingProxyType({"local": True}),
        tool_modules=(),
        has_builtin_tools=False,
        prices=MappingProxyType({}),
    )


class Gate(httpx.AsyncBaseTransport):
    """Holds requests to the model back; `open` lets so many through, all of them at first."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self._left: asyncio.Semaphore | None = None

    def close(self) -> None:
        """Let no request through from now on."""
        self._left = asyncio.Semaphore(0)

    def open(self, count: int = 1) -> None:
        """Let so many requests through."""
        assert self._left is not None
        for _ in range(count):
            self._left.release()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self._left is not None:
            await self._left.acquire()
        return await self._inner.handle_async_request(request)


@dataclass
class Served:
    """A playground and what is behind it."""

    model: ScriptedModel
    run_trace: RunTrace
    app: Playground
    gate: Gate
    principal: Principal = field(default_factory=administrator)


def served(
    *answers: Answer,
    principal: Principal | None = None,
    checks: Iterable[Check] = CHECKS,
    allowed_hosts: Iterable[str] = (),
    run_trace: RunTrace | None = None,
    exporter: SpanProcessor | None = None,
    backends: Sequence[Backend] = (),
    tools: Iterable[Tool] = TOOLS,
    **settings: Any,
) -> Served:
    """Return a playground whose model gives these answers."""
    model = ScriptedModel(answers)
    gate = Gate(httpx.MockTransport(model._answer))
    trace = run_trace or RunTrace()
    who = principal or administrator()
    runner = Runner(
        catalogue(**settings),
        trace,
        tools=ToolRegistry(tools),
        exporter=exporter,
        settings={"model": model.model, "async_client": httpx.AsyncClient(transport=gate)},
    )
    app = guarded(
        runner, trace, TokenAuth(TOKEN, who), AllowedHosts(allowed_hosts), tuple(checks), backends
    )
    return Served(model, trace, app, gate, who)


def client(app: ASGIApp, headers: Mapping[str, str] | None = None) -> httpx.AsyncClient:
    """Return a client of the app; it sends what the page sends, and the token."""
    # As a server does: what the app raises is an answer of 500 and a line of the log.
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    given = {**GOOD, **BEARER} if headers is None else headers
    return httpx.AsyncClient(transport=transport, base_url=HERE, headers=given)


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Do async work to its end."""
    return asyncio.run(work)


async def ended(app: Playground, client: httpx.AsyncClient, **asked: Any) -> dict[str, Any]:
    """Start a run, wait for its end, and return it with its steps."""
    value = {"configuration": "helper", "prompt": "1 + 2?", **asked}
    answer = await client.post("/api/runs", json=value)
    assert answer.status_code == 202, answer.text
    run_id = answer.json()["runs"][0]["run_id"]
    await app.runner.finished(run_id)
    shown = await client.get(f"/api/runs/{run_id}")
    assert shown.status_code == 200, shown.text
    found: dict[str, Any] = shown.json()
    return found
