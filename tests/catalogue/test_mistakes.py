"""Each kind of mistake in a catalogue gives one clear error with its place; nothing is loaded."""

import itertools
import os
from pathlib import Path

import pytest

from loopspan import ConfigurationError
from loopspan.catalogue import Catalogue, lock_path

GOOD = '[configurations.a]\nmodel = "demo:"\n'
GOOD_B = '[configurations.b]\nmodel = "demo:"\n'
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
    "two tables of one name": (
        GOOD + GOOD,
        "loopspan.toml is no TOML: Cannot declare ('configurations', 'a') twice "
        "(at line 3, column 18)",
    ),
    "deep lists": (
        "a = " + "[" * 5000,
        "loopspan.toml is no TOML: it is nested too deeply",
    ),
    "a number that is too long": (
        "a = " + "9" * 5000,
        "loopspan.toml is no TOML: a number in it has too many digits",
    ),
    "deep tables": (
        GOOD + "[configurations.a.parameters.extra]\n" + "a." * 5000 + "a = 1\n",
        "loopspan.toml: [configurations.a.parameters.extra.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a] a: "
        "expected at most 20 tables in each other",
    ),
    "a name with a blank": (
        '[configurations."a b"]\nmodel = "demo:"\n',
        "loopspan.toml: [configurations] 'a b': expected a name of at most 64 letters, digits, "
        "'_', '-' and '.'",
    ),
    "a name with a slash": (
        '[snippets."a/b"]\ntext = "x"\n',
        "loopspan.toml: [snippets] 'a/b': expected a name of at most 64 letters, digits, "
        "'_', '-' and '.'",
    ),
    "no finite number": (
        GOOD + "[configurations.a.budget]\nusd = inf\n",
        "loopspan.toml: [configurations.a.budget] usd: expected a finite number, got inf",
    ),
    "a number of more than 64 bits": (
        GOOD + "[configurations.a.parameters]\nseed = 9223372036854775808\n",
        "loopspan.toml: [configurations.a.parameters] seed: expected a number of at most 64 bits, "
        "got 9223372036854775808",
    ),
    "a date": (
        GOOD + "[configurations.a.parameters]\nextra = { list = [{ day = 2026-01-01 }] }\n",
        "loopspan.toml: [configurations.a.parameters.extra.list[0]] day: expected a text, number, "
        "true, false, list or table, got datetime.date(2026, 1, 1)",
    ),
    "a long value": (
        GOOD + 'max_rounds = "' + "x" * 100 + '"\n',
        "loopspan.toml: [configurations.a] max_rounds: expected a valid integer, "
        "got 'xxxxxxxxxxxx...xxxxxxxxxxxxx'",
    ),
    "a flag for a number": (
        GOOD + "context_window = true\n",
        "loopspan.toml: [configurations.a] context_window: expected a valid integer, got True",
    ),
    "a text for a list": (
        GOOD + 'skills = "refunds"\n',
        "loopspan.toml: [configurations.a] skills: expected a valid list, got 'refunds'",
    ),
    "a text for a table": (
        GOOD + 'parameters = "x"\n',
        "loopspan.toml: [configurations.a] parameters: expected a table, got 'x'",
    ),
    "a text for all configurations": (
        'configurations = "x"\n',
        "loopspan.toml: configurations: expected a table, got 'x'",
    ),
    "unknown table in a table": (
        GOOD + "[configurations.a.budgets]\nusd = 1.0\n",
        "loopspan.toml: [configurations.a] budgets is unknown; did you mean 'budget'?",
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


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[configurations.a]\napi_key = "sk-1"\n', "[configurations.a] api_key"),
        ('[configurations.a]\nOPENAI_API_KEY = "sk-1"\n', "[configurations.a] OPENAI_API_KEY"),
        ('token = "sk-1"\n', "token"),
        ('[prices."demo:"]\napiKey = "sk-1"\n', '[prices."demo:"] apiKey'),
        (
            '[snippets.a]\ntext = "x"\nmetadata = { db-password = "sk-1" }\n',
            "[snippets.a.metadata] db-password",
        ),
        (
            "[configurations.a.parameters.extra]\nheaders = [{ Authorization = 'sk-1' }]\n",
            "[configurations.a.parameters.extra.headers[0]] Authorization",
        ),
    ],
)
def test_a_secret_is_refused_and_not_shown(tmp_path: Path, text: str, place: str) -> None:
    assert error_of(tmp_path, text) == (
        f"loopspan.toml: {place} holds a secret; take it out: keys are never read from a file, "
        f"set the provider's environment variable"
    )


def test_what_only_sounds_like_a_secret_is_taken(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "password"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    load(
        tmp_path,
        GOOD
        + "[configurations.a.parameters]\nmax_tokens = 5\n"
        + '[configurations.a.parameters.extra]\nprompt_cache_key_prefix = "a"\nkeys = "b"\n'
        + '[configurations.token]\nmodel = "demo:"\n'
        + f"{SOURCE}checksums = {{ password = '{'0' * 64}' }}\n",
    )


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
    "no end of the front matter": (
        "---\nname: x\nDo.\n",
        "skills/a/SKILL.md has no front matter; begin it with '---', 'name: …', "
        "'description: …', '---'",
    ),
    "no YAML": (
        "---\nname: [\n---\n",
        "skills/a/SKILL.md: the front matter is no YAML: while parsing a flow node "
        "expected the node content, but found '<stream end>' in \"<unicode string>\", line 3, "
        "column 1:",
    ),
    "no YAML value": (
        "---\nname: !!bool x\n---\n",
        "skills/a/SKILL.md: the front matter is no YAML: 'x'",
    ),
    "no date": (
        "---\nupdated: 2026-99-99\n---\n",
        "skills/a/SKILL.md: the front matter is no YAML: month must be in 1..12",
    ),
    "deep YAML": (
        "---\nname: " + "[" * 5000 + "\n---\n",
        "skills/a/SKILL.md: the front matter is no YAML: it is nested too deeply",
    ),
    "much YAML": (
        "---\nname: " + "x" * 33_000 + "\n---\n",
        "skills/a/SKILL.md: the front matter is longer than 32,768 characters",
    ),
    "an object": (
        "---\nname: !!python/object/apply:os.getcwd []\n---\n",
        "skills/a/SKILL.md: the front matter is no YAML: could not determine a constructor",
    ),
    "values without end": (
        "---\na: &a {x: 1}\n"
        + "".join(
            f"{b}: &{b} {{<<: [{', '.join([f'*{a}'] * 9)}]}}\n"
            for a, b in itertools.pairwise("abcdefghijklm")
        )
        + "---\nDo.\n",
        "skills/a/SKILL.md: the front matter is no YAML: an alias ('*name') is not read here",
    ),
    "allowed tools under another key": (
        "---\nallowed_tools: []\n---\nDo.\n",
        "skills/a/SKILL.md: 'allowed_tools' in the front matter is unknown; "
        "did you mean 'allowed-tools'?",
    ),
    "no body": (
        "---\nname: x\n---\n \n",
        "skills/a/SKILL.md has nothing below its front matter; write the skill",
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


def test_a_lock_file_without_checksums(tmp_path: Path) -> None:
    lock_path(tmp_path / "loopspan.toml").write_text("a = 1\n")
    said = error_of(tmp_path, GOOD)
    assert said == "loopspan.lock has no [checksums]; remove it and run `loopspan skills lock`"
    lock_path(tmp_path / "loopspan.toml").write_text("<<<<<<< HEAD\n")
    assert error_of(tmp_path, GOOD) == (
        "loopspan.lock is no TOML: Invalid statement (at line 1, column 1); "
        "remove it and run `loopspan skills lock`"
    )


def test_skills_without_pyyaml_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "skills" / "a"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    assert error_of(tmp_path, SOURCE).endswith("run: pip install 'loopspan[yaml]'")


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
