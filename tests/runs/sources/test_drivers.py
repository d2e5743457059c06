"""What the drivers do for every source."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from loopspan.errors import RunNotFound, SourceError
from loopspan.runs.sources import Fetched, JaegerSource, Listing, Query, Source
from loopspan.runs.sources.drivers import Flow
from tests.runs.sources.shapes import WAYS, Way, asked

each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
ID = "0af7651916cd43dd8448eb211c80319c"


class Watched(Source):
    """A source that notes which thread it works in."""

    type = "memory"

    def __init__(self) -> None:
        super().__init__("watched")
        self.threads: list[threading.Thread] = []

    def _fetch(self, id: str) -> Flow[Fetched]:
        yield from ()
        self.threads.append(threading.current_thread())
        return Fetched(())

    def _search(self, query: Query) -> Flow[Listing]:
        yield from ()
        self.threads.append(threading.current_thread())
        return Listing(())


def test_spans_are_read_beside_the_event_loop() -> None:
    source = Watched()

    async def both() -> None:
        await source.afetch("x")
        await source.asearch()

    asyncio.run(both())
    assert threading.main_thread() not in source.threads
    source.fetch("x")
    source.search()
    assert source.threads[2:] == [threading.main_thread()] * 2


class Endless(httpx.SyncByteStream, httpx.AsyncByteStream):
    """An answer that goes on, a byte a time."""

    def __iter__(self) -> Iterator[bytes]:
        while True:
            yield b" "

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self:
            yield part


@each_way
def test_an_answer_that_never_ends_is_given_up_in_time(way: Way) -> None:
    drivers = asked(lambda _: httpx.Response(200, stream=Endless()), timeout=0.05)
    with pytest.raises(SourceError, match=r"did not answer within 0.05 s; check that it runs"):
        way(JaegerSource("http://jaeger:16686", drivers), ID)


@each_way
def test_each_wait_of_a_client_is_bounded_too(way: Way) -> None:
    waits: list[object] = []

    def answer(request: httpx.Request) -> httpx.Response:
        waits.append(request.extensions["timeout"])
        return httpx.Response(404, json={"error": {"message": "none"}})

    with pytest.raises(RunNotFound):
        way(JaegerSource("http://jaeger:16686", asked(answer, timeout=3)), ID)
    assert waits == [{"connect": 3, "read": 3, "write": 3, "pool": 3}]
