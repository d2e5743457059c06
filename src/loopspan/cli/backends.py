"""The backends that a command asks: those of its options, else those of the environment."""

from __future__ import annotations

from collections.abc import Mapping

from loopspan.environment import headers, variable
from loopspan.runs.sources import JaegerSource, TempoSource
from loopspan.runs.sources.drivers import Drivers

_BACKENDS: Mapping[str, type[JaegerSource | TempoSource]] = {
    "jaeger": JaegerSource,
    "tempo": TempoSource,
}


def backends(
    jaeger: str | None = None, tempo: str | None = None
) -> list[JaegerSource | TempoSource]:
    """Return the backends of these addresses; without any, those that the environment names.

    Headers come from the environment alone: a key has no place among the arguments of a process.
    Raises `ConfigurationError` for an address or headers that cannot be.
    """
    named = {"jaeger": jaeger, "tempo": tempo}
    if jaeger is None and tempo is None:
        named = {name: variable(f"LOOPSPAN_{name.upper()}_URL") for name in named}
    return [
        _BACKENDS[name](url, Drivers(headers=headers(f"LOOPSPAN_{name.upper()}_HEADERS")))
        for name, url in named.items()
        if url is not None
    ]
