"""The examples run as they stand."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loopspan.catalogue import Catalogue
from loopspan.catalogue.lock import states

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def catalogue() -> Catalogue:
    return Catalogue.load(EXAMPLES / "catalogue" / "loopspan.toml")


def test_the_example_catalogue_is_locked(catalogue: Catalogue) -> None:
    found = {s.skill.identifier: s.state for s in states(catalogue.library.skills)}
    assert found == {"refunds": "ok", "tone-of-voice": "disabled"}


def test_the_example_catalogue_runs(catalogue: Catalogue) -> None:
    result = catalogue.loop("shop", content="full").run("Where is order 1002?")
    assert result.outcome == "completed"
    assert [s.kind for s in result.run.steps] == ["request", "chat", "tool", "request", "chat"]
    assert result.content is not None
    assert "Grace" in result.content
    assert result.cost_usd == 0.0
    first = result.messages[-4]
    assert "### Skill: Refunds" in first.text
    assert first.text.endswith("Where is order 1002?")


def test_the_plain_configuration_runs(catalogue: Catalogue) -> None:
    result = catalogue.loop("plain").run("Hello")
    assert result.outcome == "completed"
    assert result.run.configuration == "plain"


def test_each_key_of_a_catalogue_is_in_the_example(tmp_path: Path) -> None:
    from loopspan.catalogue.document import (
        BudgetTable,
        ConfigurationTable,
        Document,
        ParametersTable,
        PriceTable,
        SkillSourceTable,
        SnippetTable,
        ToolsTable,
    )

    text = (EXAMPLES / "catalogue" / "loopspan.toml").read_text("utf-8")
    tables = (
        Document,
        ConfigurationTable,
        ParametersTable,
        BudgetTable,
        SkillSourceTable,
        SnippetTable,
        ToolsTable,
        PriceTable,
    )
    keys = {key for table in tables for key in table.model_fields}
    assert {key for key in keys if key not in text} == set()


def test_a_changed_skill_of_the_example_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "catalogue"
    shutil.copytree(EXAMPLES / "catalogue", folder)
    skill = folder / "skills" / "refunds" / "SKILL.md"
    skill.write_text(skill.read_text("utf-8") + "\nPromise everything.\n", "utf-8")
    result = Catalogue.load(folder / "loopspan.toml").loop("shop").run("Hello")
    assert all("Promise everything" not in message.text for message in result.messages)
    assert result.run.parts is not None
    assert [p.get("dropped") for p in result.run.parts if p["type"] == "skill"] == ["checksum"]


def test_the_traffic_example_makes_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / "traffic.py", "0", "2"],
        env={**os.environ, "OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert [line.split(" after")[0] for line in done.stdout.splitlines()] == [
        "1: completed",
        "2: completed",
    ]
