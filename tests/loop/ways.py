"""The four ways to make a run, for tests of what they have in common."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import pytest

from loopspan import RunAugmentation, RunResult, Tool, ToolLoop, ToolOptions
from loopspan.prompts import Prompt
from loopspan.testing import Captured, ScriptedModel


class Way(Protocol):
    """A way to make a run to its end."""

    __name__: str

    def __call__(
        self,
        loop: ToolLoop,
        prompt: Prompt = "Go on.",
        *,
        options: ToolOptions | None = None,
        augmentation: RunAugmentation | None = None,
    ) -> RunResult:
        """Run the loop."""
        ...


def plain(loop: ToolLoop, prompt: Prompt = "Go on.", **given: Any) -> RunResult:
    return loop.run(prompt, **given)


def awaited(loop: ToolLoop, prompt: Prompt = "Go on.", **given: Any) -> RunResult:
    return asyncio.run(loop.arun(prompt, **given))


def streamed(loop: ToolLoop, prompt: Prompt = "Go on.", **given: Any) -> RunResult:
    with loop.stream(prompt, **given) as stream:
        return stream.drain()


def awaited_stream(loop: ToolLoop, prompt: Prompt = "Go on.", **given: Any) -> RunResult:
    async def drained() -> RunResult:
        async with loop.astream(prompt, **given) as stream:
            return await stream.drain()

    return asyncio.run(drained())


WAYS: tuple[Way, ...] = (plain, awaited, streamed, awaited_stream)

each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
each_unstreamed_way = pytest.mark.parametrize("way", WAYS[:2], ids=lambda way: way.__name__)
each_streamed_way = pytest.mark.parametrize("way", WAYS[2:], ids=lambda way: way.__name__)


def loop_of(
    model: ScriptedModel,
    tools: Iterable[Tool | Callable[..., Any]] = (),
    captured: Captured | None = None,
    **settings: Any,
) -> ToolLoop:
    """A loop over a scripted model, traced where something captures it."""
    if captured is not None:
        settings["tracer_provider"] = captured.provider
    return ToolLoop(
        model.model, tools, client=model.client, async_client=model.async_client, **settings
    )
