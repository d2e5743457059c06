"""The dashboards against Grafana's own grammar of TraceQL and its own types."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.backends.build import BuildError
from tests.backends.grafana_checks import installed, type_errors, wrong_queries
from tests.requirements import require_or_skip

pytestmark = pytest.mark.backends

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "dashboards").glob("*.json"))


@pytest.fixture(scope="module")
def packages() -> Path:
    """Where Grafana's packages are."""
    try:
        return installed()
    except BuildError as error:
        require_or_skip("backends", f"Grafana's packages cannot be had: {error}")


def loaded(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def linked(url: str) -> list[dict[str, Any]]:
    """The queries of an address of Explore, with Grafana's variables filled in."""
    filled = re.sub(r"\$\{[^}]*\}", "1", url)
    panes = json.loads(parse_qs(urlsplit(filled).query)["panes"][0])
    return [query for pane in panes.values() for query in pane["queries"]]


def links() -> Iterator[str]:
    """The addresses behind the panels."""
    for path in FILES:
        for panel in loaded(path)["panels"]:
            for link in panel.get("fieldConfig", {}).get("defaults", {}).get("links", ()):
                yield link["url"]


def queries() -> list[str]:
    """Each TraceQL query of tables, links, and the guide."""
    tables = [
        target["query"]
        for path in FILES
        for panel in loaded(path)["panels"]
        for target in panel.get("targets", ())
        if "query" in target
    ]
    behind = [query["query"] for url in links() for query in linked(url)]
    guide = re.findall(r"```traceql\n(.*?)```", (ROOT / "docs" / "ops.md").read_text("utf-8"), re.S)
    told = [line for block in guide for line in block.splitlines() if line]
    assert len(tables) == 6
    assert len(behind) > 20
    return [*tables, *behind, *told]


def test_each_traceql_query_parses(packages: Path) -> None:
    assert wrong_queries(packages, queries()) == []


def test_a_query_that_does_not_parse_is_found(packages: Path) -> None:
    assert wrong_queries(packages, ["{ span.a = }", '{ span.a = "b" }']) != []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_dashboard_is_one_to_grafana(packages: Path, path: Path) -> None:
    assert type_errors(packages, loaded(path)) == ""


def test_a_misspelt_key_is_found(packages: Path) -> None:
    assert "titel" in type_errors(packages, {**loaded(FILES[0]), "titel": "Runs"})


def test_links_ask_the_traces_of_the_time_that_is_shown() -> None:
    for url in links():
        [query] = linked(url)
        assert query["datasource"]["type"] == "tempo"
        assert "${__from}" in url
        assert "${tempo}" in url
