"""Runs of the example's shop without end, for dashboards: a good many end well, some do not.

    python examples/traffic.py [SECONDS_BETWEEN] [RUNS]

Traces and metrics go where the standard variables say (`OTEL_EXPORTER_OTLP_ENDPOINT`).
"""

import itertools
import random
import sys
import time
from pathlib import Path

from loopspan import LoopspanError, configure
from loopspan.catalogue import Catalogue

CATALOGUE = Path(__file__).parent / "catalogue" / "loopspan.toml"
PROMPTS = (
    "Where is order 1002?",
    "Where is order 9999?",
    "May I send order 1001 back?",
    "Which orders are there?",
    "Hello",
)


def main(between: float = 5.0, runs: int | None = None) -> None:
    """Make runs, one after another; `None` makes them until somebody stops it."""
    provider = configure(service_name="shop", content="full")
    shop = Catalogue.load(CATALOGUE).loop("shop", content="full")
    prompts = random.Random(1)  # noqa: S311
    for made in itertools.count(1):
        try:
            result = shop.run(prompts.choice(PROMPTS))
            print(f"{made}: {result.outcome} after {result.rounds} rounds", flush=True)
        except LoopspanError as error:
            print(f"{made}: {error}", flush=True)
        if made == runs:
            break
        time.sleep(between * prompts.uniform(0.5, 1.5))
    provider.shutdown()


if __name__ == "__main__":
    given = sys.argv[1:]
    main(*map(float, given[:1]), *map(int, given[1:]))
