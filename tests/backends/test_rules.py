"""The alert rules and Prometheus' own file, checked by Prometheus' own tool."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.requirements import require_or_skip

pytestmark = pytest.mark.backends

ROOT = Path(__file__).parents[2]
RULES = ROOT / "dashboards" / "alerts.yaml"
TESTS = ROOT / "dashboards" / "alerts.test.yaml"


def promtool(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    if shutil.which("promtool") is None:
        require_or_skip("backends", "there is no promtool; apt-get install prometheus")
    return subprocess.run(["promtool", *arguments], cwd=cwd, capture_output=True, text=True)


def test_the_rules_do_in_their_cases_what_they_say() -> None:
    done = promtool("test", "rules", TESTS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_rule_that_does_not_fire_is_found(tmp_path: Path) -> None:
    shutil.copy(TESTS, tmp_path)
    (tmp_path / RULES.name).write_text(RULES.read_text("utf-8").replace("> 0.1", "> 0.5"))
    done = promtool("test", "rules", TESTS.name, cwd=tmp_path)
    assert done.returncode
    assert "LoopspanRunsFailing" in done.stdout + done.stderr


def test_prometheus_takes_its_file(tmp_path: Path) -> None:
    """But for the block on OTLP, which Debian's release does not know."""
    config = yaml.safe_load((ROOT / "collector" / "prometheus.yaml").read_text("utf-8"))
    del config["otlp"]
    (tmp_path / "prometheus.yaml").write_text(yaml.safe_dump(config))
    shutil.copy(RULES, tmp_path)
    done = promtool("check", "config", tmp_path / "prometheus.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 rules found" in done.stdout
