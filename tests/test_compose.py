"""The compose file: valid, pinned, on loopback alone, and its files and options are there."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from compose_spec import PyCompose

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docker-compose.yml"
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(FILE.read_text("utf-8"))["services"]


def mounts() -> list[str]:
    return [m for s in SERVICES.values() for m in s.get("volumes", ())]


def test_it_follows_the_specification() -> None:
    PyCompose.from_yaml(FILE.read_text("utf-8"))


def test_the_check_of_the_specification_can_fail() -> None:
    with pytest.raises(ValueError, match="volume_mounts"):
        PyCompose.from_yaml("services: {a: {image: b, volume_mounts: []}}")


def test_images_are_pinned_or_built_here() -> None:
    own = {"loopspan-example"}
    tags = {s["image"] for s in SERVICES.values()} - own
    assert all(tag.partition(":")[2] not in ("", "latest") for tag in tags)
    assert [n for n, s in SERVICES.items() if "build" in s] == ["playground"]
    assert (ROOT / SERVICES["playground"]["build"]["dockerfile"]).is_file()


def test_ports_are_on_loopback() -> None:
    ports = [port for s in SERVICES.values() for port in s.get("ports", ())]
    assert len(ports) == 8
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_mounted_files_are_there() -> None:
    for mount in mounts():
        source = mount.split(":")[0]
        assert not source.startswith(".") or (ROOT / source).exists(), mount


def test_each_service_that_stays_says_whether_it_is_well() -> None:
    """But for the Collector, whose image has nothing to ask with, and what ends by itself."""
    without = {name for name, s in SERVICES.items() if "healthcheck" not in s}
    assert without == {"collector", "collector-queue", "traffic"}


def test_the_playgrounds_options_are_options_of_the_command() -> None:
    command = SERVICES["playground"]["command"]
    done = subprocess.run(
        [sys.executable, "-m", "loopspan", command[0], "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"COLUMNS": "200", "NO_COLOR": "1"},
    )
    options = [argument.partition("=")[0] for argument in command[1:]]
    assert [option for option in options if f"{option} " not in done.stdout] == []
