"""Older attribute names: the same under one setting, plain and streamed."""

import pytest

from loopspan import ToolLoop
from loopspan.telemetry import semconv as names
from loopspan.testing import ScriptedModel, capture, message

USAGE = {
    "prompt_tokens": 10,
    "completion_tokens": 5,
    "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
}


def attributes(compat: bool | None, streamed: bool) -> dict[str, object]:
    model = ScriptedModel([message("Hi.", usage=USAGE)])
    with capture() as captured:
        loop = ToolLoop(
            model.model, tracer_provider=captured.provider, compat=compat, client=model.client
        )
        if streamed:
            with loop.stream("Hi") as stream:
                result = stream.drain()
        else:
            result = loop.run("Hi")
        assert captured.run_trace.run(result.run_id) == result.run
        assert result.run.usage.cache_write_input_tokens == 3
    [chat] = [span for span in captured.spans if span.name.startswith("chat")]
    return dict(chat.attributes or {})


@pytest.mark.parametrize("compat", [False, True])
def test_as03_plain_and_streamed_use_the_same_names(compat: bool) -> None:
    """AS-03: one function writes the names of both paths."""
    plain, streamed = attributes(compat, False), attributes(compat, True)
    only_streamed = {names.REQUEST_STREAM, names.RESPONSE_TIME_TO_FIRST_CHUNK}
    assert streamed.keys() - plain.keys() == only_streamed
    assert plain.keys() - streamed.keys() == set()


def test_as03_older_names_stand_beside_or_in_place_of_the_current_ones() -> None:
    current, older = attributes(False, False), attributes(True, False)
    assert older.keys() - current.keys() == {names.SYSTEM, names.USAGE_CACHE_CREATION}
    assert current.keys() - older.keys() == {names.USAGE_CACHE_WRITE}
    assert older[names.SYSTEM] == current[names.PROVIDER_NAME]
    assert older[names.USAGE_CACHE_CREATION] == 3


@pytest.mark.parametrize(
    ("value", "older"), [("1", True), ("true", True), ("0", False), ("", False)]
)
def test_the_environment_may_ask_for_older_names(
    monkeypatch: pytest.MonkeyPatch, value: str, older: bool
) -> None:
    monkeypatch.setenv("LOOPSPAN_COMPAT", value)
    assert (names.SYSTEM in attributes(None, False)) is older
