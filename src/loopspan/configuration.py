"""How a run is to be done: the named configuration, the options of one run, what is put over it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from loopspan.errors import ConfigurationError
from loopspan.messages import Parameters, ToolChoice
from loopspan.telemetry.content import Content, content_mode
from loopspan.tools import Actor

_RUN_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
DEFAULT_MAX_ROUNDS = 5
MAX_ROUNDS_CEILING = 20


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may use up; checked before every call, so the call that passes it is the last."""

    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("tokens", "usd", "seconds"):
            value = getattr(self, name)
            # Not `value < 0`: no comparison with NaN holds, so it would be no limit at all.
            if value is not None and not value >= 0:
                raise ConfigurationError(f"budget.{name} is {value!r}; give 0 or more, or None")


@dataclass(frozen=True, slots=True)
class Configuration:
    """A named description of an agent.

    `model` is `provider:model`; `tools` is an allow-list (`None`: every enabled tool); skills and
    snippets are named by their identifiers in the loop's library. `context_window` is in tokens,
    for models that the price table does not know. `content` says what spans of its runs may carry
    (`None` leaves it to the loop); arguments and results of `unrecorded_tools` are in no record.
    """

    name: str | None = None
    model: str | None = None
    description: str | None = None
    system_prompt: str = ""
    parameters: Parameters = Parameters()
    skills: tuple[str, ...] = ()
    snippets: tuple[str, ...] = ()
    snippet_tags: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    max_rounds: int = DEFAULT_MAX_ROUNDS
    budget: Budget = Budget()
    context_window: int | None = None
    content: Content | None = None
    unrecorded_tools: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_max_rounds(self.max_rounds)
        _check_recording(self.content, self.unrecorded_tools)
        if self.context_window is not None and self.context_window < 1:
            raise ConfigurationError(f"context_window is {self.context_window!r}; give tokens")


@dataclass(frozen=True, slots=True)
class RunAugmentation:
    """What is put over a configuration for one run.

    `system_prompt` wins over its own; skills and snippets, named as there, are added to its own.
    """

    system_prompt: str | None = None
    skills: tuple[str, ...] = ()
    snippets: tuple[str, ...] = ()
    snippet_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """The options of one run; `None` leaves it to the configuration.

    `allow` is the caller's allow-list: `None` = every enabled tool, `()` = none. `parallel` is how
    many tools run side by side, `max_tool_calls` how many calls a run may make in all,
    `tool_timeout` the seconds a tool may take that has no timeout of its own; what may wait for
    others should have one. A tool with a timeout runs in a thread of its own, as do several that
    run side by side and all plain tools of `arun`; a single one without runs in the thread of
    the caller. A `tool_choice` of `required` or of a tool's name holds for the first
    `forced_rounds` rounds: a model that must call a tool each time never comes to an answer.
    `unrecorded_tools` are kept out of all records as well as those of the configuration.
    """

    allow: tuple[str, ...] | None = None
    max_rounds: int | None = None
    budget: Budget | None = None
    max_tool_calls: int | None = None
    parallel: int = 8
    tool_timeout: float | None = None
    tool_choice: ToolChoice | None = None
    forced_rounds: int = 1
    parameters: Parameters = Parameters()
    actor: Actor | None = None
    content: Content | None = None
    unrecorded_tools: tuple[str, ...] = ()
    capture_raw: bool = False
    conversation_id: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    run_id: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.allow, str):
            raise ConfigurationError(f"allow is the text {self.allow!r}; give a tuple of names")
        _check_recording(self.content, self.unrecorded_tools)
        if self.max_rounds is not None:
            check_max_rounds(self.max_rounds)
        if self.run_id is not None and not _RUN_ID.fullmatch(self.run_id):
            raise ConfigurationError(
                f"run_id is {self.run_id!r}; give 1 to 64 letters, digits, '_', '-' and '.'"
            )
        if self.parallel < 1:
            raise ConfigurationError(f"parallel is {self.parallel!r}; give 1 or more")
        if self.forced_rounds < 1:
            raise ConfigurationError(f"forced_rounds is {self.forced_rounds!r}; give 1 or more")
        if self.max_tool_calls is not None and self.max_tool_calls < 0:
            raise ConfigurationError(f"max_tool_calls is {self.max_tool_calls!r}; give 0 or more")
        if self.tool_timeout is not None and self.tool_timeout <= 0:
            raise ConfigurationError(f"tool_timeout is {self.tool_timeout!r}; give seconds above 0")

    def with_capture_raw(self) -> Self:
        """Return these options with raw bodies kept as span events."""
        return replace(self, capture_raw=True)


def _check_recording(content: str | None, unrecorded_tools: object) -> None:
    if content is not None:
        content_mode(content)
    if isinstance(unrecorded_tools, str):
        raise ConfigurationError(
            f"unrecorded_tools is the text {unrecorded_tools!r}; give a tuple of names"
        )


def check_max_rounds(value: int) -> None:
    """Raise `ConfigurationError` unless the bound is one that a loop may have."""
    if not 1 <= value <= MAX_ROUNDS_CEILING:
        raise ConfigurationError(
            f"max_rounds is {value!r}; give a number from 1 to {MAX_ROUNDS_CEILING}"
        )
