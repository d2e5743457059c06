"""What the tests of the command line have in common."""

import os

import pytest


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take out what the environment of whoever runs the tests says to the command."""
    for name in os.environ:
        if name.startswith(("OTEL_", "LOOPSPAN_CONTENT")) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    for name in ("OLLAMA_HOST", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONUNBUFFERED"):
        monkeypatch.delenv(name, raising=False)
