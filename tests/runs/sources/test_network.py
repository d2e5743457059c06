"""Sources over real connections: one that nobody takes, redirects, slow and large answers."""

import socket

import pytest

from loopspan.errors import SourceError
from loopspan.runs.sources import JaegerSource, TempoSource
from loopspan.runs.sources.drivers import Drivers
from loopspan.testing import capture
from tests.runs.sources.recorded import recorded
from tests.runs.sources.served import serving
from tests.runs.sources.shapes import WAYS, Way, as_tempo_protobuf

each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
ID = "0af7651916cd43dd8448eb211c80319c"


@each_way
def test_an_address_where_nobody_listens_is_said(way: Way) -> None:
    with socket.socket() as kept:  # bound, so that nobody else listens there meanwhile
        kept.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{kept.getsockname()[1]}"
        with pytest.raises(SourceError, match=r"cannot be reached .*; check that it runs"):
            way(JaegerSource(url), ID)


@each_way
def test_a_redirect_is_not_followed(way: Way) -> None:
    with (
        serving(200, b"{}") as elsewhere,
        serving(302, Location=f"{elsewhere.url}/login") as served,
    ):
        with pytest.raises(SourceError, match=r"redirect to 'http://127.0.0.1:.*/login'"):
            way(JaegerSource(served.url), ID)
        assert (len(served.paths), elsewhere.paths) == (1, [])


@each_way
def test_a_server_that_takes_the_connection_and_says_nothing_is_given_up(way: Way) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(SourceError, match=r"did not answer within 0.1 s"):
            way(JaegerSource(url, Drivers(timeout=0.1)), ID)


@each_way
def test_an_answer_that_breaks_off_is_said(way: Way) -> None:
    with (
        serving(200, b'{"result"', Content_Length="500") as served,
        pytest.raises(SourceError, match="cannot be reached"),
    ):
        way(JaegerSource(served.url), ID)


@each_way
def test_a_large_answer_is_given_up_where_it_passes_the_limit(way: Way) -> None:
    with (
        serving(200, *[b" " * 100_000] * 3) as served,
        pytest.raises(SourceError, match="is larger than 150,000 bytes"),
    ):
        way(JaegerSource(served.url, Drivers(max_bytes=150_000)), ID)


@each_way
def test_tempo_that_has_protobuf_alone_is_read_too(way: Way) -> None:
    """The stub answers protobuf to the second API too, which speaks of another message there."""
    with capture() as captured:
        run = recorded(captured.provider)
    body = as_tempo_protobuf(captured.spans)
    with serving(200, body, Content_Type="application/protobuf") as served:
        assert way(TempoSource(served.url), ID).runs == (run,)
    assert len(served.paths) == 1


@each_way
def test_protobuf_that_is_no_trace_is_said(way: Way) -> None:
    with (
        serving(200, b"\xff\xff", Content_Type="application/protobuf") as served,
        pytest.raises(SourceError, match="answered protobuf that is no trace"),
    ):
        way(TempoSource(served.url), ID)
