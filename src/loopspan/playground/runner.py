"""Runs that the page starts: tasks of the server, which outlive the tab and can be cancelled."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeAlias, TypeVar

from opentelemetry.sdk.trace import SpanProcessor

from loopspan.catalogue import Catalogue
from loopspan.configuration import Budget
from loopspan.errors import ConfigurationError, LoopspanError
from loopspan.loop import AsyncRunStream, ToolLoop
from loopspan.playground.answers import Problem
from loopspan.playground.principals import Principal
from loopspan.playground.requests import StartRun, checked
from loopspan.runs import RunTrace
from loopspan.telemetry import semconv as names
from loopspan.telemetry.operations import AgentSpan, RunFacts
from loopspan.telemetry.setup import private_provider
from loopspan.telemetry.spans import SpanSettings, get_tracer
from loopspan.tools import ToolRegistry

logger = logging.getLogger("loopspan.playground")
N = TypeVar("N", int, float)

Follow: TypeAlias = Callable[[str, AsyncRunStream], Awaitable[None]]
"""Takes a run that is streamed, by its id, to its end."""

MOST_RUNNING = 2
"""How many runs may go on at a time."""
CAP = Budget(usd=5.0, seconds=600.0)
"""What a run of the page may use up at most."""
MOST_KEYS = 1000
"""How many idempotency keys are remembered."""


class Catalogues(Protocol):
    """A catalogue that may change: `CatalogueFile`."""

    def current(self) -> Catalogue:
        """Return the catalogue as it is now."""


class Runner:
    """Starts runs and keeps hold of them; they are traced by a provider of their own."""

    def __init__(
        self,
        catalogue: Catalogue | Catalogues,
        run_trace: RunTrace,
        *,
        tools: ToolRegistry | None = None,
        exporter: SpanProcessor | None = None,
        settings: Mapping[str, Any] | None = None,
        most_running: int = MOST_RUNNING,
        cap: Budget = CAP,
    ) -> None:
        """`settings` are further arguments of `ToolLoop`, such as an `async_client`.

        No run may use up more than `cap`, whatever is asked for.
        """
        self._catalogue = catalogue
        self._tools = tools
        self._settings = dict(settings or {})
        self._provider = private_provider(run_trace)
        self._exporting = None if exporter is None else private_provider(run_trace, exporter)
        self._tasks: dict[str, asyncio.Task[ConfigurationError | None]] = {}
        self._keys: OrderedDict[tuple[str, str], str] = OrderedDict()
        self.most_running = most_running
        self.cap = cap

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue as it is now."""
        found = self._catalogue
        return found if isinstance(found, Catalogue) else found.current()

    @property
    def can_export(self) -> bool:
        """Whether there is somewhere to export to."""
        return self._exporting is not None

    def tools(self) -> ToolRegistry:
        """Return the tools that a run may have."""
        return self._tools if self._tools is not None else self.catalogue.tools()

    async def start(
        self, value: Mapping[str, Any], principal: Principal, follow: Follow | None = None
    ) -> str:
        """Start a run and return its id; `follow` takes those that ask to be streamed.

        Raises a `Problem`; where the settings cannot work, the run is there all the same, with an
        error, and the problem names it.
        """
        known = self._known(value, principal)
        if known is not None:
            return known
        run_id = uuid.uuid4().hex
        try:
            asked = checked(StartRun, dict(value))
            self._check_permission(asked, principal)
            self._check_room()
            loop = self._loop(asked)
            how: dict[str, Any] = {
                "options": asked.options(run_id, principal.actor, self._budget(asked, loop)),
                "augmentation": asked.augmentation(),
            }
            work: Awaitable[object]
            if asked.stream and follow is not None and not asked.dry_run:
                work = follow(run_id, loop.astream(asked.prompt, **how))
            else:
                work = loop.arun(asked.prompt, **how, dry_run=asked.dry_run)
        except ConfigurationError as error:
            raise self._failed(run_id, value, error, Problem(422, "invalid", str(error))) from None
        except Problem as problem:
            if problem.status != 422:
                raise
            raise self._failed(run_id, value, ConfigurationError(str(problem)), problem) from None
        task = asyncio.get_running_loop().create_task(_finished(work), name=f"run {run_id}")
        self._tasks[run_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(run_id, None))
        self._remember(asked.idempotency_key, principal, run_id)
        await asyncio.sleep(0)  # the run begins, so that whoever has its id finds it
        refused = task.result() if task.done() and not task.cancelled() else None
        if refused is not None:
            self._keys.pop((principal.name, asked.idempotency_key or ""), None)
            raise self._failed(run_id, value, refused, Problem(422, "invalid", str(refused)))
        return run_id

    def cancel(self, run_id: str) -> bool:
        """Cancel a run; `False` where it does not go on here."""
        task = self._tasks.get(run_id)
        return task is not None and task.cancel()

    async def finished(self, run_id: str) -> None:
        """Wait until a run that was started here is over."""
        task = self._tasks.get(run_id)
        if task is not None:
            await asyncio.wait([task])

    async def stop(self) -> None:
        """Cancel all runs and wait for their ends."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _loop(self, asked: StartRun) -> ToolLoop:
        if asked.export and self._exporting is None:
            raise ConfigurationError(
                "export was asked for and there is nowhere to export to; "
                "set OTEL_EXPORTER_OTLP_ENDPOINT, or give make_asgi_app an exporter"
            )
        catalogue = self.catalogue
        catalogue.check_has(skills=asked.skills, snippets=asked.snippets)
        tools = self.tools()
        for name in asked.tools or ():
            if name not in tools:
                raise ConfigurationError(f"there is no tool {name!r}; load the page again")
        provider = self._exporting if asked.export else self._provider
        settings = {"tools": tools, "content": "full", "tracer_provider": provider}
        return catalogue.loop(asked.configuration, **{**self._settings, **settings})

    def _budget(self, asked: StartRun, loop: ToolLoop) -> Budget:
        """Return what the run may use up: what is asked for, within the cap."""
        given = loop.configuration.budget if asked.budget is None else asked.budget.budget
        return Budget(
            tokens=_least(given.tokens, self.cap.tokens),
            usd=_least(given.usd, self.cap.usd),
            seconds=_least(given.seconds, self.cap.seconds),
        )

    def _check_permission(self, asked: StartRun, principal: Principal) -> None:
        if asked.dry_run or asked.tools == [] or principal.may("live_tools"):
            return
        raise Problem(
            403,
            "not_permitted",
            "a run that may call tools needs the permission 'live_tools'",
            hint="untick all tools, or make it a dry run",
        )

    def _check_room(self) -> None:
        if len(self._tasks) >= self.most_running:
            raise Problem(
                429,
                "too_many_runs",
                f"{len(self._tasks)} runs are going on",
                hint="wait for one to end, or cancel it",
                headers={"retry-after": "2"},
            )

    def _failed(
        self, run_id: str, value: Mapping[str, Any], error: ConfigurationError, problem: Problem
    ) -> Problem:
        """Leave a run that says why it was not started, and name it in the problem."""
        configuration = value.get("configuration")
        facts = RunFacts(run_id, configuration if isinstance(configuration, str) else None)
        tracer = get_tracer(self._provider)
        settings = SpanSettings(tracer, "full", shared={names.RUN_ID: run_id})
        with AgentSpan(settings, facts) as span:
            span.outcome = "error"
            span.fail(error)
        problem.content["runs"] = [link(run_id)]
        return problem

    def _known(self, value: Mapping[str, Any], principal: Principal) -> str | None:
        key = value.get("idempotency_key")
        return self._keys.get((principal.name, key)) if isinstance(key, str) else None

    def _remember(self, key: str | None, principal: Principal, run_id: str) -> None:
        if key is not None:
            self._keys[principal.name, key] = run_id
        while len(self._keys) > MOST_KEYS:
            self._keys.popitem(last=False)


def _least(asked: N | None, cap: N | None) -> N | None:
    known = [each for each in (asked, cap) if each is not None]
    return min(known, default=None)


def link(run_id: str) -> dict[str, str]:
    """Return a run and where the page shows it."""
    return {"run_id": run_id, "url": f"#run/{run_id}"}


async def _finished(work: Any) -> ConfigurationError | None:
    """Wait for a run; how it ended is on its spans, unless its settings let none begin."""
    try:
        await work
    except ConfigurationError as error:
        return error
    except LoopspanError:
        pass
    except Exception:
        logger.exception("a run of the playground failed")
    return None
