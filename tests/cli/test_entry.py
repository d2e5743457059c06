"""Where the command line starts."""

import sys
from importlib.metadata import version

import pytest

from loopspan.cli import main
from tests.cli.command import loopspan


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_one_sentence_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for name in list(sys.modules):
        if name.startswith("loopspan.cli."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["run", "x"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"error: the command line needs {missing}, which is not installed; "
        "install it with: pip install 'loopspan[cli]'\n"
    )


def test_python_m_is_the_command() -> None:
    ran = loopspan("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"loopspan {version('loopspan')}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["check", "-h"]])
def test_help(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert "Usage: loopspan" in out
    assert err == ""


def test_without_a_command_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Usage: loopspan" in "".join(capsys.readouterr())
