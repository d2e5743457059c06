"""What a reply cost: as the provider reports it, else by the price table, else unknown."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from loopspan.messages import Endpoint, Reply, Usage

logger = logging.getLogger("loopspan.cost")


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars and where the figure comes from; unknown is `None` with a reason."""

    usd: float | None
    source: Literal["provider", "table"] | None = None
    missing: str | None = None


def cost_of(reply: Reply, endpoint: Endpoint, model: str) -> Cost:
    """Return the cost of a reply; `model` is the requested one, if only that is priced."""
    if reply.cost_usd is not None and math.isfinite(reply.cost_usd):
        return Cost(reply.cost_usd, "provider")
    plain = reply.usage.plain_input_tokens
    if plain is None or reply.usage.output_tokens is None:
        return Cost(None, missing="no usage reported")
    if plain < 0:
        return Cost(None, missing="more cached tokens than input")
    if endpoint.price is not None:
        return Cost(endpoint.price.of(reply.usage), "table")
    price_provider = endpoint.price_provider
    if price_provider is None:
        return Cost(None, missing="no price")
    for name in dict.fromkeys((reply.response_model or model, model)):
        price = _table_price(reply.usage, price_provider, name)
        if price is not None:
            return price
    _say_unpriced(price_provider, model)
    return Cost(None, missing="no price")


@lru_cache(maxsize=256)
def table_window(provider: str | None, model: str) -> int | None:
    """Return the context window that the price table knows for a model, in tokens."""
    if provider is None:
        return None
    try:
        from genai_prices.data_snapshot import get_snapshot

        return get_snapshot().find_provider_model(model, None, provider, None)[1].context_window
    except Exception:  # noqa: BLE001  # unknown, like a table that cannot be read
        return None


def _table_price(usage: Usage, provider: str, model: str) -> Cost | None:
    try:
        # The table is large and brings an HTTP client of its own: only when a price is asked for.
        from genai_prices import Usage as Counts
        from genai_prices import calc_price
    except Exception as error:  # noqa: BLE001  # a damaged table must not end a run
        return _unavailable(error)
    counts = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_input_tokens,
        "cache_write_tokens": usage.cache_write_input_tokens,
    }
    try:
        known = Counts(**{k: v for k, v in counts.items() if v is not None})
        return Cost(float(calc_price(known, model, provider_id=provider).total_price), "table")
    except LookupError:
        return None
    except Exception as error:  # noqa: BLE001  # a damaged table must not end a run
        return _unavailable(error)


def _unavailable(error: Exception) -> Cost:
    _say_unavailable(repr(error))
    return Cost(None, missing="price table unavailable")


@lru_cache(maxsize=256)
def _say_unpriced(provider: str, model: str) -> None:
    logger.warning("no price for %s:%s; its cost is unknown", provider, model)


@lru_cache(maxsize=1)
def _say_unavailable(error: str) -> None:
    logger.warning("the price table genai-prices cannot be used, costs are unknown: %s", error)
