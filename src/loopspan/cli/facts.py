"""What `loopspan check` finds out without sending anything to a model."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points, version

from loopspan.cli.endpoint import exporter_endpoint, unreachable, without_login
from loopspan.environment import (
    CAPTURE_CONTENT,
    STANDARD_CAPTURE_CONTENT,
    capture_content,
    variable,
)
from loopspan.errors import ConfigurationError
from loopspan.messages import Usage, Reply
from loopspan.providers.connect import BUILT_IN, GROUP, adapter


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFact:
    """A provider: `answers` says whether a server listens at an address that needs no key."""

    name: str
    key_variable: str | None = None
    key_set: bool = False
    base_url: str | None = None
    answers: bool | None = None
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
