"""The command line with a catalogue: configurations, skills, snippets, checksums."""

import json
import shutil
from pathlib import Path

import pytest

from loopspan.cli import main
from tests.cli.command import objects

Out = pytest.CaptureFixture[str]
EXAMPLE = Path(__file__).parents[2] / "examples" / "catalogue"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example catalogue in the current folder."""
    folder = tmp_path / "shop"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(folder)
    return folder / "loopspan.toml"


@pytest.mark.parametrize("named", [[], ["--catalogue", "loopspan.toml"]])
def test_a_configuration_runs_with_its_tools(shop: Path, capsys: Out, named: list[str]) -> None:
    code = main(["run", "Where is order 1002?", "--config", "shop", "--json", *named])
    events = objects(capsys.readouterr().out)
    run = events[-1]["run"]
    assert code == 0
    assert run["configuration"] == "shop"
    assert run["cost_usd"] == 0.0
    assert [e["step"]["kind"] for e in events if e["event"] == "step"][:2] == ["request", "chat"]
    assert [t["name"] for t in events[0]["step"]["tools"]] == [
        "find_order",
        "list_orders",
        "refund_rules",
    ]


def test_the_dry_run_shows_what_was_left_out_and_what_it_takes(shop: Path, capsys: Out) -> None:
    skill = shop.parent / "skills" / "refunds" / "SKILL.md"
    skill.write_text(skill.read_text("utf-8") + "Obey.", "utf-8")
    code = main(["run", "Hi", "--config", "shop", "--dry-run"])
    shown = capsys.readouterr().out
    assert code == 0
    assert "left out   skill refunds" in shown
    assert "checksum" in shown
    assert "Obey" not in shown
    assert "tokens, an estimate; its window is 32,000 by the configuration" in shown


def test_skills_and_snippets_are_added_to_a_run(shop: Path, capsys: Out) -> None:
    code = main(
        [
            *("run", "Hi", "--dry-run", "--json"),
            *("--skill", "shop/refunds", "--snippet", "brief", "--system", "Be kind."),
        ]
    )
    [step] = [e["step"] for e in objects(capsys.readouterr().out) if e["event"] == "step"]
    assert code == 0
    origins = [(part["type"], part.get("id")) for part in step["parts"]]
    assert origins == [
        ("override", None),
        ("snippet", "brief"),
        ("guard", None),
        ("skill", "refunds"),
        ("guard", None),
        ("user", None),
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--config", "nope"], "loopspan.toml has no configuration 'nope'; it has plain, shop"),
        (["--skill", "nope"], "loopspan.toml has no skill 'nope'"),
        (["--snippet", "nope"], "loopspan.toml has no snippet 'nope'"),
        (["--config", "shop", "--catalogue", "no.toml"], "no.toml: the catalogue is not there"),
    ],
)
def test_what_a_catalogue_has_not_is_wrong_usage(
    shop: Path, capsys: Out, arguments: list[str], said: str
) -> None:
    assert main(["run", "Hi", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_configuration_without_a_catalogue_is_wrong_usage(
    tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "Hi", "--config", "shop"]) == 2
    assert "there is no loopspan.toml in this folder" in capsys.readouterr().err


def test_a_changed_skill_is_told_until_it_is_locked(shop: Path, capsys: Out) -> None:
    def listed() -> tuple[int, dict[str, str]]:
        code = main(["skills", "list", "--json"])
        skills = [json.loads(line)["skill"] for line in capsys.readouterr().out.splitlines()]
        return code, {s["identifier"]: s["state"] for s in skills}

    assert listed() == (0, {"refunds": "ok", "tone-of-voice": "disabled"})
    skill = shop.parent / "skills" / "refunds" / "SKILL.md"
    skill.write_text(skill.read_text("utf-8") + "More.", "utf-8")
    assert listed() == (1, {"refunds": "changed", "tone-of-voice": "disabled"})
    assert main(["skills", "lock"]) == 0
    assert "changed    shop/refunds" in capsys.readouterr().out
    assert listed() == (0, {"refunds": "ok", "tone-of-voice": "disabled"})
    assert main(["skills", "lock"]) == 0
    assert capsys.readouterr().out == "loopspan.lock has 2 skills, as before\n"


def test_a_source_that_is_off_is_not_locked(shop: Path, capsys: Out) -> None:
    shop.write_text(shop.read_text("utf-8").replace("enabled = true", "enabled = false"), "utf-8")
    assert main(["skills", "lock", "--json"]) == 0
    [event] = objects(capsys.readouterr().out)
    assert event["removed"] == ["shop/refunds", "shop/tone-of-voice"]
    assert main(["skills", "lock"]) == 0
    assert capsys.readouterr().out == "loopspan.lock has 0 skills, as before\n"


def test_a_lock_says_which_skills_the_catalogue_still_holds_back(shop: Path, capsys: Out) -> None:
    with shop.open("a", encoding="utf-8") as file:
        file.write(f"[skill_sources.shop.checksums]\nrefunds = '{'0' * 64}'\n")
    assert main(["skills", "lock"]) == 0
    assert capsys.readouterr().err == (
        "warning: still not used: shop/refunds; loopspan.toml has other checksums of its own, "
        "which win\n"
    )


def test_a_tool_that_is_allowed_and_not_there_is_wrong_usage(
    shop: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    shop.write_text(shop.read_text("utf-8").replace('"find_order"', '"find_ordr"'), "utf-8")
    said = "loopspan.toml: [configurations.shop] tools: no tool 'find_ordr'; did you mean"
    assert main(["run", "Hi", "--config", "shop", "--dry-run"]) == 2
    assert said in capsys.readouterr().err
    assert main(["run", "Hi", "--config", "plain", "--dry-run"]) == 0
    capsys.readouterr()
    assert main(["check", "--json"]) == 1
    [event] = objects(capsys.readouterr().out)
    assert said in event["check"]["catalogue"]["problem"]


def test_check_tells_of_the_catalogue_here(
    shop: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    assert main(["check", "--json"]) == 0
    [event] = objects(capsys.readouterr().out)
    assert event["check"]["catalogue"]["value"] == "loopspan.toml: 2 configurations, 3 tools"
    assert event["check"]["skills"]["value"] == "1 disabled, 1 ok"
    (shop.parent / "loopspan.lock").unlink()
    assert main(["check", "--json"]) == 1
    [event] = objects(capsys.readouterr().out)
    assert "loopspan skills lock" in event["check"]["skills"]["problem"]
    shop.write_text("[configuration.x]")
    assert main(["check", "--json"]) == 1
    [event] = objects(capsys.readouterr().out)
    assert "did you mean 'configurations'?" in event["check"]["catalogue"]["problem"]
