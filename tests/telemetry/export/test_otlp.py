"""The exporter and receivers that refuse, stall and come back: all that can arrive arrives once."""

import json
from contextlib import AbstractContextManager

import grpc
import pytest
from opentelemetry.sdk.trace.export import SpanExportResult

from loopspan import ConfigurationError
from loopspan.telemetry.export import Delivery, OtlpExporter
from tests.telemetry.export.receivers import (
    MIB,
    Receiver,
    always,
    made,
    receiving,
    receiving_grpc,
    refusing_over,
    then,
)

OK, FAILED = SpanExportResult.SUCCESS, SpanExportResult.FAILURE


def exporter_to(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, protocol: str = "http/protobuf"
) -> OtlpExporter:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
    return OtlpExporter(Delivery(), patience=60.0, base_delay=0.001)


@pytest.mark.parametrize("status", [400, 413])
def test_sz_07_spans_of_40_mb_arrive_in_requests_that_the_receiver_takes(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    with receiving(refusing_over(4 * MIB, status)) as receiver:
        exporter = exporter_to(receiver, monkeypatch)
        assert exporter.export(made(*[MIB] * 40)) is OK
        exporter.shutdown()
    assert receiver.names == {f"s{n}": 1 for n in range(40)}
    assert receiver.statuses == [200] * len(receiver.statuses)
    assert max(receiver.sizes) <= 3_500_000
    assert (exporter.delivery.sent, exporter.delivery.dropped) == (40, {})


@pytest.mark.parametrize("status", [400, 413])
def test_sz_07_a_refused_batch_is_halved_and_sent_again(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    with receiving(refusing_over(MIB, status)) as receiver:
        exporter = exporter_to(receiver, monkeypatch)
        assert exporter.export(made(*[300_000] * 10)) is OK
        exporter.shutdown()
    assert receiver.names == {f"s{n}": 1 for n in range(10)}
    assert status in receiver.statuses
    assert (exporter.delivery.sent, exporter.delivery.dropped) == (10, {})


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_sz_07_a_lone_span_that_is_too_large_is_cut_and_counted(
    monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    receivers: dict[str, AbstractContextManager[Receiver]] = {
        "grpc": receiving_grpc(),
        "http/protobuf": receiving(refusing_over(4 * MIB, 413)),
    }
    with receivers[protocol] as receiver:
        exporter = exporter_to(receiver, monkeypatch, protocol)
        assert exporter.export(made(10, 5 * MIB, 10)) is OK
        exporter.shutdown()
    assert receiver.names == {"s0": 1, "s1": 1, "s2": 1}
    [cut] = [span for span in receiver.accepted if span.name == "s1"]
    told = {pair.key: pair.value.string_value for pair in cut.attributes}
    assert told["model"] == "m"
    assert json.loads(told["loopspan.truncated"])["text"] == {
        "from": 5 * MIB,
        "to": len(told["text"].encode()),
    }
    assert (exporter.delivery.sent, exporter.delivery.shrunk) == (3, 1)
    assert exporter.delivery.dropped == {}


def test_a_span_that_the_receiver_finds_too_large_is_cut_until_it_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with receiving(refusing_over(20_000, 413)) as receiver:
        exporter = exporter_to(receiver, monkeypatch)
        assert exporter.export(made(MIB)) is OK
        exporter.shutdown()
    assert receiver.names == {"s0": 1}
    assert (exporter.delivery.shrunk, exporter.delivery.dropped) == (1, {})


def test_what_is_refused_in_any_size_is_counted_and_the_rest_arrives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rule(number: int, data: bytes) -> tuple[int, dict[str, str]]:
        return (413 if b"s1" in data else 200), {}

    with receiving(rule) as receiver:
        exporter = exporter_to(receiver, monkeypatch)
        assert exporter.export(made(10, 10, 10, 10)) is FAILED
        exporter.shutdown()
    assert receiver.names == {"s0": 1, "s2": 1, "s3": 1}
    assert (exporter.delivery.sent, exporter.delivery.dropped) == (3, {"too_large": 1})


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_what_is_refused_for_another_reason_is_not_sent_again(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    with receiving(always(status)) as receiver:
        exporter = exporter_to(receiver, monkeypatch)
        assert exporter.export(made(10, 10)) is FAILED
        exporter.shutdown()
    assert receiver.statuses == [status]
    assert exporter.delivery.dropped == {"refused": 2}
    assert exporter.delivery.problem == f"the receiver answered {status}"


def test_a_small_batch_that_is_answered_with_400_is_not_taken_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with receiving(always(400)) as receiver:
        exporter = exporter_to(receiver, monkeypatch)
        assert exporter.export(made(*[10] * 64)) is FAILED
        exporter.shutdown()
    assert len(receiver.statuses) == 1
    assert exporter.delivery.dropped == {"refused": 64}


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_receiver_that_is_busy_for_a_while_gets_everything_once(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    with receiving(then(status, status, status)) as receiver:
        exporter = exporter_to(receiver, monkeypatch)
        assert exporter.export(made(10, 10, 10)) is OK
        exporter.shutdown()
    assert receiver.names == {"s0": 1, "s1": 1, "s2": 1}
    assert receiver.statuses == [status] * 3 + [200]
    assert exporter.delivery.dropped == {}


@pytest.mark.parametrize("when", ["3600", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_receiver_that_says_to_come_back_too_late_is_given_up(
    monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    with receiving(then(503, retry_after=when)) as receiver:
        exporter = exporter_to(receiver, monkeypatch)
        assert exporter.export(made(10)) is FAILED
        exporter.shutdown()
    assert receiver.statuses == [503]
    assert exporter.delivery.dropped == {"unreachable": 1}


def test_the_receiver_says_when_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(then(503, 429, retry_after="0")) as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        exporter = OtlpExporter(patience=60.0, base_delay=3600.0)
        assert exporter.export(made(10)) is OK
        exporter.shutdown()
    assert receiver.statuses == [503, 429, 200]


def test_an_answer_that_dies_in_its_middle_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with receiving(then(0, 0)) as receiver:
        exporter = exporter_to(receiver, monkeypatch)
        assert exporter.export(made(10, 10)) is OK
        exporter.shutdown()
    assert receiver.names == {"s0": 1, "s1": 1}


def test_grpc_that_is_not_there_yet_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED]
    with receiving_grpc(codes) as receiver:
        exporter = exporter_to(receiver, monkeypatch, "grpc")
        assert exporter.export(made(10, 10)) is OK
        exporter.shutdown()
    assert receiver.names == {"s0": 1, "s1": 1}


def test_grpc_with_its_own_limit_gets_spans_of_40_mb(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving_grpc() as receiver:
        exporter = exporter_to(receiver, monkeypatch, "grpc")
        assert exporter.export(made(*[MIB] * 40)) is OK
        exporter.shutdown()
    assert receiver.names == {f"s{n}": 1 for n in range(40)}


def test_grpc_that_refuses_the_key_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving_grpc([grpc.StatusCode.UNAUTHENTICATED]) as receiver:
        exporter = exporter_to(receiver, monkeypatch, "grpc")
        assert exporter.export(made(10)) is FAILED
        exporter.shutdown()
    assert exporter.delivery.dropped == {"refused": 1}
    assert exporter.delivery.problem == "the receiver answered UNAUTHENTICATED"


def test_a_request_that_nobody_takes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(always(503)) as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        exporter = OtlpExporter(patience=0.0)
        assert exporter.export(made(10, 10)) is FAILED
        exporter.shutdown()
    assert receiver.statuses == [503]
    assert exporter.delivery.dropped == {"unreachable": 2}


def test_headers_and_compression_come_from_the_standard_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc,x-a=1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "authorization=Bearer%20xyz")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    with receiving(always()) as receiver:
        exporter = exporter_to(receiver, monkeypatch)
        assert exporter.export(made(1000)) is OK
        exporter.shutdown()
    [headers] = receiver.headers
    assert headers["authorization"] == "Bearer xyz"
    assert headers["content-encoding"] == "gzip"
    assert int(headers["content-length"]) < 600
    assert "xyz" not in repr(exporter._settings)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PROTOCOL", "http/json", "OTEL_EXPORTER_OTLP_PROTOCOL is 'http/json'; use http/protobuf"),
        ("TIMEOUT", "soon", "OTEL_EXPORTER_OTLP_TIMEOUT is 'soon'; give seconds above 0"),
        ("COMPRESSION", "zip", "OTEL_EXPORTER_OTLP_COMPRESSION is 'zip'; use gzip, deflate"),
    ],
)
def test_a_variable_that_cannot_be_is_told(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", value)
    with pytest.raises(ConfigurationError, match=said):
        OtlpExporter()
