"""What a program waits for when it imports loopspan, and what only when it uses it."""

import subprocess
import sys

ONLY_WHEN_USED = {
    "asyncio",
    "genai_prices",
    "grpc",
    "loopspan.playground",
    "loopspan.providers.anthropic",
    "loopspan.telemetry.export",
    "loopspan.telemetry.metric_export",
    "loopspan.telemetry.rules",
    "rich",
    "starlette",
    "typer",
    "uvicorn",
}


def test_import_brings_nothing_that_only_some_programs_use() -> None:
    """Seen from the packages that loopspan stands on, so that what these bring is not counted."""
    program = (
        "import sys, httpx, pydantic, opentelemetry.sdk.trace.export\n"
        "before = set(sys.modules)\n"
        "import loopspan\n"
        "print(*set(sys.modules) - before)"
    )
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    brought = set(ran.stdout.split())
    assert "loopspan.runs.run_trace" in brought
    assert brought & ONLY_WHEN_USED == set()
