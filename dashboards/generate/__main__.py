"""`python -m dashboards.generate`: write the dashboards and alert rules beside this package."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from dashboards.generate.alerts import alerts
from dashboards.generate.models import models
from dashboards.generate.runs import runs
from dashboards.generate.tools import tools

FOLDER = Path(__file__).parents[1]
HEAD = "# Made by `make dashboards` from the names in loopspan.telemetry.semconv.\n"


def files() -> dict[str, str]:
    """Return what each file holds."""
    made = {"runs": runs(), "models-and-cost": models(), "tools": tools()}
    dashboards = {
        f"{name}.json": json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        for name, value in made.items()
    }
    rules = yaml.safe_dump(alerts(), sort_keys=False, allow_unicode=True, width=100)
    return {**dashboards, "alerts.yaml": HEAD + rules}


def main() -> None:
    """Write all files."""
    for name, text in files().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
