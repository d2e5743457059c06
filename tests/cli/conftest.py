"""What the tests of the command line have in common."""

import os
from pathlib import Path

import pytest

from loopspan.providers.connect import adapter
from tests.cli.checking import free_port


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take out what the environment of whoever runs the tests says to the command."""
    for name in os.environ:
        if name.startswith(
            ("OTEL_", "LOOPSPAN_CONTENT", "LOOPSPAN_JAEGER", "LOOPSPAN_TEMPO")
        ) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    for name in ("OLLAMA_HOST", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONUNBUFFERED"):
        monkeypatch.delenv(name, raising=False)


TOOLS = '''
from loopspan import tool

print("imported")

@tool
def shout(word: str) -> str:
    """Shout a word."""
    print("shouting")
    return word.upper()

@tool
def fail() -> str:
    """Fail."""
    raise ValueError("the tool's own secret words")

@tool(requires_admin=True)
def reboot() -> str:
    """Reboot."""
    return "rebooted"

@tool(enabled=False)
def retired() -> str:
    """Do nothing any more."""
    return ""
'''


@pytest.fixture
def tool_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of tools in the current folder, known to Python in no other way."""
    name = f"tools_of_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(TOOLS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")  # restores sys.path afterwards
    return name


@pytest.fixture(autouse=True)
def no_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for Ollama where none is, whatever runs on this machine."""
    monkeypatch.setattr(type(adapter("ollama")), "base_url", f"http://127.0.0.1:{free_port()}")
