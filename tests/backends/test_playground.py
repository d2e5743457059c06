"""A run of the playground, opened from a real Jaeger, is the run that was shown live."""

import asyncio

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from loopspan import PolicyExporter
from loopspan.runs.sources import JaegerSource
from tests.backends.jaeger_server import Jaeger
from tests.playground.served import client, ended, served
from tests.playground.test_sources import ANSWERS, bare

pytestmark = pytest.mark.backends


def test_a_run_that_is_opened_from_jaeger_is_the_run_in_memory(jaeger: Jaeger) -> None:
    exporter = OTLPSpanExporter(endpoint=f"{jaeger.otlp_http}/v1/traces")
    processor = SimpleSpanProcessor(PolicyExporter(exporter, content="full"))

    async def story() -> None:
        s = served(*ANSWERS, exporter=processor, backends=[JaegerSource(jaeger.query)])
        async with client(s.app) as http:
            shown = await ended(s.app, http, export=True, capture_raw=True)
            run = shown["run"]
            await asyncio.to_thread(jaeger.trace, run["trace_id"], spans=6)
            value = {"backend": "jaeger", "trace_id": run["trace_id"]}
            told = (await http.post("/api/fetch", json=value)).json()
            assert [each["run_id"] for each in told["runs"]] == [run["run_id"]]
            again = (await http.get(f"/api/runs/{run['run_id']}?source=jaeger")).json()
            assert bare(again) == bare(shown)

    asyncio.run(story())
    processor.shutdown()
