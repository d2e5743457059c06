"""What `loopspan check` finds out without asking any model."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points, version

from opentelemetry.sdk.environment_variables import OTEL_SDK_DISABLED

from loopspan.cli.endpoint import unreachable, without_login
from loopspan.environment import (
    CAPTURE_CONTENT,
    STANDARD_CAPTURE_CONTENT,
    capture_content,
    variable,
)
from loopspan.errors import ConfigurationError
from loopspan.providers.connect import BUILT_IN, GROUP, adapter
from loopspan.telemetry.export.settings import endpoint, protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFact:
    """A provider: `answers` says whether a server listens at an address that needs no key.

    `missing` is what has to be installed before it can be used.
    """

    name: str
    key_variable: str | None = None
    key_set: bool = False
    base_url: str | None = None
    answers: bool | None = None
    missing: str | None = None
    probe: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Another part of the setup; `problem` is what does not work though it is configured."""

    name: str
    value: str
    problem: str | None = None


def providers() -> tuple[ProviderFact, ...]:
    """Return what is known of each provider, those of other packages after the built-in ones."""
    offered = (point.name for point in entry_points(group=GROUP))
    return tuple(_provider(name) for name in dict.fromkeys((*BUILT_IN, *offered)))


def facts() -> tuple[Fact, ...]:
    """Return what is known of the rest."""
    return (_prices(), _content(), _tracing(), _exporter())


def _provider(name: str) -> ProviderFact:
    try:
        found = adapter(name)
        if (missing := found.missing()) is not None:
            return ProviderFact(name=name, missing=missing)
        if found.default_model:  # it brings its own server
            return ProviderFact(name=name, base_url=found.base_url, answers=True)
        base_url = found.address(variable)
    except Exception as error:  # noqa: BLE001  # whatever an adapter of another package raises
        return ProviderFact(name=name, problem=f"{type(error).__name__}: {error}")
    if found.key_variable is not None:
        is_set = variable(found.key_variable) is not None
        return ProviderFact(
            name=name, key_variable=found.key_variable, key_set=is_set, base_url=base_url
        )
    why = unreachable(base_url)
    configured = base_url != found.base_url
    return ProviderFact(
        name=name,
        base_url=base_url,
        answers=why is None,
        problem=f"no server answers: {why}" if configured and why else None,
    )


def _prices() -> Fact:
    try:
        # The table is large and brings an HTTP client of its own.
        from genai_prices import Usage, calc_price

        calc_price(Usage(input_tokens=1, output_tokens=1), "gpt-4o", provider_id="openai")
    except Exception as error:  # noqa: BLE001  # a damaged table, whatever it raises
        return Fact(name="prices", value="unknown", problem=f"genai-prices fails: {error!r}")
    return Fact(name="prices", value=f"table of genai-prices {version('genai-prices')}")


def _content() -> Fact:
    try:
        mode = capture_content()
    except ConfigurationError as error:
        return Fact(name="content", value="unknown", problem=f"{CAPTURE_CONTENT}: {error}")
    if mode is None:
        return Fact(name="content", value="off, by default")
    source = CAPTURE_CONTENT if variable(CAPTURE_CONTENT) else STANDARD_CAPTURE_CONTENT
    return Fact(name="content", value=f"{mode}, by {source}")


def _tracing() -> Fact:
    if (variable(OTEL_SDK_DISABLED) or "").strip().lower() == "true":
        return Fact(name="tracing", value="off", problem="OTEL_SDK_DISABLED is true; unset it")
    return Fact(name="tracing", value="on")


def _exporter() -> Fact:
    kind, spoken = variable("OTEL_TRACES_EXPORTER") or "otlp", protocol()
    if kind in ("none", "console"):
        return Fact(name="exporter", value=f"{kind}, by OTEL_TRACES_EXPORTER")
    if kind != "otlp" or spoken not in ("grpc", "http/protobuf"):
        wrong = f"{kind} over {spoken}"
        why = "loopspan exports otlp over http/protobuf or grpc; check the OTEL_* variables"
        return Fact(name="exporter", value=wrong, problem=why)
    url, configured = endpoint(spoken)
    value = f"{without_login(url)} ({spoken})"
    why_not = unreachable(url)
    if why_not is None:
        return Fact(name="exporter", value=f"{value}, reachable")
    if not configured:
        return Fact(name="exporter", value=f"{value}, by default; nothing listens there")
    return Fact(name="exporter", value=value, problem=f"it cannot be reached: {why_not}")
