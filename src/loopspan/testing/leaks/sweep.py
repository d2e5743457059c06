"""The sweep: marked runs through a set-up, and a search of all that leaves."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import itertools
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import httpx
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from loopspan.configuration import Configuration, RunAugmentation, ToolOptions
from loopspan.errors import ConfigurationError, LoopspanError, UnsupportedContent
from loopspan.loop import ToolLoop
from loopspan.loop.exchange import RetryPolicy
from loopspan.messages import Blob, Parameters, Part, Request, Uri, assistant, user
from loopspan.prompts import Library, Prompt, Skill, Snippet
from loopspan.prompts.skills import body_checksum
from loopspan.providers.connect import connect
from loopspan.providers.model import Model
from loopspan.telemetry.content import Content, content_mode
from loopspan.testing.leaks.exits import Exits, open_exits
from loopspan.testing.leaks.markers import Markers
from loopspan.testing.leaks.report import LeakReport
from loopspan.testing.leaks.scenes import Answer, Scenes, tools
from loopspan.testing.leaks.wires import CHAT, WIRES, Said

SetUp: TypeAlias = Callable[[Exits], Mapping[str, Any]]
"""Builds what is to be tested, sending to the exits; gives the arguments of `ToolLoop` for it."""


def unfiltered(exits: Exits) -> Mapping[str, Any]:
    """Send spans and metrics as they are: what a program without any policy of its own exports."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exits.span_exporter))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(f"{exits.endpoint}/v1/metrics"))
    meters = MeterProvider([reader], shutdown_on_exit=False)
    return {"tracer_provider": provider, "meter_provider": meters}


def leak_sweep(
    set_up: SetUp = unfiltered,
    *,
    content: Content = "off",
    may_leave: Content | None = None,
    options: ToolOptions | None = None,
    providers: Sequence[str] = tuple(WIRES),
) -> LeakReport:
    """Make runs with a marked word in every channel, and report which words left, and where.

    The channels are what people, models, tools and providers write (prompts, skills, images, tool
    descriptions, arguments, results, exceptions, thinking, answers, error bodies) and secrets
    (keys, headers). Each provider answers plain and streamed, sync and async, with tools that work
    and fail, with refusals, errors inside answers, broken bodies and connections; no network is
    used.

    `set_up` gets the `Exits` and gives arguments of `ToolLoop`: a `tracer_provider` (and a
    `meter_provider`) whose exporters end there, and whatever else is to be tested; those providers
    are flushed and shut down. `content` is what the runs record, `may_leave` what may come out of
    the exits (else the same), `options` are those of each run.

    Raises `ConfigurationError` where no span left by an exporter, since nothing was tested then,
    and for a provider of which there are no prepared answers.
    """
    unknown = [name for name in providers if name not in WIRES]
    if unknown:
        raise ConfigurationError(
            f"there are no prepared answers of {unknown[0]!r}; there are of {', '.join(WIRES)}"
        )
    markers = Markers()
    allowed = content_mode(may_leave or content)
    with open_exits(markers) as exits:
        settings = dict(set_up(exits))
        sweep = _Sweep(markers, exits, {"content": content, **settings}, options or ToolOptions())
        runs = sum(sweep.runs(provider) for provider in providers)
        _tell(settings, "shutdown")
    if not any(path.endswith("/v1/traces") for path in exits.searched):
        raise ConfigurationError(
            "no span left by exits.span_exporter or exits.endpoint, so nothing was tested; "
            "let the set-up export to one of them, and sample every run"
        )
    return LeakReport(allowed, dict(exits.findings), runs, dict(exits.searched))


def _tell(settings: Mapping[str, Any], method: str) -> None:
    """Call a method of all providers of telemetry among the arguments."""
    for each in settings.values():
        if callable(found := getattr(each, method, None)):
            found()


def _in_its_own_loop(work: Coroutine[Any, Any, None]) -> None:
    """Do async work in a thread, since whoever sweeps may run in an event loop already."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(contextvars.copy_context().run, asyncio.run, work).result()


async def _awaited(
    loop: ToolLoop, prompt: Prompt, streamed: bool, given: Mapping[str, Any]
) -> None:
    if not streamed:
        await loop.arun(prompt, **given)
        return
    async with loop.astream(prompt, **given) as stream:
        await stream.drain()


class _Sweep:
    def __init__(
        self, markers: Markers, exits: Exits, settings: Mapping[str, Any], options: ToolOptions
    ) -> None:
        self._markers = markers
        self._exits = exits
        self._settings = settings
        self._options = options

    def runs(self, provider: str) -> int:
        """Make all runs of a provider, and say how many."""
        made = 0
        for streamed, awaited in itertools.product((False, True), repeat=2):
            way = f"{'streamed' if streamed else 'plain'}{', async' if awaited else ''}"
            for scene in Scenes(WIRES[provider], self._markers, streamed):
                self._exits.now = f"{provider}, {way}, {scene.name}"
                self._run(provider, scene.answers, streamed, awaited)
                made += 1
        self._exits.now = f"{provider}, dry run"
        self._run(provider, (), False, False)
        return made + 1

    def _run(self, provider: str, answers: Sequence[Answer], streamed: bool, awaited: bool) -> None:
        model = connect(
            f"{provider}:sweep-1", base_url="http://sweep.invalid/v1", key=self._markers["key"]
        )
        loop, prompt = self._loop(model, answers), self._prompt(model)
        given: dict[str, Any] = {"options": self._run_options()}
        given |= {"augmentation": self._over} if streamed else {"dry_run": not answers}
        with contextlib.suppress(LoopspanError):  # which runs fail is not the question
            if awaited:
                _in_its_own_loop(_awaited(loop, prompt, streamed, given))
            elif streamed:
                with loop.stream(prompt, **given) as stream:
                    stream.drain()
            else:
                loop.run(prompt, **given)
        _tell(self._settings, "force_flush")

    def _clients(self, answers: Iterable[Answer]) -> Mapping[str, Any]:
        """Return clients without a network; they hold nothing that had to be closed."""
        left = list(answers)

        def answer(request: httpx.Request) -> httpx.Response:
            self._exits.requested(request)
            return left.pop(0)() if len(left) > 1 else left[0]()

        transport = httpx.MockTransport(answer)
        headers = {"x-gateway-token": self._markers["client_header"]}
        return {
            "client": httpx.Client(transport=transport, headers=headers),
            "async_client": httpx.AsyncClient(transport=transport, headers=headers),
        }

    def _loop(self, model: Model, answers: Sequence[Answer]) -> ToolLoop:
        markers = self._markers
        body = markers["skill"]
        skill = Skill("skill", body, checksum=body_checksum(body))
        configuration = Configuration(
            "sweep",
            system_prompt=markers["system_prompt"],
            skills=("skill",),
            snippets=("snippet",),
        )
        return ToolLoop(
            model,
            tools(markers, self._exits, self._inner),
            configuration=configuration,
            library=Library((skill,), (Snippet("snippet", markers["snippet"]),)),
            retry=RetryPolicy(attempts=2, base_delay=0.0),
            **self._clients(answers),
            **self._settings,
        )

    def _inner(self) -> ToolLoop:
        """Return the loop of a tool that is an agent itself."""
        said = CHAT.plain(Said(self._markers["inner_answer"]))
        model = connect("openai:inner-1", base_url="http://sweep.invalid/v1")
        clients = self._clients([partial(httpx.Response, 200, json=said)])
        return ToolLoop(model, **clients, **self._settings)

    @property
    def _over(self) -> RunAugmentation:
        return RunAugmentation(system_prompt=self._markers["override"])

    def _prompt(self, model: Model) -> Prompt:
        image = Blob("image", self._markers["image"], "image/png")
        address = Uri("image", f"https://sweep.invalid/{self._markers['image_address']}.png")
        media = [part for part in (image, address) if _takes(model, part)]
        return (
            user("Hello."),
            assistant(self._markers["earlier_answer"]),
            user(self._markers["user"], *media),
        )

    def _run_options(self) -> ToolOptions:
        options = self._options
        extra = {"sweep_setting": self._markers["request_settings"]}
        return replace(options, parameters=Parameters(extra=extra).over(options.parameters))


def _takes(model: Model, part: Part) -> bool:
    """Whether a provider takes such a part at all."""
    try:
        model.adapter.body(Request(model.name, (user("Look.", part),)))
    except UnsupportedContent:
        return False
    return True
