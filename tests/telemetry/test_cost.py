"""What a reply cost: by the provider, by one's own price, by the table, or unknown, and why."""

import logging
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan import ConfigurationError, ToolLoop, connect
from loopspan.catalogue import Catalogue
from loopspan.messages import Endpoint, Price, Reply, Usage
from loopspan.providers.anthropic import Anthropic
from loopspan.providers.openai import OpenAI
from loopspan.telemetry import cost
from loopspan.telemetry.cost import Cost, cost_of
from loopspan.testing import ScriptedModel, message

ANTHROPIC = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)


@pytest.fixture(autouse=True)
def not_yet_said() -> None:
    """Forget which warnings were given."""
    cost._say_unpriced.cache_clear()
    cost._say_unavailable.cache_clear()


def reply(usage: Usage, **facts: Any) -> Reply:
    return Reply((), usage, **facts)


def table(provider: str) -> Endpoint:
    return connect(f"{provider}:any", key="k").endpoint()


def priced(price: Price) -> Endpoint:
    return Endpoint("other", price_provider="anthropic", price=price)


def anthropic_usage(output: int) -> Usage:
    body = {
        "content": [],
        "usage": {
            "input_tokens": 7,
            "cache_read_input_tokens": 40_000,
            "cache_creation_input_tokens": 1_500,
            "output_tokens": output,
        },
    }
    return Anthropic().reply(body).usage


def openai_usage() -> Usage:
    body = {
        "choices": [{"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 9_000,
            "completion_tokens": 0,
            "prompt_tokens_details": {"cached_tokens": 8_900},
        },
    }
    return OpenAI().reply(body).usage


@pytest.mark.parametrize("endpoint", [priced(ANTHROPIC), table("anthropic")])
def test_tk_06_cached_input_of_anthropic_has_its_own_prices(endpoint: Endpoint) -> None:
    usage = anthropic_usage(output=0)
    assert usage.input_tokens == 41_507
    assert cost_of(reply(usage), endpoint, "claude-sonnet-4-5").usd == pytest.approx(0.017646)


@pytest.mark.parametrize("endpoint", [priced(Price(2.5, 10.0, cache_read=1.25)), table("openai")])
def test_tk_06_cached_input_of_openai_is_not_paid_for_twice(endpoint: Endpoint) -> None:
    usage = openai_usage()
    assert usage.input_tokens == 9_000
    expected = (100 * 2.5 + 8_900 * 1.25) / 1e6
    assert cost_of(reply(usage), endpoint, "gpt-4o").usd == pytest.approx(expected)


@pytest.mark.parametrize("endpoint", [priced(ANTHROPIC), table("anthropic")])
def test_tk_07_cache_reads_cost_a_tenth(endpoint: Endpoint) -> None:
    usage = Usage(1_200_000, 0, cache_read_input_tokens=1_000_000)
    found = cost_of(reply(usage), endpoint, "claude-sonnet-4-6")
    assert found.usd == pytest.approx(0.9)
    assert found.source == "table"


COUNTS = st.integers(0, 10**9)
PRICES = st.builds(
    Price,
    *[st.floats(0, 1000)] * 2,
    st.none() | st.floats(0, 1000),
    st.none() | st.floats(0, 1000),
)


@given(COUNTS, COUNTS, COUNTS, COUNTS, PRICES)
def test_tk_07_the_kinds_add_up(
    plain: int, read: int, written: int, output: int, price: Price
) -> None:
    def usd(plain: int, read: int, written: int, output: int) -> float:
        found = price.of(Usage(plain + read + written, output, read, written))
        assert found is not None
        return found

    kinds = usd(plain, 0, 0, 0) + usd(0, read, 0, 0) + usd(0, 0, written, 0) + usd(0, 0, 0, output)
    assert usd(plain, read, written, output) == pytest.approx(kinds, abs=1e-9)
    assert usd(1_000_000, 0, 0, 0) == pytest.approx(price.input)
    assert usd(0, 0, 0, 1_000_000) == pytest.approx(price.output)


def test_tk_08_a_model_without_a_price_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    usage = Usage(100, 10)
    for _ in range(3):
        found = cost_of(reply(usage, response_model="invented-2"), table("groq"), "invented-1")
        assert found == Cost(None, missing="no price")
    [record] = caplog.records
    assert record.getMessage() == "no price for groq:invented-1; its cost is unknown"


def test_tk_08_the_run_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    model = ScriptedModel(["Done."], name="invented-1")
    result = ToolLoop(model.model, client=model.client).run("Hi")
    assert (result.outcome, result.cost_usd) == ("completed", None)
    assert [r.levelname for r in caplog.records if r.name == "loopspan.cost"] == ["WARNING"]
    [missing] = [m for m in result.run.missing if m.field == "cost_usd"]
    assert (missing.why, missing.detail) == ("no_price", "no price")


def test_tk_08_a_price_of_ones_own_fills_the_gap() -> None:
    model = ScriptedModel(["Done."], name="invented-1")
    prices = {"openai:invented-1": Price(1e5, 1e6), "openai:gpt-4o": Price(0, 0)}
    result = ToolLoop(model.model, client=model.client, prices=prices).run("Hi")
    assert (result.cost_usd, result.run.cost_source) == (10 * 0.1 + 5 * 1.0, "table")


def test_tk_09_the_vendor_of_a_model_of_openrouter_is_understood() -> None:
    usage = Usage(1_000, 1_000)
    found = cost_of(reply(usage), table("openrouter"), "openai/gpt-4o")
    assert found.usd == pytest.approx(0.0125)
    assert found.source == "table"
    unknown = cost_of(reply(usage), table("openrouter"), "acme/unknown-1")
    assert unknown == Cost(None, missing="no price")


def test_tk_10_what_the_provider_reports_wins() -> None:
    said = reply(Usage(1_000, 1_000), cost_usd=0.00123)
    assert cost_of(said, table("openrouter"), "openai/gpt-4o") == Cost(0.00123, "provider")
    assert cost_of(said, priced(Price(1.0, 1.0)), "openai/gpt-4o") == Cost(0.00123, "provider")


@pytest.mark.parametrize("damage", ["not installed", "damaged"])
def test_tk_11_a_price_table_that_cannot_be_used_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    if damage == "damaged":

        def fail(*_: object, **__: object) -> None:
            raise TypeError("the table is damaged")

        monkeypatch.setattr("genai_prices.calc_price", fail)
    else:
        monkeypatch.setitem(sys.modules, "genai_prices", None)
    model = ScriptedModel([message("Done."), message("Done.")], name="gpt-4o")
    loop = ToolLoop(model.model, client=model.client)
    for _ in range(2):
        result = loop.run("Hi")
        assert (result.outcome, result.cost_usd) == ("completed", None)
        [missing] = [m for m in result.run.missing if m.field == "cost_usd"]
        assert missing.detail == "price table unavailable"
    [record] = [r for r in caplog.records if r.name == "loopspan.cost"]
    assert record.levelno == logging.WARNING


def test_tk_11_a_price_of_ones_own_needs_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    found = cost_of(reply(Usage(1_000_000, 0)), priced(Price(2.0, 1.0)), "any")
    assert found == Cost(2.0, "table")


@pytest.mark.parametrize("endpoint", [priced(ANTHROPIC), table("anthropic"), table("ollama")])
@pytest.mark.parametrize("usage", [Usage(), Usage(1, None), Usage(None, 1)])
def test_unknown_usage_has_no_cost(endpoint: Endpoint, usage: Usage) -> None:
    assert cost_of(reply(usage), endpoint, "any") == Cost(None, missing="no usage reported")


@pytest.mark.parametrize("endpoint", [priced(ANTHROPIC), table("anthropic")])
def test_more_cached_tokens_than_input_have_no_cost(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    said = reply(Usage(10, 1, cache_read_input_tokens=8, cache_write_input_tokens=3))
    found = cost_of(said, endpoint, "claude-sonnet-4-5")
    assert found == Cost(None, missing="more cached tokens than input")
    assert caplog.records == []


def test_cached_tokens_without_a_price_cost_what_input_does() -> None:
    assert Price(1.0, 0.0).of(Usage(1_000_000, 0, 400_000, 600_000)) == 1.0


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("kind", ["input", "output", "cache_read", "cache_write"])
def test_a_price_is_a_number_of_dollars(kind: str, value: float) -> None:
    with pytest.raises(ConfigurationError, match=f"price {kind} is {value!r}; give US dollars"):
        Price(**{"input": 1.0, "output": 1.0, kind: value})


def test_prices_of_a_catalogue_reach_the_span(tmp_path: Path) -> None:
    (tmp_path / "loopspan.toml").write_text(
        """
        [configurations.a]
        model = "openai:invented-1"
        [tools]
        builtin = false
        [prices."openai:invented-1"]
        input = 100000
        output = 1000000
        """
    )
    model = ScriptedModel(["Done."], name="invented-1")
    catalogue = Catalogue.load(tmp_path / "loopspan.toml")
    result = catalogue.loop("a", model=model.model, client=model.client).run("Hi")
    assert (result.cost_usd, result.run.cost_source) == (6.0, "table")
