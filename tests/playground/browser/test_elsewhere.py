"""A run from a backend in the same inspector."""

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from playwright.sync_api import expect

from loopspan.playground.opening import Backend
from tests.playground.browser.pages import Desk, address, fill_prompt, look_at, run
from tests.playground.served import served
from tests.playground.test_sources import ANSWERS, SOURCES, Shape, backend

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("kind", "shape"), SOURCES, ids=["jaeger", "tempo"])
def test_trace_id_opens_the_same_run(open_desk: Desk, kind: type[Backend], shape: Shape) -> None:
    """N7, must-have 21: same rows, same address; where it is from stands beside it."""
    spans = InMemorySpanExporter()
    source = backend(kind, shape, spans)
    desk = served(*ANSWERS, exporter=SimpleSpanProcessor(spans), backends=[source])
    page, _ = open_desk.open(desk)
    fill_prompt(page, "1 + 2?")
    page.get_by_label("Export this run too").check()
    run(page)
    look_at(page, 4)
    rows, where = page.locator(".step .what").all_inner_texts(), address(page)
    [known] = desk.run_trace.runs()
    page.get_by_label("Trace id").fill(str(known.trace_id))
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator("#badges")).to_contain_text(f"from {source.type.title()}")
    expect(page.locator(".step")).to_have_count(len(rows))
    assert page.locator(".step .what").all_inner_texts() == rows
    page.locator("#step-4").click()
    expect(page).to_have_url(where)
    page.get_by_role("tab").first.click()
    expect(page.locator("#runs-rows tr")).to_have_count(2)
