"""Each kind of mistake in a catalogue gives one clear error with its place; nothing is loaded."""

import os
from pathlib import Path

import pytest

from loopspan import ConfigurationError
from loopspan.catalogue import Catalogue, lock_path

GOOD = '[configurations.a]\nmodel = "demo:"\n'
SKILL = "---\nname: S\n---\nDo.\n"


def load(folder: Path, text: str | bytes) -> Catalogue:
    path = folder / "loopspan.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Catalogue.load(path)


def error_of(folder: Path, text: str | bytes) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(folder, text)
    return str(caught.value).replace(str(folder) + os.sep, "")


MISTAKES = {
    "not TOML": (
        "[configurations.a\n",
        "loopspan.toml is no TOML: Expected ']' at the end of a table declaration "
        "(at line 1, column 18)",
    ),
    "not UTF-8": (
        b'[configurations.a]\nmodel = "\xff"',
        "loopspan.toml: the catalogue is not UTF-8 (byte 28 cannot be read)",
    ),
    "too large": (
        "#" * 1024 * 1025,
        "loopspan.toml: the catalogue is larger than 1,048,576 bytes",
    ),
    "unknown table": (
        "[configuration.a]\n",
        "loopspan.toml: configuration is unknown; did you mean 'configurations'?",
    ),
    "unknown key": (
        GOOD + "max_round = 3\n",
        "loopspan.toml: [configurations.a] max_round is unknown; did you mean 'max_rounds'?",
    ),
    "unknown key without a near one": (
        GOOD + "[tools]\nzzz = 1\n",
        "loopspan.toml: [tools] zzz is unknown; known are modules, builtin",
    ),
    "unknown parameter": (
        GOOD + "[configurations.a.parameters]\ntemprature = 1.0\n",
        "loopspan.toml: [configurations.a.parameters] temprature is unknown; "
        "did you mean 'temperature'?",
    ),
    "a key": (
        GOOD + 'api_key = "sk-1"\n',
        "loopspan.toml: [configurations.a] api_key is unknown; keys are never read from a file: "
        "set the provider's environment variable",
    ),
    "missing model": (
        "[configurations.a]\n",
        "loopspan.toml: [configurations.a] model is missing; every such table has one",
    ),
    "wrong type": (
        GOOD + 'max_rounds = "many"\n',
        "loopspan.toml: [configurations.a] max_rounds: expected a valid integer, got 'many'",
    ),
    "wrong type in a list": (
        GOOD + "tools = [1]\n",
        "loopspan.toml: [configurations.a] tools[0]: expected a valid string, got 1",
    ),
    "out of range": (
        GOOD + "max_rounds = 21\n",
        "loopspan.toml: [configurations.a] max_rounds: expected less than or equal to 20, got 21",
    ),
    "negative budget": (
        GOOD + "[configurations.a.budget]\nusd = -1.0\n",
        "loopspan.toml: [configurations.a.budget] usd: expected greater than or equal to 0, "
        "got -1.0",
    ),
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
    "disabled skill that is not there": (
        '[skill_sources.s]\npath = "."\ndisabled = ["x"]\n',
        "loopspan.toml: [skill_sources.s] names the skill 'x', which . has not",
    ),
    "price without a model": (
        '[prices."x"]\ninput = 1.0\noutput = 1.0\n',
        "loopspan.toml: [prices.\"x\"]: expected 'provider:model', got 'x'",
    ),
}


@pytest.mark.parametrize(("text", "expected"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str | bytes, expected: str) -> None:
    assert error_of(tmp_path, text).replace(str(tmp_path), ".") == expected


def test_a_catalogue_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"loopspan.toml: the catalogue is not there"):
        Catalogue.load(tmp_path / "loopspan.toml")


def test_an_unknown_provider_is_told_with_those_that_are_known(tmp_path: Path) -> None:
    said = error_of(tmp_path, '[configurations.a]\nmodel = "opnai:x"\n')
    assert said.startswith(
        "loopspan.toml: [configurations.a] model: provider 'opnai' is unknown; known are anthropic"
    )


SOURCE = '[skill_sources.s]\npath = "skills"\n'
SKILLS = {
    "no SKILL.md": (None, "skills/a/SKILL.md: the skill is not there"),
    "no front matter": (
        "Do.\n",
        "skills/a/SKILL.md has no front matter; begin it with '---', 'name: …', "
        "'description: …', '---'",
    ),
    "no YAML": (
        "---\nname: [\n---\n",
        "skills/a/SKILL.md: the front matter is no YAML: while parsing a flow node",
    ),
    "no mapping": (
        "---\n- a\n---\n",
        "skills/a/SKILL.md: the front matter is no mapping; write 'name: …'",
    ),
    "name is no text": (
        "---\nname: 3\n---\n",
        "skills/a/SKILL.md: name in the front matter: expected text, got 3",
    ),
    "tools are no names": (
        "---\nallowed-tools: [1]\n---\n",
        "skills/a/SKILL.md: allowed-tools in the front matter: expected names, got [1]",
    ),
}


@pytest.mark.parametrize(("text", "expected"), SKILLS.values(), ids=list(SKILLS))
def test_a_mistake_in_a_skill_is_told(tmp_path: Path, text: str | None, expected: str) -> None:
    folder = tmp_path / "skills" / "a"
    folder.mkdir(parents=True)
    if text is not None:
        (folder / "SKILL.md").write_text(text)
    assert error_of(tmp_path, SOURCE).startswith(expected)


def test_skills_and_prompts_outside_of_the_folder_are_refused(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "secret.md").write_text("x")
    said = error_of(inside, GOOD + 'system_prompt_file = "../secret.md"\n')
    assert "lies outside of the catalogue's folder" in said
    (inside / "link.md").symlink_to(tmp_path / "secret.md")
    said = error_of(inside, GOOD + 'system_prompt_file = "link.md"\n')
    assert "lies outside of the catalogue's folder" in said


def test_a_lock_file_without_checksums(tmp_path: Path) -> None:
    lock_path(tmp_path / "loopspan.toml").write_text("a = 1\n")
    said = error_of(tmp_path, GOOD)
    assert said == "loopspan.lock has no [checksums]; write it with `loopspan skills lock`"


def test_skills_without_pyyaml_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "skills" / "a"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    assert error_of(tmp_path, SOURCE).endswith("run: pip install 'loopspan[yaml]'")


def test_a_module_without_tools_is_told_when_tools_are_asked_for(tmp_path: Path) -> None:
    catalogue = load(tmp_path, GOOD + '[tools]\nmodules = ["no_such_module_of_tools"]\n')
    with pytest.raises(ConfigurationError, match="no_such_module_of_tools"):
        catalogue.tools()


def test_an_unknown_configuration_is_told_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"has no configuration 'b'; it has a$"):
        load(tmp_path, GOOD).configuration("b")
