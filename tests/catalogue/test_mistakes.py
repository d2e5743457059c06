"""Each kind of mistake in a catalogue gives one clear error with its place; nothing is loaded."""

from pathlib import Path

import pytest

from tests.catalogue.written import GOOD, SKILL, SOURCE, error_of, load

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
    "a word that is none of those": (
        GOOD + 'content = "all"\n',
        "loopspan.toml: [configurations.a] content: expected 'off', 'metadata' or 'full', "
        "got 'all'",
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
