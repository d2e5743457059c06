"""Recorded traffic of real services, played to the whole loop over loopback HTTP."""

import itertools
import re
from collections.abc import Iterator

import pytest

from loopspan import LoopspanError, RetryPolicy, ToolLoop, ToolOptions, connect, tool
from loopspan.runs import ChatStep, Run
from loopspan.testing import capture
from tests.corpus import CORPUS, Exchange, Expected, exchanges
from tests.servers import Answer, Played, playing

FOLDERS = ("anthropic", "gemini", "groq", "mistral", "ollama", "openai", "openrouter")

DIFFERENT: dict[str, tuple[dict[str, object], str]] = {
    "anthropic/rig-streaming-gateway-message-delta-metadata.json": (
        {"reasoning": 0},
        "the gateway reports a zero in the last event, which the index does not read",
    ),
    "gemini/lcgo-testdata-googleaicall.json": (
        {"finish": "1"},
        "an enum as a number, told as text",
    ),
    "gemini/vertex-pydai-google-model-armor-prompt-template-text-gets-blocked.json": (
        {"finish": "MODEL_ARMOR"},
        "the index writes where the word stood before it",
    ),
    "ollama/rig-native-inline-think-whole.json": (
        {"cached": 22},
        "the index does not read the field of newer servers",
    ),
    "openrouter/rig-tool-truncation-contract-matrix-streaming-gpt4o-low-model.json": (
        {"finish": "length"},
        "the upstream word, where OpenRouter's own hides that the calls were cut",
    ),
}
"""What a step shows otherwise than the index, a file each, and why."""


def files() -> Iterator[list[Exchange]]:
    for folder in FOLDERS:
        by_file = itertools.groupby(exchanges(folder), key=lambda e: e.id.partition("#")[0])
        yield from (list(group) for _, group in by_file)


FILES = list(files())
IDS = [file[0].id.partition("#")[0] for file in FILES]


@pytest.mark.skipif(not FILES, reason=f"there are no recordings in {CORPUS}")
@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_chat_steps_show_what_was_recorded(file: list[Exchange]) -> None:
    answers = [answer(exchange) for exchange in file]
    with capture() as captured, playing(answers) as played:
        provider = file[0].id.partition("/")[0]
        model = connect(f"{provider}:recorded", base_url=played.url, key="made-up")
        loop = ToolLoop(
            model,
            [unused],
            tracer_provider=captured.provider,
            content="full",
            retry=RetryPolicy(attempts=1),
        )
        play(loop, played, file)
        runs = captured.run_trace.runs()

    steps = [step for run in runs for step in run.steps if isinstance(step, ChatStep)]
    assert len(steps) >= len(file)
    for exchange, step in zip(file, steps, strict=False):
        assert shown(step, exchange) == expected(provider, exchange)
    for run in runs:
        assert totals(run) == sums(run)


@tool
def unused() -> str:
    """Never asked for, but it makes the loop go on with the tools that are."""
    return ""


def play(loop: ToolLoop, played: Played, file: list[Exchange]) -> None:
    """Run the loop until each answer has been given; those that call tools go on by themselves."""
    streamed = any(exchange.streamed for exchange in file)
    while played.given < len(file):
        try:
            if streamed:
                with loop.stream("Go on.", options=ToolOptions(max_rounds=20)) as stream:
                    stream.drain()
            else:
                loop.run("Go on.", options=ToolOptions(max_rounds=20))
        except LoopspanError:
            continue


def answer(exchange: Exchange) -> Answer:
    kind = exchange.headers.get("content-type") or (
        "text/event-stream" if isinstance(exchange.response, str) else "application/json"
    )
    return Answer(exchange.status, kind, exchange.data)


def shown(step: ChatStep, exchange: Exchange) -> dict[str, object]:
    if exchange.expected.error:
        return {"error": step.error is not None}
    assert step.tool_calls is not None
    usage = step.usage
    return {
        "error": step.error is not None,
        "model": step.response_model,
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cached": usage.cache_read_input_tokens,
        "reasoning": usage.reasoning_output_tokens,
        "finish": step.finish_reason_raw,
        "calls": [call.name for call in step.tool_calls],
    }


def expected(provider: str, exchange: Exchange) -> dict[str, object]:
    told = exchange.expected
    if told.error:
        return {"error": True}
    different, _ = DIFFERENT.get(exchange.id.partition("#")[0], ({}, ""))
    return {
        "error": False,
        "model": told.model,
        "input": input_tokens(provider, exchange),
        "output": output_tokens(provider, told),
        "cached": told.cached_tokens,
        "reasoning": told.reasoning_tokens,
        "finish": told.finish,
        "calls": told.tool_names,
        **different,
    }


def input_tokens(provider: str, exchange: Exchange) -> int | None:
    """The index has the provider's own numbers.

    Anthropic's leave out what was cached, Gemini's what its own tools read.
    """
    told = exchange.expected
    if told.input_tokens is None:
        return None
    if provider == "anthropic":
        return told.input_tokens + (told.cached_tokens or 0) + (told.cache_write_tokens or 0)
    if provider == "gemini":
        read_by_tools = re.findall(rb'"toolUsePromptTokenCount": ?(\d+)', exchange.data)
        return told.input_tokens + int(read_by_tools[-1] if read_by_tools else 0)
    return told.input_tokens


def output_tokens(provider: str, told: Expected) -> int | None:
    """The index has the provider's own numbers; Gemini's leave out the thoughts."""
    if provider != "gemini" or (told.output_tokens is None and told.reasoning_tokens is None):
        return told.output_tokens
    return (told.output_tokens or 0) + (told.reasoning_tokens or 0)


def totals(run: Run) -> tuple[object, ...]:
    usage = run.usage
    return run.rounds, usage.input_tokens, usage.output_tokens, usage.reasoning_output_tokens


def sums(run: Run) -> tuple[object, ...]:
    chats = [step for step in run.steps if isinstance(step, ChatStep)]

    def total(name: str) -> int | None:
        known = [v for chat in chats if (v := getattr(chat.usage, name)) is not None]
        return sum(known) if known else None

    names = ("input_tokens", "output_tokens", "reasoning_output_tokens")
    return (len(chats), *(total(name) for name in names))
