"""The dashboards as files: made from the names, complete, and laid out without overlaps."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dashboards.generate.__main__ import FOLDER, files
from dashboards.generate.promql import METRICS, grown, label
from loopspan.telemetry import semconv

DASHBOARDS = sorted(FOLDER.glob("*.json"))
UIDS = {"runs": "loopspan-runs", "models-and-cost": "loopspan-models", "tools": "loopspan-tools"}


def loaded(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def panels() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in DASHBOARDS:
        for panel in loaded(path)["panels"]:
            yield path.stem, panel


@pytest.mark.parametrize("name", sorted(files()))
def test_each_file_is_what_the_names_make_of_it(name: str) -> None:
    """BE-03: a rename in the semconv module fails here until `make dashboards` is run."""
    assert (FOLDER / name).read_text("utf-8") == files()[name], "run `make dashboards`"


def test_uids_stay() -> None:
    """Grafana does not replace a dashboard whose uid changes."""
    assert {path.stem: loaded(path)["uid"] for path in DASHBOARDS} == UIDS


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_do_not_overlap(path: Path) -> None:
    found = loaded(path)["panels"]
    cells = [
        (x, y)
        for panel in found
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in found}) == len(found)


def test_each_panel_says_what_it_shows() -> None:
    assert [
        (n, p["title"]) for n, p in panels() if p["type"] != "row" and not p["description"]
    ] == []


def test_each_metric_is_on_a_panel_or_has_a_reason_not_to_be() -> None:
    shown = "".join(
        target["expr"] for _, p in panels() for target in p.get("targets", ()) if "expr" in target
    )
    older = {label(v) for k, v in vars(semconv).items() if k.startswith("OLD_")}
    unshown = {
        n for n in METRICS.values() if not re.search(rf"\b{n}(_bucket|_sum|_count)?\b", shown)
    }
    reasons = {
        # between one chunk and the next: too fine for a panel, there for a question
        "gen_ai_client_inference_time_per_output_chunk_seconds",
        # the input is what grows
        "gen_ai_client_inference_operation_output_tokens",
    }
    assert {n for n in unshown if n.removesuffix("_seconds") not in older} == reasons


def test_provisioned_names_are_names_of_ours() -> None:
    text = "".join(path.read_text("utf-8") for path in FOLDER.rglob("provisioning/**/*.yaml"))
    named = set(re.findall(r"\b(?:gen_ai|loopspan)_\w+", text))
    labels = {label(v) for v in vars(semconv).values() if isinstance(v, str)}
    known = {f"{n}{s}" for n, s in itertools.product(METRICS.values(), ("", "_bucket"))}
    assert named
    assert named - labels - known == set()


def test_rules_tests_are_beside_the_rules() -> None:
    rules = yaml.safe_load((FOLDER / "alerts.yaml").read_text("utf-8"))["groups"][0]["rules"]
    tests = yaml.safe_load((FOLDER / "alerts.test.yaml").read_text("utf-8"))
    asked = {case["alertname"] for test in tests["tests"] for case in test["alert_rule_test"]}
    assert {rule["alert"] for rule in rules} == asked


def test_growth_is_a_difference() -> None:
    assert grown("x", "1h") == (
        "(last_over_time(x[1h]) - (x offset 1h or last_over_time(x[1h]) * 0) >= 0"
        " or last_over_time(x[1h]))"
    )


def test_the_guide_explains_each_panel_and_alert() -> None:
    guide = (FOLDER.parent / "docs" / "ops.md").read_text("utf-8")
    titles = {panel["title"] for _, panel in panels() if panel["type"] != "row"}
    rules = yaml.safe_load((FOLDER / "alerts.yaml").read_text("utf-8"))["groups"][0]["rules"]

    assert {title for title in titles if f"*{title}*" not in guide} == set()
    assert {rule["alert"] for rule in rules if f"`{rule['alert']}`" not in guide} == set()


def test_nothing_asks_for_a_provider_by_its_spelling() -> None:
    """BE-05: `mistral` or `mistral_ai`, panels, links and alerts show both."""
    for name, text in files().items():
        told = text.replace("\\", "")
        asked = re.findall(r'gen_ai[._]provider[._]name ?(?:=~?|!=) ?"', told)
        assert asked == [], name
