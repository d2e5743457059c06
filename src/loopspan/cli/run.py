"""`loopspan run`: one prompt, each step shown as it happens."""

from __future__ import annotations

import asyncio
import contextlib
import sys

from loopspan.cli.endpoint import exporter_endpoint, without_login
from loopspan.cli.recording import Export, Recording
from loopspan.cli.settings import RunSettings, tools_of
from loopspan.cli.stderr import say
from loopspan.cli.views import Audience, open_view
from loopspan.environment import capture_content
from loopspan.flow.events import ReasoningDelta, TextDelta
from loopspan.loop import Outcome, RunResult, ToolLoop
from loopspan.runs.steps import TRUNCATED

FAILED, CUT_SHORT = 1, 3


def run(settings: RunSettings) -> int:
    """Run the prompt and return the exit code; raises `LoopspanError` where the run fails."""
    tools = tools_of(settings)
    export = _export(settings)
    recording = Recording(export)
    loop = ToolLoop(
        settings.model,
        tools,
        base_url=settings.base_url,
        tracer_provider=recording.provider,
        content="full",
    )
    audience = Audience(open_view(json=settings.json))
    recording.run_trace.subscribe(audience)
    try:
        # What tools print is not the command's output.
        with contextlib.redirect_stdout(sys.stderr):
            result = _performed(loop, settings, audience)
    finally:
        audience.close()
        if export is not None:
            _finish(export)
    if result.error is not None:
        say("error", str(result.error))
    return exit_code(result.outcome)


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
    options, augmentation = settings.options(), settings.augmentation()
    if settings.dry_run or not settings.stream:
        return await loop.arun(
            settings.prompt, options=options, augmentation=augmentation, dry_run=settings.dry_run
        )
    async with loop.astream(settings.prompt, options=options, augmentation=augmentation) as stream:
        async for event in stream:
            if isinstance(event, TextDelta | ReasoningDelta):
                audience.delta(event)
        return stream.result


def _export(settings: RunSettings) -> Export | None:
    if not settings.export:
        return None
    content = "full" if settings.capture_content else capture_content() or "off"
    return Export(content)


def _finish(export: Export) -> None:
    complaint = export.finish()
    if complaint is not None:
        where = without_login(exporter_endpoint()[0])
        say(
            "warning",
            f"the spans were not exported to {where}: {complaint}. Check "
            "OTEL_EXPORTER_OTLP_ENDPOINT; `loopspan check` says whether it can be reached.",
        )
