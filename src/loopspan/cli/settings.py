"""What `loopspan run` was asked to do, checked."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from loopspan.builtin import builtin_tools
from loopspan.catalogue import Catalogue
from loopspan.configuration import RunAugmentation, ToolOptions, check_max_rounds
from loopspan.errors import ConfigurationError
from loopspan.messages import Parameters
from loopspan.tools import Actor, ToolRegistry

DEFAULT_CATALOGUE = Path("loopspan.toml")

TOOL_TIMEOUT = 60.0
"""Seconds that a tool may take which has no timeout of its own."""

ADMIN = Actor(is_admin=True)
"""Who sits at the terminal may do there what any tool may do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The arguments of `loopspan run`."""

    prompt: str
    model: str | None = None
    config: str | None = None
    catalogue: Path | None = None
    skills: tuple[str, ...] = ()
    snippets: tuple[str, ...] = ()
    base_url: str | None = None
    tools: tuple[str, ...] = ()
    no_tools: bool = False
    allow: tuple[str, ...] | None = None
    system: str | None = None
    max_rounds: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    dry_run: bool = False
    stream: bool = False
    capture_content: bool = False
    capture_raw: bool = False
    export: bool = False
    json: bool = False

    def __post_init__(self) -> None:
        if not self.prompt.strip():
            raise ConfigurationError("the prompt is empty; give the text to send to the model")
        if self.no_tools and (self.tools or self.allow is not None):
            raise ConfigurationError("--no-tools excludes --tools and --allow; leave one out")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ConfigurationError(f"--max-tokens is {self.max_tokens}; give 1 or more")
        if self.max_rounds is not None:
            check_max_rounds(self.max_rounds)

    def options(self) -> ToolOptions:
        """Return the options of the run."""
        return ToolOptions(
            allow=() if self.no_tools else self.allow,
            max_rounds=self.max_rounds,
            tool_timeout=TOOL_TIMEOUT,
            parameters=Parameters(temperature=self.temperature, max_tokens=self.max_tokens),
            actor=ADMIN,
            capture_raw=self.capture_raw,
        )

    def augmentation(self) -> RunAugmentation | None:
        """Return what is put over the configuration."""
        if self.system is None and not self.skills and not self.snippets:
            return None
        return RunAugmentation(self.system, self.skills, self.snippets)

    def open_catalogue(self) -> Catalogue | None:
        """Return the catalogue of the run; raises `ConfigurationError` where one is missing."""
        asked = self.config or self.skills or self.snippets
        if not asked and self.catalogue is None:
            return None
        found = open_catalogue(self.catalogue)
        if self.config is not None:
            found.configuration(self.config)
        found.check_has(skills=self.skills, snippets=self.snippets)
        return found


def open_catalogue(path: Path | None) -> Catalogue:
    """Return this catalogue, else the one of the current folder."""
    if path is None and not DEFAULT_CATALOGUE.exists():
        raise ConfigurationError(
            f"there is no {DEFAULT_CATALOGUE} in this folder; name a catalogue with --catalogue"
        )
    return Catalogue.load(path or DEFAULT_CATALOGUE)


def tools_of(settings: RunSettings, catalogue: Catalogue | None) -> ToolRegistry:
    """Return the tools of the run: those of the named modules, else the catalogue's or built-in.

    Raises `ConfigurationError` for a module without tools, and for an allowed tool that would
    not be offered.
    """
    if settings.no_tools:
        return ToolRegistry()
    if settings.tools:
        look_here_too()
        registry = ToolRegistry.from_modules(settings.tools)
    elif catalogue is not None:
        registry = catalogue.tools()
        if settings.config is not None:
            catalogue.check_tools(registry, settings.config)
    else:
        registry = ToolRegistry(builtin_tools())
    offered = [tool.name for tool in registry.offered(actor=ADMIN)]
    for name in settings.allow or ():
        if name not in offered:
            state = "is disabled" if name in registry else "does not exist"
            known = ", ".join(offered) or "none"
            raise ConfigurationError(f"--allow: the tool {name!r} {state}; there are: {known}")
    return registry


def look_here_too() -> None:
    """Let modules of the current folder be found, after all that is installed."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
