"""`configure()` in a program of its own: what it exports by default, and with its switches off."""

import os
import subprocess
import sys

import pytest

from loopspan import ConfigurationError
from loopspan.telemetry.setup import exporting_processor
from tests.servers import Answer, playing

KEY = "sk-ant-api03-Ab1cd2Ef3gh4Ij5kl6"
PROGRAM = f"""
from loopspan import ToolLoop, configure

provider = configure(service_name="program", {{settings}})
ToolLoop("demo:", content="full").run("{KEY} " + "word " * 2000)
provider.shutdown()
"""


def exported(settings: str) -> bytes:
    """What a program with these settings sends."""
    with playing([Answer(200, "application/x-protobuf", b"")] * 9) as server:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "LOOPSPAN_"))}
        subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM.format(settings=settings)],
            env={**env, "OTEL_EXPORTER_OTLP_ENDPOINT": server.url},
            check=True,
            timeout=60,
        )
    return b"".join(server.bodies)


def test_configure_exports_no_content_by_default() -> None:
    sent = exported("")
    assert b"invoke_agent" in sent
    assert b"word" not in sent


def test_configure_masks_secrets_and_cuts_by_default() -> None:
    sent = exported('content="full"')
    assert KEY.encode() not in sent
    assert b"[redacted: api_key]" in sent
    assert b" bytes kept]" in sent
    assert b"word " * 400 not in sent


def test_configure_without_limit_and_redaction_exports_all() -> None:
    sent = exported('content="full", max_attribute_bytes=None, redact=None')
    assert f"{KEY} {'word ' * 2000}".strip().encode() in sent
    assert b" bytes kept]" not in sent


def test_a_policy_that_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="max_attribute_bytes is 0"):
        exporting_processor("full", max_attribute_bytes=0)


def test_a_run_trace_beside_the_export_tells_what_is_not_delivered() -> None:
    program = """
from loopspan import RunTrace, ToolLoop, configure

run_trace = RunTrace()
provider = configure(processors=(run_trace,), metrics=False)
ToolLoop("demo:").run("Hello")
provider.shutdown()
assert run_trace.stats.export_dropped == {"refused": 2}, run_trace.stats
"""
    with playing([Answer(401, "text/plain", b"")]) as server:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "LOOPSPAN_"))}
        env["OTEL_EXPORTER_OTLP_ENDPOINT"] = server.url
        subprocess.run([sys.executable, "-c", program], env=env, check=True, timeout=60)
