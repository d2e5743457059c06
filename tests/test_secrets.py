"""A secret shows as a mask wherever its text may go."""

import copy
import io
import logging
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

from loopspan import Model, Secret, ToolLoop
from loopspan.jsontext import dump_text
from loopspan.providers.openai import OpenAI
from loopspan.secrets import MASK

KEY = "sk-live-swordfish-1234567890"
SECRET = Secret(KEY)
MODEL = Model(OpenAI(), "gpt-4o", "https://api.example/v1", SECRET)

FORMS: dict[str, Callable[[Any], str]] = {
    "str": str,
    "repr": repr,
    "format": lambda value: f"{value}",
    "padded": lambda value: f"{value!s:>40}",
    "percent": lambda value: f"{value!r} {value}",
    "json": dump_text,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("value", [SECRET, MODEL, [MODEL], {"key": SECRET}], ids=repr)
def test_pr_05_every_text_form_is_a_mask(value: object, form: Callable[[Any], str]) -> None:
    told = form(value)
    assert KEY not in told
    assert "swordfish" not in told
    assert MASK in told


def test_pr_05_a_loop_and_its_model_show_no_key() -> None:
    loop = ToolLoop(MODEL)
    assert KEY not in f"{loop!r} {vars(loop)!r} {loop.model!r} {loop.model}"


def test_pr_05_a_log_line_shows_a_mask(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        logging.getLogger("app").info("connected to %s with %s, %r", MODEL, SECRET, {"k": SECRET})
    assert KEY not in caplog.text
    assert caplog.text.count(MASK) == 3


def test_pr_05_an_attribute_and_the_console_exporter_show_a_mask() -> None:
    out = io.StringIO()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=out)))
    with provider.get_tracer("test").start_as_current_span("work") as span:
        span.set_attribute("key", str(SECRET))
        span.set_attribute("model", repr(MODEL))
        span.set_attribute("itself", SECRET)  # type: ignore[arg-type]  # what callers may pass
        span.add_event("connected", {"key": f"{SECRET}"})
    assert KEY not in out.getvalue()
    assert out.getvalue().count(MASK) >= 3


def test_pr_05_a_secret_is_not_written_to_a_file() -> None:
    with pytest.raises(TypeError, match="environment"):
        pickle.dumps(SECRET)
    with pytest.raises(TypeError):
        copy.deepcopy(SECRET)


def test_only_reveal_gives_the_value() -> None:
    assert SECRET.reveal() == KEY
    assert SECRET.masked_in(f"a {KEY} b") == f"a {MASK} b"
    assert Secret(KEY) == SECRET
    assert SECRET != KEY
    assert {SECRET: 1}[Secret(KEY)] == 1
    assert not Secret("")
