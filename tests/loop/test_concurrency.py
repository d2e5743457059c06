"""Cases CT-01, CT-02: many runs at once, many tools at once."""

import asyncio
import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
from opentelemetry.sdk.trace import ReadableSpan

from loopspan import Message, RunResult, ToolLoop, ToolOptions, tool
from loopspan.testing import Captured, ScriptedModel, capture, message
from tests.loop.ways import loop_of
from tests.loop.wire import call, completion

RUNS = 50


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def answer(request: httpx.Request) -> httpx.Response:
    """The same dialogue for everybody, told from what is asked alone."""
    asked = len(json.loads(request.content)["messages"])
    if asked == 1:
        calls = [call("add", "call_1", a=1, b=2), call("add", "call_2", a=3, b=4)]
        said: dict[str, Any] = {"content": None, "tool_calls": calls}
        return completion(said, prompt_tokens=10, completion_tokens=5, cost=0.25)
    return completion({"content": "3, 7"}, prompt_tokens=20, completion_tokens=7, cost=0.5)


def check(results: list[RunResult], captured: Captured) -> None:
    """All runs tell the same."""
    assert {
        (r.outcome, r.content, r.rounds, r.tool_calls, r.usage.total_tokens, r.cost_usd)
        for r in results
    } == {("completed", "3, 7", 2, 2, 42, 0.75)}
    assert len({r.run_id for r in results}) == RUNS
    assert all(r.messages == results[0].messages for r in results)
    for result in results:
        run = captured.run_trace.run(result.run_id)
        assert run == result.run
        kinds = [step.kind for step in run.steps]
        assert kinds == ["request", "chat", "tool", "tool", "request", "chat"]
        assert (run.usage.total_tokens, run.cost_usd, run.content) == (42, 0.75, "3, 7")
    assert len({span.context.trace_id for span in captured.spans if span.context}) == RUNS


def test_ct01_fifty_runs_in_threads_share_nothing() -> None:
    together = threading.Barrier(RUNS)

    def meet(request: httpx.Request) -> httpx.Response:
        together.wait(30)
        return answer(request)

    with capture() as captured, httpx.Client(transport=httpx.MockTransport(meet)) as client:
        loop = ToolLoop(
            ScriptedModel([]).model,
            [add],
            client=client,
            tracer_provider=captured.provider,
            content="full",
        )
        with ThreadPoolExecutor(RUNS) as pool:
            results = list(pool.map(lambda _: loop.run("1 + 2, 3 + 4?"), range(RUNS)))

        check(results, captured)


def test_ct01_fifty_runs_in_tasks_share_nothing() -> None:
    async def run(captured: Captured) -> list[RunResult]:
        together = asyncio.Barrier(RUNS)

        async def meet(request: httpx.Request) -> httpx.Response:
            await together.wait()
            return answer(request)

        async with httpx.AsyncClient(transport=httpx.MockTransport(meet)) as client:
            loop = ToolLoop(
                ScriptedModel([]).model,
                [add],
                async_client=client,
                tracer_provider=captured.provider,
                content="full",
            )
            return await asyncio.gather(*(loop.arun("1 + 2, 3 + 4?") for _ in range(RUNS)))

    with capture() as captured:
        check(asyncio.run(run(captured)), captured)


TEN = ToolOptions(parallel=10)
ASKED = [("pause", {"n": n}, f"call_{n}") for n in range(10)]


def told(messages: tuple[Message, ...]) -> list[tuple[object, ...]]:
    """The id and the result of each call, as the model gets them."""
    parts = [m.parts[0] for m in messages if m.role == "tool"]
    return [(getattr(part, "id", None), getattr(part, "response", None)) for part in parts]


def check_tools(spans: list[ReadableSpan]) -> None:
    """Ten spans of tools with their own ids and arguments, all under the run."""
    tools = [span for span in spans if span.name == "execute_tool pause"]
    [run] = [span for span in spans if span.name == "invoke_agent"]
    assert sorted(
        ((s.attributes or {})["gen_ai.tool.call.id"], (s.attributes or {})[ARGUMENTS], s.parent)
        for s in tools
    ) == [(f"call_{n}", f'{{"n":{n}}}', run.context) for n in range(10)]


ARGUMENTS = "gen_ai.tool.call.arguments"


def test_ct02_ten_threads_of_tools_keep_their_ids_and_parent() -> None:
    chance = random.Random(2)

    @tool
    def pause(n: int) -> int:
        """Let others go first, by chance."""
        for _ in range(chance.randrange(4)):
            time.sleep(0)
        return n

    for _ in range(100):
        with capture() as captured:
            model = ScriptedModel([message(tool_calls=ASKED), "Done."])
            result = loop_of(model, [pause], captured, content="full").run("Go on.", options=TEN)
        assert told(result.messages) == [(f"call_{n}", str(n)) for n in range(10)]
        check_tools(captured.spans)


def test_ct02_ten_tasks_of_tools_keep_their_ids_and_parent() -> None:
    chance = random.Random(2)

    @tool
    async def pause(n: int) -> int:
        """Let others go first, by chance."""
        for _ in range(chance.randrange(4)):
            await asyncio.sleep(0)
        return n

    async def run() -> None:
        for _ in range(100):
            with capture() as captured:
                model = ScriptedModel([message(tool_calls=ASKED), "Done."])
                loop = loop_of(model, [pause], captured, content="full")
                result = await loop.arun("Go on.", options=TEN)
            assert told(result.messages) == [(f"call_{n}", str(n)) for n in range(10)]
            check_tools(captured.spans)

    asyncio.run(run())
