"""Recorded traffic of providers: test data that lies beside the repository, never in it."""

import functools
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from loopspan.messages import Reply
from loopspan.providers.adapter import Adapter, Delta, StreamState
from loopspan.providers.framing import Framing, decoder
from tests.requirements import require_or_skip

CORPUS = Path(
    os.environ.get("LOOPSPAN_CORPUS")
    or Path(__file__).resolve().parents[2].joinpath("shared", "corpus")
)
"""The folder of the recordings: one folder a provider, and `expected.json`."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the index says of one answer; numbers are the provider's own, `None` is absent."""

    status: int
    error: bool
    streaming: bool
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    finish: str | None
    tool_calls: int
    tool_names: list[str]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, as recorded."""

    id: str
    """File and number, such as `openai/name.json#0`."""
    url: str
    request: Any
    """The decoded body; `None` where only the answer was recorded."""
    status: int
    headers: dict[str, str]
    response: Any
    """The decoded body, or the text of a stream."""
    expected: Expected

    @property
    def streamed(self) -> bool:
        """Whether the answer is a stream: text, or a JSON array that was sent piecewise."""
        return isinstance(self.response, str | list)

    @property
    def data(self) -> bytes:
        """The bytes of the answer."""
        if isinstance(self.response, str):
            return self.response.encode()
        return json.dumps(self.response).encode()


@functools.cache
def exchanges(folder: str) -> tuple[Exchange, ...]:
    """Return all exchanges of one folder in the order of their files; none where it is absent."""
    if not CORPUS.is_dir():
        return ()
    index = _index()
    result: list[Exchange] = []
    for path in sorted((CORPUS / folder).glob("*.json")):
        name = f"{folder}/{path.name}"
        recorded = json.loads(path.read_bytes())["exchanges"]
        for number, (exchange, entry) in enumerate(
            zip(recorded, index[name]["exchanges"], strict=True)
        ):
            known = {key: entry[key] for key in Expected.__slots__}
            result.append(
                Exchange(
                    id=f"{name}#{number}",
                    url=exchange["request"]["url"],
                    request=exchange["request"]["body"],
                    status=exchange["response"]["status"],
                    headers=exchange["response"]["headers"],
                    response=exchange["response"]["body"],
                    expected=Expected(**known),
                )
            )
    return tuple(result)


@functools.cache
def _index() -> dict[str, Any]:
    index: dict[str, Any] = json.loads((CORPUS / "expected.json").read_bytes())
    return index


def exchange(id: str) -> Exchange:
    """Return one exchange by its id; skips the test where there are no recordings."""
    folder = id.partition("/")[0]
    for found in exchanges(folder):
        if found.id == id:
            return found
    if CORPUS.is_dir():
        raise LookupError(f"no recorded exchange {id!r} in {CORPUS}")
    require_or_skip("corpus", _ABSENT)


_ABSENT = f"there are no recordings in {CORPUS} (set LOOPSPAN_CORPUS)"


def recorded(
    *folders: str, where: Callable[[Exchange], bool] = lambda _: True
) -> pytest.MarkDecorator:
    """Run a test once for each exchange of these folders, given as its argument `exchange`."""
    chosen = [e for folder in folders for e in exchanges(folder) if where(e)]
    if chosen:
        return pytest.mark.parametrize("exchange", chosen, ids=[e.id for e in chosen])
    if CORPUS.is_dir():
        raise LookupError(f"no recorded exchange of {folders} fits")
    try:
        require_or_skip("corpus", _ABSENT)
    except pytest.skip.Exception:
        return pytest.mark.skip(reason=_ABSENT)


def watch(
    adapter: Adapter, chunks: Iterable[bytes], framing: Framing | None = None
) -> tuple[Reply, list[Delta]]:
    """Feed a stream to an adapter, in these chunks; return its reply and its deltas."""
    state = StreamState()
    deltas = [d for event in _events(adapter, chunks, framing) for d in adapter.event(state, event)]
    return adapter.finish(state), deltas


def read_stream(adapter: Adapter, chunks: Iterable[bytes], framing: Framing | None = None) -> Reply:
    """Feed a stream to an adapter, in these chunks; return its reply."""
    return watch(adapter, chunks, framing)[0]


def read(adapter: Adapter, exchange: Exchange, framing: Framing | None = None) -> Reply:
    """Return the reply of a recorded answer, plain or streamed."""
    if exchange.streamed:
        return read_stream(adapter, [exchange.data], framing)
    return adapter.reply(exchange.response)


def _events(adapter: Adapter, chunks: Iterable[bytes], framing: Framing | None) -> Iterator[Any]:
    events = decoder(framing or adapter.framing)
    for chunk in chunks:
        yield from events.feed(chunk)
    yield from events.close()


def lines(data: bytes) -> list[bytes]:
    """Return the bytes cut after each line."""
    return data.splitlines(keepends=True)


def single_bytes(data: bytes) -> list[bytes]:
    """Return the bytes one by one."""
    return [data[i : i + 1] for i in range(len(data))]


def cut(data: bytes, positions: Iterable[int]) -> list[bytes]:
    """Return the bytes cut at these positions, which are taken modulo the length."""
    places = sorted({p % (len(data) or 1) for p in positions})
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
