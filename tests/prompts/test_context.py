"""What a request takes of the window: estimated, then calibrated, and said before it is sent."""

import logging

import httpx
import pytest

from loopspan import Configuration, Parameters, Request, ToolDefinition, ToolLoop, tool, user
from loopspan.messages import Window
from loopspan.prompts.context import ContextGauge
from loopspan.runs import AssembledStep, RequestStep
from loopspan.testing import ScriptedModel, capture, message


@tool
def look() -> str:
    """Look."""
    return "x" * 400


def test_messages_and_tools_are_counted_in_bytes() -> None:
    bare = Request("m", (user("é" * 10),))
    with_tool = Request("m", (user("é" * 10),), (ToolDefinition("t"),))
    assert ContextGauge().use(bare).tokens == 5
    assert ContextGauge().use(with_tool).tokens == -(
        -(20 + len('{"type":"function","name":"t"}')) // 4
    )


def test_each_message_is_counted_once_as_the_dialogue_grows() -> None:
    gauge = ContextGauge()
    messages = [user("x" * 40)]
    for tokens in (10, 20, 30):
        assert gauge.use(Request("m", tuple(messages))).tokens == tokens
        messages.append(user("x" * 40))


def test_an_estimate_without_a_count_takes_four_bytes_a_token() -> None:
    use = ContextGauge().use(Request("m", (user("x" * 401),)))
    assert (use.tokens, use.calibrated, use.window, use.fits) == (101, False, None, True)


@pytest.mark.parametrize(("window", "fits"), [(150, True), (149, False)])
def test_the_answer_has_its_reserve(window: int, fits: bool) -> None:
    request = Request("m", (user("x" * 400),), parameters=Parameters(max_tokens=50))
    use = ContextGauge(Window(window, "configuration")).use(request)
    assert (use.reserve, use.fits) == (50, fits)


def test_later_rounds_are_calibrated_by_what_the_provider_counted() -> None:
    first = message(tool_calls=[("look", {})], usage={"prompt_tokens": 1000})
    model = ScriptedModel([first, "done"])
    with capture() as captured:
        loop = ToolLoop(model.model, [look], tracer_provider=captured.provider, client=model.client)
        result = loop.run("x" * 4000)
    one, two = [s.context for s in result.run.steps if isinstance(s, RequestStep)]
    assert one is not None
    assert two is not None
    assert (one.calibrated, two.calibrated) == (False, True)
    sent = ContextGauge().use(Request("m", (user("x" * 4000),), (look.definition,)))
    assert one.estimated_tokens == sent.tokens
    assert two.estimated_tokens > 1000
    assert two.estimated_tokens < one.estimated_tokens * 2


def test_a_run_that_cannot_fit_says_so_before_it_is_sent(caplog: pytest.LogCaptureFixture) -> None:
    said_before: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        said_before.append(caplog.text)
        return httpx.Response(400, json={"error": {"message": "too long"}})

    configuration = Configuration(context_window=100)
    with caplog.at_level(logging.WARNING, "loopspan.loop"):
        client = httpx.Client(transport=httpx.MockTransport(answer))
        loop = ToolLoop(ScriptedModel([]).model, configuration=configuration, client=client)
        with pytest.raises(Exception, match="too long"):
            loop.run("x" * 4000)
    assert "takes about 1000 tokens" in said_before[0]
    assert "is 100" in said_before[0]


@pytest.mark.parametrize(
    ("name", "own", "expected"),
    [
        ("gpt-4o", None, (128_000, "table")),
        ("gpt-4o", 50, (50, "configuration")),
        ("made-up", None, (None, None)),
    ],
)
def test_the_window_is_the_configurations_else_the_tables(
    name: str, own: int | None, expected: tuple[int | None, str | None]
) -> None:
    model = ScriptedModel([], name=name)
    with capture() as captured:
        loop = ToolLoop(
            model.model,
            configuration=Configuration(context_window=own),
            tracer_provider=captured.provider,
        )
        [step] = loop.run("x" * 300, dry_run=True).run.steps
    assert isinstance(step, AssembledStep)
    assert step.context is not None
    assert (step.context.window, step.context.window_source) == expected
    assert step.context.fits is (own is None)
