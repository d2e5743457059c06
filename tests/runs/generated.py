"""Generated runs: what a model may answer, tools may return and a caller may ask for."""

import json
from dataclasses import dataclass
from typing import Any

import httpx
from hypothesis import strategies as st

from loopspan import (
    Configuration,
    LoopspanError,
    Parameters,
    RetryPolicy,
    RunResult,
    Tool,
    ToolOptions,
    tool,
)
from loopspan.telemetry.content import Content
from loopspan.telemetry.spans import Messages
from loopspan.testing import JSON, Answer, Captured, ScriptedModel, message
from tests.loop.ways import WAYS, Way, loop_of

Strategy = st.SearchStrategy

texts: Strategy[str] = st.text(st.characters(codec=None), max_size=8) | st.sampled_from(
    ["", "Hello.", '{"result":"x"}', '{"a": NaN}', "null", "[]", "\ud800", "👋", "\x00"]
)
numbers: Strategy[Any] = (
    st.integers(-(10**25), 10**25)
    | st.floats()
    | st.sampled_from([0, -1, 2**63, 10**400, 1e308, float("nan")])
)
values: Strategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            texts | st.sampled_from(["arguments", "result", "error"]), inner, max_size=2
        )
    ),
    max_leaves=6,
)
counts: Strategy[Any] = st.none() | st.integers(0, 9) | st.sampled_from([-1, 1.5, "7", 2**70])
usages: Strategy[JSON | None] = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "prompt_tokens": counts,
        "completion_tokens": counts,
        "prompt_tokens_details": st.fixed_dictionaries({"cached_tokens": counts}),
        "completion_tokens_details": st.fixed_dictionaries({"reasoning_tokens": counts}),
        "cost": st.none() | st.floats() | st.sampled_from([0, 0.25, "0.5", -1]),
    },
)
KNOWN = ("give", "give_later", "fail", "fail_later")
ODD = ("unknown", "", "\ud800")
ids: Strategy[Any] = st.sampled_from(["call_1", "call_2", "", None, 7]) | texts
called: Strategy[tuple[Any, ...]] = st.one_of(
    st.tuples(st.sampled_from(KNOWN), st.fixed_dictionaries({}, optional={"n": numbers}), ids),
    st.tuples(st.sampled_from(KNOWN[:2]), st.just({}), ids),
    st.tuples(st.sampled_from(KNOWN + ODD), values, ids),
)
finishes: Strategy[str | None] = st.none() | st.sampled_from(
    ["stop", "length", "tool_calls", "content_filter", "error", "made up", "\ud800", ""]
)
said: Strategy[JSON] = st.builds(message, st.none() | texts, finish_reason=finishes, usage=usages)
asked: Strategy[JSON] = st.builds(
    message,
    st.none() | texts,
    tool_calls=st.lists(called, min_size=1, max_size=3),
    finish_reason=st.just("tool_calls") | finishes,
    usage=usages,
)


def failure(status: int, body: bytes) -> Answer:
    return lambda _: httpx.Response(status, content=body)


failures: Strategy[Answer] = st.builds(
    failure,
    st.sampled_from([200, 302, 400, 429, 500]),
    st.sampled_from(
        [b"", b"<html>", b"{}", b"[]", b"\xff", b'{"error": {"message": "\\ud800", "code": 7}}']
    )
    | values.map(lambda value: json.dumps(value).encode()),
) | st.sampled_from([httpx.ConnectError("refused"), httpx.ReadTimeout("slow")])


@dataclass(frozen=True)
class Case:
    """A run to be made."""

    way: Way
    answers: list[Answer]
    returned: Any
    prompt: str
    content: Content
    messages: Messages
    options: ToolOptions
    configuration: Configuration


cases: Strategy[Case] = st.builds(
    Case,
    way=st.sampled_from(WAYS),
    answers=st.builds(
        lambda first, last: [*first, last],
        st.lists(asked, max_size=3),
        said | texts | failures | asked,
    ),
    returned=values | st.sampled_from([{"result": "x"}, {"error": "no"}, "x" * 50_001, object()]),
    prompt=texts,
    content=st.sampled_from(["off", "metadata", "full"]),
    messages=st.sampled_from(["new", "full"]),
    options=st.builds(
        ToolOptions,
        max_rounds=st.none() | st.integers(1, 3),
        max_tool_calls=st.none() | st.integers(0, 3),
        parallel=st.integers(1, 3),
        capture_raw=st.booleans(),
        user_id=st.none() | texts,
        metadata=st.dictionaries(st.sampled_from(["team", "\ud800"]), texts, max_size=1),
        parameters=st.builds(
            Parameters,
            temperature=st.none() | st.sampled_from([0, 1, 0.5]),
            seed=st.none() | st.just(2**70),
            stop_sequences=st.none() | st.just(("a", "\ud800")),
            extra=st.just({}) | st.just({"seed": 1, "top_logprobs": [1]}),
        ),
    ),
    configuration=st.builds(
        Configuration,
        name=st.none() | texts,
        description=st.none() | texts,
        system_prompt=texts,
        context_window=st.none() | st.just(100),
    ),
)


def tools(returned: Any) -> list[Tool]:
    @tool
    def give(n: int = 0) -> Any:
        """Give what the case says."""
        return returned

    @tool
    async def give_later(n: int = 0) -> Any:
        """Give what the case says."""
        return returned

    @tool
    def fail() -> None:
        """Fail."""
        raise ValueError("\ud800")

    @tool
    async def fail_later() -> None:
        """Fail."""
        raise ValueError("no")

    return [give, give_later, fail, fail_later]


def made(case: Case, captured: Captured) -> RunResult:
    """Make the run of a case; an error has its result too."""
    loop = loop_of(
        ScriptedModel([*case.answers, *["That is all."] * 4]),
        tools(case.returned),
        captured,
        configuration=case.configuration,
        content=case.content,
        messages=case.messages,
        retry=RetryPolicy(attempts=2, base_delay=0.0, max_delay=0.0),
    )
    try:
        return case.way(loop, case.prompt, options=case.options)
    except LoopspanError as error:
        result: RunResult = error.result
        return result
