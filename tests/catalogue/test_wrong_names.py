"""What a catalogue names and is not there, or is not what it has to be, is told with its place."""

import os
from pathlib import Path

import pytest

from loopspan import ConfigurationError
from loopspan.catalogue import Catalogue, lock_path
from tests.catalogue.written import GOOD, GOOD_B, SKILL, error_of, load

MISTAKES = {
    "model without provider": (
        '[configurations.a]\nmodel = "gpt-4o"\n',
        "loopspan.toml: [configurations.a] model: expected 'provider:model', got 'gpt-4o'",
    ),
    "model without name": (
        '[configurations.a]\nmodel = "openai:"\n',
        "loopspan.toml: [configurations.a] model: 'openai:' names no model; write 'provider:model'",
    ),
    "unknown skill": (
        GOOD + 'skills = ["s"]\n',
        "loopspan.toml: [configurations.a] skills: no skill 's'; known are none",
    ),
    "unknown skill with a near one": (
        GOOD + 'skills = ["helpp"]\n[skill_sources.s]\npath = "skills"\n',
        "loopspan.toml: [configurations.a] skills: no skill 'helpp'; did you mean 'help'?",
    ),
    "unknown tag": (
        GOOD + 'snippet_tags = ["stile"]\n[snippets.t]\ntext = "x"\ntags = ["style"]\n',
        "loopspan.toml: [configurations.a] snippet_tags: no snippet has the tag 'stile'; "
        "did you mean 'style'?",
    ),
    "unknown snippet": (
        GOOD + 'snippets = ["s"]\n[snippets.t]\ntext = "x"\n',
        "loopspan.toml: [configurations.a] snippets: no snippet 's'; known are t",
    ),
    "two prompts": (
        GOOD + 'system_prompt = "a"\nsystem_prompt_file = "b"\n',
        "loopspan.toml: [configurations.a] has both system_prompt and system_prompt_file; keep one",
    ),
    "prompt file missing": (
        GOOD + 'system_prompt_file = "b.md"\n',
        "b.md: the system prompt is not there",
    ),
    "skill folder missing": (
        '[skill_sources.s]\npath = "no"\n',
        "no: the path of skill source 's' is not a folder",
    ),
    "skill folder that is a file": (
        '[skill_sources.s]\npath = "loopspan.toml"\n',
        "loopspan.toml: the path of skill source 's' is not a folder",
    ),
    "disabled skill that is not there": (
        '[skill_sources.s]\npath = "skills"\ndisabled = ["halp"]\n',
        "loopspan.toml: [skill_sources.s] disabled: skills has no skill 'halp'; "
        "did you mean 'help'?",
    ),
    "checksum of a skill that is not there": (
        '[skill_sources.s]\npath = "skills"\nchecksums = { x = "00" }\n',
        "loopspan.toml: [skill_sources.s] checksums: skills has no skill 'x'; known are help",
    ),
    "checksum that is none": (
        '[skill_sources.s]\npath = "skills"\nchecksums = { help = "00" }\n',
        "loopspan.toml: [skill_sources.s.checksums] help: expected the 64 hexadecimal digits of a "
        "SHA-256, got '00'",
    ),
    "path with a null character": (
        '[skill_sources.s]\npath = "a\\u0000b"\n',
        "a\\x00b: the path of skill source 's' is no path that a file can have",
    ),
    "no tool module": (
        '[tools]\nmodules = ["no_such_tools.orders"]\n',
        "loopspan.toml: [tools] modules: there is no module 'no_such_tools.orders'; put it beside "
        "the catalogue, or its folder on PYTHONPATH",
    ),
    "tool module that is a file": (
        '[tools]\nmodules = ["tools/orders.py"]\n',
        "loopspan.toml: [tools] modules: expected the name of a Python module, "
        "got 'tools/orders.py'",
    ),
    "two prices of one model": (
        "[prices]\n'demo:' = { input = 1, output = 1 }\n"
        "'demo:demo-1' = { input = 1, output = 2 }\n",
        "loopspan.toml: [prices] \"demo:demo-1\" is a second price of 'demo:demo-1'; keep one",
    ),
    "negative price": (
        '[prices."demo:"]\ninput = -1\noutput = 1\n',
        'loopspan.toml: [prices."demo:"] input: expected greater than or equal to 0, got -1',
    ),
    "price without a model": (
        '[prices."x"]\ninput = 1.0\noutput = 1.0\n',
        "loopspan.toml: [prices] x: expected 'provider:model', got 'x'",
    ),
}


@pytest.mark.parametrize(("text", "expected"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str | bytes, expected: str) -> None:
    (tmp_path / "skills" / "help").mkdir(parents=True)
    (tmp_path / "skills" / "help" / "SKILL.md").write_text(SKILL)
    assert error_of(tmp_path, text).replace(str(tmp_path), ".") == expected


def test_a_catalogue_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"loopspan.toml: the catalogue is not there"):
        Catalogue.load(tmp_path / "loopspan.toml")


def test_an_unknown_provider_is_told_with_those_that_are_known(tmp_path: Path) -> None:
    said = error_of(tmp_path, '[configurations.a]\nmodel = "opnai:x"\n')
    assert said.startswith(
        "loopspan.toml: [configurations.a] model: provider 'opnai' is unknown; known are anthropic"
    )


def test_a_lock_file_without_checksums(tmp_path: Path) -> None:
    lock_path(tmp_path / "loopspan.toml").write_text("a = 1\n")
    said = error_of(tmp_path, GOOD)
    assert said == "loopspan.lock has no [checksums]; remove it and run `loopspan skills lock`"
    lock_path(tmp_path / "loopspan.toml").write_text("<<<<<<< HEAD\n")
    assert error_of(tmp_path, GOOD) == (
        "loopspan.lock is no TOML: Invalid statement (at line 1, column 1); "
        "remove it and run `loopspan skills lock`"
    )


def test_a_module_of_tools_is_imported_when_tools_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "broken_tools_of_a_test.py").write_text("raise OSError('no disk')")
    catalogue = load(tmp_path, GOOD + '[tools]\nmodules = ["broken_tools_of_a_test"]\n')
    with pytest.raises(ConfigurationError) as caught:
        catalogue.tools()
    assert str(caught.value).removeprefix(f"{tmp_path}{os.sep}") == (
        "loopspan.toml: [tools] modules: The tool module 'broken_tools_of_a_test' cannot be "
        "imported (OSError: no disk); is its folder on PYTHONPATH?"
    )


def test_a_tool_that_is_allowed_and_not_there_is_told(tmp_path: Path) -> None:
    catalogue = load(
        tmp_path, '[configurations.a]\nmodel = "demo:"\ntools = ["curent_time"]\n' + GOOD_B
    )
    with pytest.raises(ConfigurationError) as caught:
        catalogue.loop("a")
    said = str(caught.value).removeprefix(f"{tmp_path}{os.sep}")
    assert said == (
        "loopspan.toml: [configurations.a] tools: no tool 'curent_time'; "
        "did you mean 'current_time'?"
    )
    with pytest.raises(ConfigurationError, match="no tool 'curent_time'"):
        catalogue.check_tools(catalogue.tools())
    assert catalogue.loop("b").configuration.name == "b"
    assert catalogue.loop("a", tools=[]).configuration.name == "a"


def test_an_unknown_configuration_is_told_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"has no configuration 'b'; it has a$"):
        load(tmp_path, GOOD).configuration("b")


def test_a_tool_that_is_not_to_be_recorded_must_be_there(tmp_path: Path) -> None:
    text = GOOD + 'unrecorded_tools = ["curent_time"]\n'
    catalogue = load(tmp_path, text)
    said = (
        r"\[configurations.a\] unrecorded_tools: no tool 'curent_time'; did you mean 'current_time'"
    )
    with pytest.raises(ConfigurationError, match=said):
        catalogue.loop("a")
