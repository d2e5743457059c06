"""The two drivers that perform the effects of a flow: the only I/O of the loop.

A driver belongs to one run. It owns what the run opened and closes it on every way out: the HTTP
client unless it was passed in, the open answer, the tasks of tools.
"""

from __future__ import annotations

import contextlib
import contextvars
import queue
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import httpx

from loopspan.flow.effects import (
    Done,
    Effect,
    Emit,
    Flow,
    HttpResponse,
    Open,
    Read,
    Send,
    Sleep,
    Spawn,
    Wait,
)
from loopspan.flow.events import StreamEvent
from loopspan.flow.http import TIMEOUT, arguments, named_errors, sending, trust
from loopspan.flow.spawned import NOBODY, Deadlines, Workers, current, ended

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class Over(Generic[T]):
    """The end of a flow: its result, or nothing where it was closed before."""

    def __init__(self, result: T | None = None) -> None:
        self.result = result


class _Steps(Generic[T]):
    """The flow of a run, and what its next step is: a value sent in, or an error thrown in."""

    def __init__(self, flow: Flow[T]) -> None:
        self._flow = flow
        self.closed = False
        self.next: Callable[[], Effect] = lambda: next(flow)

    def value(self, value: object) -> None:
        self.next = lambda: self._flow.send(value)

    def error(self, error: BaseException) -> None:
        self.next = lambda: self._flow.throw(error)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._flow.close()


class SyncRun(Generic[T]):
    """A flow performed with plain calls."""

    def __init__(self, flow: Flow[T], client: httpx.Client | None = None) -> None:
        self._steps = _Steps(flow)
        self._owned = contextlib.ExitStack()
        self._answer = contextlib.ExitStack()
        self._client = client
        self._chunks: Iterator[bytes] = iter(())
        self._deadlines = Deadlines()
        self._done: queue.SimpleQueue[Done] = queue.SimpleQueue()
        self._workers = Workers(self._done.put)

    def advance(self) -> StreamEvent | Over[T]:
        """Perform effects up to the next event, or to the end of the flow."""
        steps = self._steps
        while not steps.closed:
            try:
                effect = steps.next()
            except StopIteration as stop:
                self.close()
                return Over(stop.value)
            except BaseException:
                self.close()
                raise
            if isinstance(effect, Emit):
                steps.value(None)
                return effect.event
            try:
                steps.value(self._perform(effect))
            except BaseException as error:  # noqa: BLE001  # the flow decides what it means
                steps.error(error)
        return Over()

    def close(self) -> None:
        """End the flow where it stands, and give back what it opened."""
        try:
            self._steps.close()
        finally:
            self._workers.close()
            self._answer.close()
            self._owned.close()

    def _perform(self, effect: Effect) -> Any:
        match effect:
            case Send():
                return self._send(effect)
            case Open():
                return self._open(effect)
            case Read():
                with named_errors(effect.provider):
                    return next(self._chunks, None)
            case Spawn():
                self._spawn(effect)
            case Wait():
                return self._wait()
            case Sleep():
                time.sleep(effect.seconds)
            case Emit():
                raise AssertionError("events are handed out by advance()")

    def _http(self) -> httpx.Client:
        if self._client is None:
            client = httpx.Client(verify=trust(), timeout=TIMEOUT)
            self._client = self._owned.enter_context(client)
        return self._client

    def _send(self, effect: Send) -> HttpResponse:
        with sending(effect.request, effect.span):
            response = self._http().request(**arguments(effect.request))
        return HttpResponse(response.status_code, response.headers, response.content)

    def _open(self, effect: Open) -> HttpResponse:
        self._answer.close()
        with sending(effect.request, effect.span):
            stream = self._http().stream(**arguments(effect.request))
            response = self._answer.enter_context(stream)
            content = b"" if response.is_success else response.read()
        self._chunks = response.iter_bytes()
        return HttpResponse(response.status_code, response.headers, content)

    def _spawn(self, effect: Spawn) -> None:
        self._deadlines.add(effect)
        if not effect.alone or effect.is_async or effect.timeout is not None:
            self._workers.start(effect)
            return
        # Handing it to another thread would cost more than the rest of the call.
        done = contextvars.copy_context().run(ended, effect)
        if done.error is not None and not isinstance(done.error, Exception):
            raise done.error  # meant for this thread, not for the model
        self._done.put(done)

    def _wait(self) -> Done:
        while True:
            try:
                done = self._done.get(timeout=self._deadlines.patience())
            except queue.Empty:
                return self._deadlines.expire()
            if self._deadlines.take(done):
                return done


class AsyncRun(Generic[T]):
    """A flow performed with awaited calls."""

    def __init__(self, flow: Flow[T], client: httpx.AsyncClient | None = None) -> None:
        import asyncio  # only programs that run loops of it pay for it

        self._steps = _Steps(flow)
        self._owned = contextlib.AsyncExitStack()
        self._answer = contextlib.AsyncExitStack()
        self._client = client
        self._chunks: AsyncIterator[bytes]
        self._deadlines = Deadlines()
        self._loop = asyncio.get_running_loop()
        self._closed = asyncio.Event()
        self._done: asyncio.Queue[Done] = asyncio.Queue()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._workers = Workers(self._tell_from_thread)

    async def advance(self) -> StreamEvent | Over[T]:
        """Perform effects up to the next event, or to the end of the flow."""
        steps = self._steps
        while not steps.closed:
            try:
                effect = steps.next()
            except StopIteration as stop:
                await self.close()
                return Over(stop.value)
            except BaseException:
                await self.close()
                raise
            if isinstance(effect, Emit):
                steps.value(None)
                return effect.event
            try:
                steps.value(await self._perform(effect))
            except BaseException as error:  # noqa: BLE001  # the flow decides what it means
                steps.error(error)
        await self.close()  # again: another task closed the run while this one opened an answer
        return Over()

    def abandon(self) -> None:
        """End the flow where it stands; its event loop gives back what it opened."""
        self._steps.close()
        self._workers.close()
        with contextlib.suppress(RuntimeError):  # the event loop is gone, and all of it with it
            self._loop.call_soon_threadsafe(self._give_back)

    def _give_back(self, before: asyncio.Task[None] | None = None) -> None:
        """Close in a task; a program that ends cancels all tasks, and this one is made again."""
        if before is None or before.cancelled():
            self._loop.create_task(self.close()).add_done_callback(self._give_back)

    async def close(self) -> None:
        """End the flow where it stands, and give back what it opened."""
        import asyncio

        try:
            self._steps.close()
        finally:
            self._closed.set()
            self._done.put_nowait(NOBODY)
            self._workers.close()
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            try:
                await asyncio.gather(*tasks, return_exceptions=True)
            finally:
                await self._answer.aclose()
                await self._owned.aclose()

    async def _perform(self, effect: Effect) -> Any:
        import asyncio

        match effect:
            case Send():
                return await self._send(effect)
            case Open():
                return await self._open(effect)
            case Read():
                with named_errors(effect.provider):
                    return await anext(self._chunks, None)
            case Spawn():
                self._spawn(effect)
            case Wait():
                return await self._wait()
            case Sleep():
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(effect.seconds):
                        await self._closed.wait()
            case Emit():
                raise AssertionError("events are handed out by advance()")

    async def _http(self) -> httpx.AsyncClient:
        if self._client is None:
            client = httpx.AsyncClient(verify=trust(), timeout=TIMEOUT)
            self._client = await self._owned.enter_async_context(client)
        return self._client

    async def _send(self, effect: Send) -> HttpResponse:
        with sending(effect.request, effect.span):
            response = await (await self._http()).request(**arguments(effect.request))
        return HttpResponse(response.status_code, response.headers, response.content)

    async def _open(self, effect: Open) -> HttpResponse:
        await self._answer.aclose()
        with sending(effect.request, effect.span):
            stream = (await self._http()).stream(**arguments(effect.request))
            response = await self._answer.enter_async_context(stream)
            content = b"" if response.is_success else await response.aread()
        self._chunks = response.aiter_bytes()
        return HttpResponse(response.status_code, response.headers, content)

    def _spawn(self, effect: Spawn) -> None:
        self._deadlines.add(effect)
        if effect.is_async:
            self._tasks[effect.key] = self._loop.create_task(self._call(effect))
        else:
            self._workers.start(effect)

    def _tell_from_thread(self, done: Done) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop is gone, and with it the run
            self._loop.call_soon_threadsafe(self._done.put_nowait, done)

    async def _call(self, effect: Spawn) -> None:
        done: Done
        try:
            with current(effect.span):
                value = await effect.function()
        except BaseException as error:  # noqa: BLE001  # the flow decides what it means
            done = Done(effect.key, time.time_ns(), error=error)
        else:
            done = Done(effect.key, time.time_ns(), value)
        self._done.put_nowait(done)

    async def _wait(self) -> Done:
        import asyncio

        while True:
            try:
                async with asyncio.timeout(self._deadlines.patience()):
                    done = await self._done.get()
            except TimeoutError:
                done = self._deadlines.expire()
                if task := self._tasks.get(done.key):
                    task.cancel()
                return done
            if done is NOBODY or self._deadlines.take(done):
                return done
