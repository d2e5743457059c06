"""`loopspan run`: one prompt, each step shown as it happens."""

from __future__ import annotations

import asyncio
import threading

from loopspan.catalogue import Catalogue
from loopspan.cli.endpoint import unreachable, without_login
from loopspan.cli.recording import Export, Recording
from loopspan.cli.settings import RunSettings, tools_of
from loopspan.cli.stderr import say, tools_print_elsewhere
from loopspan.cli.views import Audience, open_view
from loopspan.configuration import Configuration
from loopspan.environment import capture_content, variable
from loopspan.errors import ConfigurationError, ConnectionFailed
from loopspan.flow.events import ReasoningDelta, TextDelta
from loopspan.local import start as start_local
from loopspan.loop import Outcome, RunResult, ToolLoop
from loopspan.runs.steps import TRUNCATED
from loopspan.telemetry.export.settings import endpoint, protocol
from loopspan.tools import ToolRegistry

DEMO, LOCAL = "demo:", "local:"
FAILED, CUT_SHORT = 1, 3


def run(settings: RunSettings) -> int:
    """Run the prompt and return the exit code; raises `LoopspanError` where the run fails."""
    audience = Audience(open_view(json=settings.json))
    with tools_print_elsewhere():
        catalogue = settings.open_catalogue()
        tools = tools_of(settings, catalogue)
        export = _export(settings)
        recording = Recording(export)
        recording.run_trace.subscribe(audience)
        loop = _loop(settings, catalogue, tools, recording)
        try:
            result = _performed(loop, settings, audience)
        except ConnectionFailed as error:
            error.add_note(f"The address was {without_login(loop.model.base_url)}.")
            raise
        finally:
            audience.close()
            if export is not None:
                _finish(export)
    if result.error is not None:
        say("error", str(result.error))
    return exit_code(result.outcome)


def _loop(
    settings: RunSettings,
    catalogue: Catalogue | None,
    tools: ToolRegistry,
    recording: Recording,
) -> ToolLoop:
    configuration = Configuration()
    if catalogue is not None and settings.config is not None:
        configuration = catalogue.configuration(settings.config)
    model = settings.model or configuration.model
    if model is None:
        say("note", f"no --model given; using {DEMO}, an embedded model without account or key")
    if model is not None and model.startswith(LOCAL):
        start_local(lambda text: say("note", text))
    return ToolLoop(
        model or DEMO,
        tools,
        configuration=configuration,
        library=None if catalogue is None else catalogue.library,
        prices=None if catalogue is None else catalogue.prices,
        base_url=settings.base_url,
        tracer_provider=recording.provider,
        content="full",
    )


def exit_code(outcome: Outcome) -> int:
    """Return the exit code that tells how a run came out."""
    if outcome in ("completed", "dry_run"):
        return 0
    return CUT_SHORT if outcome in TRUNCATED else FAILED


def _performed(loop: ToolLoop, settings: RunSettings, audience: Audience) -> RunResult:
    try:
        # The event loop turns Ctrl-C into a cancellation, which ends the spans in good order.
        return asyncio.run(_perform(loop, settings, audience))
    finally:
        if audience.failure is not None:
            raise audience.failure


async def _perform(loop: ToolLoop, settings: RunSettings, audience: Audience) -> RunResult:
    audience.watch(asyncio.current_task())
    prompt, dry_run = settings.prompt, settings.dry_run
    options, added = settings.options(), settings.augmentation()
    if not settings.stream:
        return await loop.arun(prompt, options=options, augmentation=added, dry_run=dry_run)
    streamed = loop.astream(prompt, options=options, augmentation=added, dry_run=dry_run)
    async with streamed as stream:
        async for event in stream:
            if isinstance(event, TextDelta | ReasoningDelta):
                audience.delta(event)
        return stream.result


def _export(settings: RunSettings) -> Export | None:
    if not settings.export:
        return None
    if settings.json and variable("OTEL_TRACES_EXPORTER") == "console":
        raise ConfigurationError(
            "OTEL_TRACES_EXPORTER is console, which would write between the lines of --json; "
            "unset it, or leave out --json"
        )
    return Export("full" if settings.capture_content else capture_content() or "off")


def _finish(export: Export) -> None:
    url = endpoint(protocol())[0]
    where = without_login(url)
    patience = threading.Timer(1.0, say, ("note", f"exporting the spans to {where} …"))
    patience.start()
    try:
        complaint = export.finish()
    finally:
        patience.cancel()
    if complaint is not None:
        closed = unreachable(url)
        why = complaint.rstrip(".") if closed is None else f"it cannot be reached, {closed}"
        advice = "Check OTEL_EXPORTER_OTLP_ENDPOINT; `loopspan check` shows what is set."
        say("warning", f"the spans were not exported to {where}: {why}. {advice}")
