"""`loopspan playground`: the page, served on this machine."""

from __future__ import annotations

import socket
import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import httpx

from loopspan.catalogue import Catalogue, CatalogueFile
from loopspan.cli.backends import backends
from loopspan.cli.settings import DEFAULT_CATALOGUE, look_here_too
from loopspan.cli.stderr import say, tools_print_elsewhere
from loopspan.configuration import Configuration
from loopspan.environment import capture_content, variable
from loopspan.errors import ConfigurationError
from loopspan.local import start as start_local
from loopspan.messages import Parameters
from loopspan.prompts import Library
from loopspan.providers.connect import adapter
from loopspan.runs import RunTrace
from loopspan.telemetry.setup import export_metrics, exporting_processor
from loopspan.tools import ToolRegistry

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

    from loopspan.playground import Playground, Principal

PORT = 8600
PATIENCE = 1.0
"""How long a server of Ollama on this machine may take to say which models it has; in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaygroundSettings:
    """The arguments of `loopspan playground`."""

    catalogue: Path | None = None
    tools: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = PORT
    allowed_hosts: tuple[str, ...] = ()
    jaeger: str | None = None
    tempo: str | None = None
    local_model: bool = False
    open_browser: bool = True
    prompt: str | None = None
    config: str | None = None

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and not self.allowed_hosts:
            raise ConfigurationError(
                f"--host {self.host} is reached from other machines; name the host that they use "
                "with --allowed-host NAME, or leave --host out to stay on this machine"
            )
        if not 0 <= self.port < 65536:
            raise ConfigurationError(f"--port is {self.port}; give a number from 0 to 65535")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def playground(settings: PlaygroundSettings) -> int:
    """Serve the page until somebody stops it; returns the exit code."""
    for name in ("starlette", "uvicorn"):
        try:
            import_module(name)
        except ModuleNotFoundError:
            raise ConfigurationError(
                f"the playground needs {name}, which is not installed; "
                "install it with: pip install 'loopspan[cli,playground]'"
            ) from None
    from loopspan.cli.serving import serve
    from loopspan.playground import TokenAuth, administrator, make_asgi_app, new_token

    token, admin = new_token(), administrator()
    auth = TokenAuth(token, admin)
    _export_metrics()
    with tools_print_elsewhere(), bound(settings.host, settings.port) as listening:
        app = make_asgi_app(
            catalogue_of(settings),
            RunTrace(),
            auth=auth,
            allowed_hosts=settings.allowed_hosts,
            tools=_tools(settings),
            exporter=_exporter(),
            backends=backends(settings.jaeger, settings.tempo),
        )
        url = address(settings.host, listening)

        async def announce() -> None:
            link = f"{url}#login={auth.one_time_code()}"
            if settings.prompt is not None:
                link += f"&run={await _first_run(app, settings, admin)}"
            # Standard error, as what tools print goes there too: no pipe takes these secrets along.
            say("open", link)
            say("note", f"it works once; programs send 'Authorization: Bearer {token}' to {url}")
            if settings.open_browser and has_desktop():
                webbrowser.open(link)

        return serve(app, listening, announce)


def has_desktop() -> bool:
    """Whether a browser has somewhere to open; one inside the terminal could not show the page."""
    if sys.platform in ("darwin", "win32") or variable("BROWSER"):
        return True
    return bool(variable("DISPLAY") or variable("WAYLAND_DISPLAY"))


def address(host: str, listening: socket.socket) -> str:
    """Return where the page is."""
    name = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"http://{name}:{listening.getsockname()[1]}/"


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; raises `ConfigurationError` where none can."""
    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((bare, port))
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"nothing can listen on {host}:{port} ({error.strerror}); "
            "stop what is there, or give another --port (0: any that is free)"
        ) from error
    return listening


async def _first_run(app: Playground, settings: PlaygroundSettings, who: Principal) -> str:
    """Start the run that was asked for and return its id; one that cannot work is shown, too."""
    from loopspan.playground.answers import Problem

    names = list(app.runner.catalogue.configurations)
    value = {"configuration": settings.config or names[0], "prompt": settings.prompt}
    try:
        return await app.runner.start(value, who)
    except Problem as problem:
        say("error", str(problem))
        return str(problem.content["runs"][0]["run_id"])


class WithModels:
    """A catalogue with one more configuration for each model that was found on this machine."""

    def __init__(self, catalogue: Catalogue | CatalogueFile, found: Mapping[str, Any]) -> None:
        self._catalogue, self._found = catalogue, dict(found)

    def current(self) -> Catalogue:
        """Return the catalogue as it is now."""
        own = self._catalogue
        now = own if isinstance(own, Catalogue) else own.current()
        both = {**self._found, **now.configurations}
        ordered = {name: both[name] for name in (*now.configurations, *self._found)}
        return replace(now, configurations=MappingProxyType(ordered))


def catalogue_of(settings: PlaygroundSettings) -> WithModels:
    """Return the catalogue that is named or in this folder, else one of the embedded model."""
    path = settings.catalogue
    if path is None and DEFAULT_CATALOGUE.exists():
        path = DEFAULT_CATALOGUE
    own = _BUILT_IN if path is None else CatalogueFile(path)
    found = ollama_configurations()
    if settings.local_model:
        start_local(lambda text: say("note", text))
        found["local"] = _LOCAL
    return WithModels(own, found)


_LOCAL = Configuration(
    name="local",
    model="local:",
    description="A small real model on this machine: quick, and not clever",
    parameters=Parameters(max_tokens=256),
    max_rounds=2,
)

_BUILT_IN = Catalogue(
    path=Path("the built-in catalogue"),
    configurations=MappingProxyType(
        {
            "demo": Configuration(
                name="demo", model="demo:", description="The embedded model: no account, no key"
            )
        }
    ),
    library=Library(),
    skill_sources=MappingProxyType({}),
    tool_modules=(),
    has_builtin_tools=True,
    prices=MappingProxyType({}),
)


def ollama_configurations() -> dict[str, Configuration]:
    """Return a configuration for each model of an Ollama that answers on this machine."""
    try:
        base = adapter("ollama").address(variable).rstrip("/")
        answer = httpx.get(f"{base}/api/tags", timeout=PATIENCE)
        models = [str(each["name"]) for each in answer.raise_for_status().json()["models"]]
    except (httpx.HTTPError, ConfigurationError, LookupError, TypeError, ValueError):
        return {}
    return {
        f"ollama-{name}": Configuration(name=f"ollama-{name}", model=f"ollama:{name}")
        for name in models
    }


def _tools(settings: PlaygroundSettings) -> ToolRegistry | None:
    if not settings.tools:
        return None
    look_here_too()
    return ToolRegistry.from_modules(settings.tools)


def _exporter() -> SpanProcessor | None:
    """Return where runs can be exported to, where the environment names a place."""
    if not _is_named("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        return None
    return exporting_processor(capture_content() or "off")


def _export_metrics() -> None:
    """Let the metrics of runs go where the environment names a place."""
    if _is_named("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"):
        export_metrics()


def _is_named(variable_of_signal: str) -> bool:
    return any(map(variable, ("OTEL_EXPORTER_OTLP_ENDPOINT", variable_of_signal)))
