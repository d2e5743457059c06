"""One tiny request to each provider that can be asked, through the loop's own exchange."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx
from opentelemetry.trace import NoOpTracerProvider

from loopspan.cli.facts import ProviderFact
from loopspan.cli.stderr import masked
from loopspan.configuration import ToolOptions
from loopspan.errors import ConfigurationError, LoopspanError
from loopspan.loop import RetryPolicy, ToolLoop
from loopspan.messages import Parameters
from loopspan.providers.connect import adapter
from loopspan.runs.text.figures import duration

MODELS: Mapping[str, str] = {
    "openai": "gpt-4.1-nano",
    "openai-responses": "gpt-4.1-nano",
    "anthropic": "claude-haiku-4-5",
    "gemini": "gemini-2.5-flash-lite",
    "groq": "llama-3.1-8b-instant",
    "mistral": "mistral-small-latest",
    "openrouter": "openai/gpt-4.1-nano",
}
"""A small model of each provider; providers retire models, so each can be named otherwise."""

MAX_TOKENS = 16
"""https://platform.openai.com/docs/api-reference/responses/create takes no fewer."""

_PATIENCE = 30.0


async def probe_all(
    found: Sequence[ProviderFact], models: Sequence[str]
) -> tuple[ProviderFact, ...]:
    """Ask each provider that has a key, or whose own server answers, and add what it said.

    `models` are used instead of the usual ones; a provider that they name is asked in any case.
    """
    named = dict(_named(model) for model in models)
    for name in named:
        if name not in {each.name for each in found}:
            adapter(name)  # says which ones there are
    asked = (_probed(fact, named.get(fact.name)) for fact in found)
    return tuple(await asyncio.gather(*asked))


def _named(model: str) -> tuple[str, str]:
    provider, colon, name = model.partition(":")
    if not colon:
        raise ConfigurationError(f"--model {model!r} has no provider; write 'provider:model'")
    return provider, name


async def _probed(fact: ProviderFact, model: str | None) -> ProviderFact:
    if fact.problem is not None or not (model or fact.key_set or fact.answers):
        return fact
    try:
        name = model or await _usual(fact)
        said = await _ask(f"{fact.name}:{name}")
    except LoopspanError as error:
        return replace(fact, problem=masked(str(error)))
    return replace(fact, probe=said)


async def _ask(spec: str) -> str:
    started = time.monotonic()
    async with httpx.AsyncClient(timeout=httpx.Timeout(_PATIENCE)) as client:
        loop = ToolLoop(
            spec,
            tracer_provider=NoOpTracerProvider(),
            content="off",
            retry=RetryPolicy(attempts=1),
            async_client=client,
        )
        options = ToolOptions(max_rounds=1, parameters=Parameters(max_tokens=MAX_TOKENS))
        result = await loop.arun("Say ok.", options=options)
    if result.error is not None:
        raise result.error
    return f"ok after {duration((time.monotonic() - started) * 1000)} ({loop.model.spec})"


async def _usual(fact: ProviderFact) -> str:
    usual = MODELS.get(fact.name) or adapter(fact.name).default_model
    if usual:
        return usual
    if fact.key_variable is None and fact.base_url is not None:
        return await _smallest(fact.name, fact.base_url)
    raise ConfigurationError(f"no usual model is known; name one with --model {fact.name}:MODEL")


async def _smallest(name: str, base_url: str) -> str:
    """Return the smallest model of a server: https://docs.ollama.com/api/tags."""
    try:
        async with httpx.AsyncClient(timeout=_PATIENCE) as client:
            answer = await client.get(f"{base_url.rstrip('/')}/api/tags")
        models: list[dict[str, Any]] = answer.raise_for_status().json()["models"]
        chats = [each for each in models if "bert" not in str(each.get("details"))]
        sizes = sorted((int(each.get("size") or 0), str(each["name"])) for each in chats)
    except (httpx.HTTPError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise ConfigurationError(
            f"the server does not list its models ({error}); name one with --model {name}:MODEL"
        ) from error
    if not sizes:
        raise ConfigurationError("the server has no model; get one with `ollama pull MODEL`")
    return sizes[0][1]
