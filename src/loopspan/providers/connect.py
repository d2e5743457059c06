"""From `provider:model` to a `Model`: the adapter, its address, the key of the environment."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import entry_points
from pkgutil import resolve_name

from loopspan.environment import variable
from loopspan.errors import ConfigurationError
from loopspan.providers.adapter import Adapter
from loopspan.providers.model import Model
from loopspan.secrets import Secret

GROUP = "loopspan.providers"
"""The entry points under which other packages offer adapters of their own."""

BUILT_IN: Mapping[str, str] = {
    "openai": "loopspan.providers.openai:OpenAI",
    "openai-responses": "loopspan.providers.openai_responses:OpenAIResponses",
    "anthropic": "loopspan.providers.anthropic:Anthropic",
    "gemini": "loopspan.providers.gemini:Gemini",
    "groq": "loopspan.providers.groq:Groq",
    "mistral": "loopspan.providers.mistral:Mistral",
    "ollama": "loopspan.providers.ollama:Ollama",
    "openrouter": "loopspan.providers.openrouter:OpenRouter",
    "demo": "loopspan.demo:Demo",
    "local": "loopspan.local:Local",
}
"""Where the adapters are; one is imported when it is asked for."""


@lru_cache
def adapter(name: str) -> Adapter:
    """Return the adapter of this name; raises `ConfigurationError` where there is none."""
    if name in BUILT_IN:
        made: Adapter = resolve_name(BUILT_IN[name])()
        return made
    offered = {point.name: point for point in entry_points(group=GROUP)}
    if name in offered:
        other: Adapter = offered[name].load()()
        return other
    names = ", ".join(sorted({*BUILT_IN, *offered}))
    raise ConfigurationError(f"provider {name!r} is unknown; known are {names}")


def connect(spec: str, *, base_url: str | None = None, key: str | Secret | None = None) -> Model:
    """Return the model of `provider:model`.

    The address is the argument, else what the provider's variable says, else its own; the key is
    the argument, else the provider's variable. Raises `ConfigurationError` for an unknown
    provider, a missing model name, and for a missing key unless `base_url` is given.
    """
    provider, colon, name = spec.partition(":")
    if not colon:
        raise ConfigurationError(f"model {spec!r} has no provider; write 'provider:model'")
    found = adapter(provider)
    if isinstance(key, str):
        key = Secret(key)
    if key is None and found.key_variable is not None:
        value = variable(found.key_variable)
        key = Secret(value) if value else None
        if key is None and base_url is None:
            raise ConfigurationError(
                f"no key for {provider}: set {found.key_variable} in the environment"
            )
    return Model(found, name or found.default_model, base_url or found.address(variable), key)
