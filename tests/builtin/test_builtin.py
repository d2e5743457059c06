"""The built-in tools: what each of them tells, and that each is bounded."""

import importlib.metadata
import platform
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from loopspan.builtin import (
    RecentLogs,
    builtin_tools,
    current_time,
    environment_variables,
    installed_packages,
    python_information,
    recorded_runs_tool,
)
from loopspan.errors import InvalidArguments
from loopspan.secrets import MASK
from loopspan.tools import RESULT_LIMIT, ToolRegistry, result_text, returned_error

RUN = {"run_id": "r1", "outcome": "completed", "rounds": 2, "content": "private", "steps": []}


@pytest.fixture
def logs() -> Iterator[RecentLogs]:
    logs = RecentLogs()
    yield logs
    logs.detach()


def test_time_is_now_in_utc() -> None:
    told = current_time()
    assert told["timezone"] == told["abbreviation"] == "UTC"
    now = datetime.now(UTC)
    assert timedelta(0) <= now - datetime.fromisoformat(told["time"]) < timedelta(minutes=1)


def test_time_elsewhere_has_its_offset() -> None:
    told = current_time("Asia/Tokyo")
    assert told["time"].endswith("+09:00")
    assert told["abbreviation"] == "JST"
    assert told["weekday"] == f"{datetime.fromisoformat(told['time']):%A}"


@pytest.mark.parametrize("name", ["X/Y", "Europe", "", "../etc", "/etc/passwd", "a\0b", "x" * 500])
def test_unknown_time_zone_is_a_returned_error(name: str) -> None:
    told = current_time(name)
    assert told == {
        "error": f"unknown time zone {name[:60]!r}; use an IANA name such as 'Europe/Oslo'"
    }
    assert returned_error(told)


def test_folder_of_the_tzdata_package_is_no_time_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tzdata" / "zoneinfo" / "Made").mkdir(parents=True)
    for folder in ("tzdata", "tzdata/zoneinfo"):
        (tmp_path / folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("tzdata", "tzdata.zoneinfo"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert returned_error(current_time("Made"))


def test_python_tells_no_path() -> None:
    told = python_information()
    assert told["version"] == platform.python_version()
    assert told["executable"] == Path(sys.executable).name
    assert str(Path.home()) not in result_text(told)


def test_packages_are_found_by_part_of_their_name() -> None:
    told = installed_packages("PYDANTIC_c")
    assert told == {"packages": {"pydantic_core": importlib.metadata.version("pydantic_core")}}


def test_packages_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(400):
        folder = tmp_path / f"made{i}-1.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Name: made{i}\nVersion: 1\n", "utf-8")
    (tmp_path / "broken-1.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    told: Any = installed_packages()
    assert len(told["packages"]) == 300
    assert told["not_listed"] == 100


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("LANGUAGE", "C.UTF-8", "C.UTF-8"),
        ("API_KEY", "anything", MASK),
        ("HARMLESS", "sk-proj-abcdefgh12345678", MASK),
        ("DATABASE_URL", "postgres://ann:p4ss@db/x", MASK),
        ("SESSION", "aB3" * 12, MASK),
        ("EMPTY_TOKEN", "", ""),
        ("LONG", "x " * 200, "x " * 150 + "…"),
    ],
)
def test_environment_masks_secrets(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, shown: str
) -> None:
    monkeypatch.setenv(f"TEST_{name}", value)
    assert environment_variables(f"TEST_{name}") == {"variables": {f"TEST_{name}": shown}}


def test_environment_is_found_by_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TESTED_A", "TESTED_B", "UNTESTED_A"):
        monkeypatch.setenv(name, "x")
    assert environment_variables("tested_") == {"variables": {"TESTED_A": "x", "TESTED_B": "x"}}


def test_environment_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(1_000):
        monkeypatch.setenv(f"TEST_{i:04}", "x " * 1_000)
    told: Any = environment_variables("TEST_")
    assert told["not_listed"] == 850
    assert len(result_text(told)) < RESULT_LIMIT


def test_runs_are_shown_without_content() -> None:
    tool = recorded_runs_tool(lambda: [RUN])
    assert tool() == {"runs": [{"run_id": "r1", "outcome": "completed", "rounds": 2}]}


def test_runs_are_limited_to_the_newest() -> None:
    tool = recorded_runs_tool(lambda: ({"run_id": str(i)} for i in range(1_000)))
    assert tool(limit=2) == {"runs": [{"run_id": "0"}, {"run_id": "1"}]}


@pytest.mark.parametrize("limit", [0, 51])
def test_limit_of_runs_is_bounded(limit: int) -> None:
    with pytest.raises(InvalidArguments, match="limit: "):
        recorded_runs_tool(list).arguments({"limit": limit})


def test_all_tools(logs: RecentLogs) -> None:
    tools = ToolRegistry(builtin_tools(logs=logs, runs=list))
    assert [(tool.name, tool.requires_admin) for tool in tools] == [
        ("current_time", False),
        ("python_information", False),
        ("installed_packages", False),
        ("environment_variables", True),
        ("recent_log_records", True),
        ("recorded_runs", False),
    ]
    assert list(tools.groups) == ["builtin"]
    assert all(tool.description for tool in tools)


def test_tools_without_logs_and_runs() -> None:
    assert len(builtin_tools()) == 4


def test_package_can_be_given_as_a_module_of_tools() -> None:
    assert len(ToolRegistry.from_modules(["loopspan.builtin"])) == 4


def test_import_attaches_nothing() -> None:
    code = "import loopspan.builtin, logging; print(logging.getLogger().handlers)"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
