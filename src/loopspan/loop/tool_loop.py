"""The tool loop: ask the model, run the tools it asks for, ask again, leave a trace."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import httpx
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from loopspan.configuration import Configuration, RunAugmentation, ToolOptions
from loopspan.environment import capture_content
from loopspan.environment import compat as read_compat
from loopspan.errors import ConfigurationError
from loopspan.loop.exchange import RetryPolicy
from loopspan.loop.plan import Plan
from loopspan.loop.result import RunResult
from loopspan.loop.rounds import Rounds
from loopspan.loop.streams import AsyncRunStream, RunStream
from loopspan.loop.tool_calls import Offer
from loopspan.messages import Price
from loopspan.prompts import Library, Prompt, assemble
from loopspan.providers.connect import connect
from loopspan.providers.model import Model
from loopspan.secrets import Secret
from loopspan.telemetry.content import Content, content_mode
from loopspan.telemetry.spans import Messages, SpanSettings, get_instruments, get_tracer
from loopspan.tools import Tool, ToolRegistry

T = TypeVar("T")


class ToolLoop:
    """A model, tools and a configuration, ready to run.

    `model` is `provider:model` or a `Model`, else the configuration's. `library` has the skills and
    snippets that configurations and runs name; `prices`, by `provider:model`, win over the price
    table. `tracer_provider` is where the spans go and `meter_provider` where the metrics go, else
    the global ones; they are never replaced. `content` says what spans may carry:
    `off`, `metadata`, `full`, else what the environment says, else `off`; configuration and
    options win over it. `messages="full"` writes the whole dialogue on each round; `compat` adds
    older attribute names. An instrumentation of HTTP that is active may make a span of its own
    below each `chat`, and tell the provider the trace; `http_spans=False` keeps it from both.
    `client` and `async_client` are used as they are and stay open; without them each run has its
    own.
    """

    def __init__(
        self,
        model: str | Model | None = None,
        tools: ToolRegistry | Iterable[Tool | Callable[..., Any]] = (),
        *,
        configuration: Configuration | None = None,
        library: Library | None = None,
        prices: Mapping[str, Price] | None = None,
        base_url: str | None = None,
        key: str | Secret | None = None,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        content: Content | None = None,
        messages: Messages = "new",
        compat: bool | None = None,
        retry: RetryPolicy | None = None,
        http_spans: bool = True,
        client: httpx.Client | None = None,
        async_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Raises `ConfigurationError` for a model that is unknown or has no key."""
        self.configuration = configuration or Configuration()
        spec = model or self.configuration.model
        if spec is None:
            raise ConfigurationError("no model given; pass 'provider:model', such as 'demo:'")
        self.library = library or Library()
        self.model = spec if isinstance(spec, Model) else connect(spec, base_url=base_url, key=key)
        self._endpoint = self.model.endpoint((prices or {}).get(self.model.spec))
        self.tools = tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools)
        self.content: Content = content_mode(content or capture_content() or "off")
        self._messages: Messages = messages
        self._compat = read_compat() if compat is None else compat
        self._tracer_provider = tracer_provider
        self._meter_provider = meter_provider
        self._retry = retry or RetryPolicy()
        self._http_spans = http_spans
        self._client = client
        self._async_client = async_client

    def run(
        self,
        prompt: Prompt,
        *,
        options: ToolOptions | None = None,
        augmentation: RunAugmentation | None = None,
        dry_run: bool = False,
    ) -> RunResult:
        """Run to the end and return what came out; raises `ProviderError` where the model fails.

        An error carries what the run had reached as `error.result`. With `dry_run` the prompt is
        assembled and recorded, and nothing is sent.
        """
        rounds = self._rounds(prompt, options, augmentation, stream=False, dry_run=dry_run)
        with RunStream(rounds, self._client) as stream:
            return stream.drain()

    async def arun(
        self,
        prompt: Prompt,
        *,
        options: ToolOptions | None = None,
        augmentation: RunAugmentation | None = None,
        dry_run: bool = False,
    ) -> RunResult:
        """Do what `run` does, awaited."""
        rounds = self._rounds(prompt, options, augmentation, stream=False, dry_run=dry_run)
        async with AsyncRunStream(rounds, self._async_client) as stream:
            return await stream.drain()

    def stream(
        self,
        prompt: Prompt,
        *,
        options: ToolOptions | None = None,
        augmentation: RunAugmentation | None = None,
        dry_run: bool = False,
    ) -> RunStream:
        """Return the run as a context manager that yields events as they happen.

        Its `result` is there when the events are over. Leaving it before ends the run as
        `abandoned`.
        """
        rounds = self._rounds(prompt, options, augmentation, stream=True, dry_run=dry_run)
        return RunStream(rounds, self._client)

    def astream(
        self,
        prompt: Prompt,
        *,
        options: ToolOptions | None = None,
        augmentation: RunAugmentation | None = None,
        dry_run: bool = False,
    ) -> AsyncRunStream:
        """Do what `stream` does, as an async context manager."""
        rounds = self._rounds(prompt, options, augmentation, stream=True, dry_run=dry_run)
        return AsyncRunStream(rounds, self._async_client)

    def _rounds(
        self,
        prompt: Prompt,
        options: ToolOptions | None,
        augmentation: RunAugmentation | None,
        *,
        stream: bool,
        dry_run: bool,
    ) -> Rounds:
        configuration = self.configuration
        options = options or ToolOptions()
        tools = self.tools.snapshot()
        assembled = assemble(configuration, augmentation, prompt, self.library)
        lists = {
            "configuration": configuration.tools,
            "skills": assembled.allowed_tools,
            "options": options.allow,
        }
        plan = Plan(
            model=self.model,
            configuration=configuration,
            options=options,
            assembled=assembled,
            offer=Offer(tools, lists, options),
            offered=tuple(t.definition for t in tools.offered(lists, options.actor)),
            parameters=options.parameters.over(configuration.parameters),
            retry=self._retry,
            stream=stream,
            dry_run=dry_run,
            endpoint=self._endpoint,
            http_spans=self._http_spans,
        )
        settings = SpanSettings(
            get_tracer(self._tracer_provider),
            options.content or configuration.content or self.content,
            self._messages,
            options.capture_raw,
            self._compat,
            plan.unrecorded(),
            plan.shared_attributes(options.run_id or uuid.uuid4().hex),
            get_instruments(self._meter_provider),
        )
        return Rounds(plan, settings)
