"""What a catalogue gives: configurations, skills, snippets, prices, and loops of them."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan import Budget, Configuration, ConfigurationError, Parameters
from loopspan.catalogue import Catalogue, lock_skills
from loopspan.catalogue.document import check_document
from loopspan.catalogue.front_matter import read_front_matter
from loopspan.messages import Price
from loopspan.prompts import Skill, Snippet
from loopspan.testing import ScriptedModel
from tests.catalogue.written import write


def test_everything_is_read(tmp_path: Path) -> None:
    catalogue = Catalogue.load(write(tmp_path))
    assert catalogue.configuration("a") == Configuration(
        name="a",
        model="demo:",
        description="d",
        system_prompt="You help.",
        skills=("s/one",),
        snippets=("n",),
        snippet_tags=("t",),
        tools=(),
        max_rounds=7,
        context_window=100,
        content="metadata",
        unrecorded_tools=("current_time",),
        parameters=Parameters(temperature=1.0, stop_sequences=("END",), extra={"user": "x"}),
        budget=Budget(tokens=5),
    )
    assert catalogue.library.snippets == (Snippet("n", "Be brief.", "N", ("t",), {"owner": "me"}),)
    assert catalogue.library.skills == (
        Skill("one", "Do one.", "One", source="s", allowed_tools=("a", "b")),
        Skill("two", "Do two.", "Two", source="s", enabled=False, allowed_tools=()),
    )
    assert catalogue.prices == {"demo:demo-1": Price(1.0, 2.0)}


def test_a_loop_of_a_configuration_has_all_of_it(tmp_path: Path) -> None:
    path = write(tmp_path)
    lock_skills(path, Catalogue.load(path).library.skills)
    model = ScriptedModel(["Done."])
    loop = Catalogue.load(path).loop("a", model=model.model, client=model.client)
    loop.run("Hi")
    [sent] = model.requests
    assert [m["role"] for m in sent["messages"]] == ["system", "system", "user"]
    assert "Do one." in sent["messages"][2]["content"]
    assert sent["temperature"] == 1.0
    assert sent["user"] == "x"
    assert "tools" not in sent


def test_a_catalogue_does_not_change(tmp_path: Path) -> None:
    catalogue = Catalogue.load(write(tmp_path))
    for table in (catalogue.configurations, catalogue.prices, catalogue.skill_sources):
        with pytest.raises(TypeError):
            table["x"] = None  # type: ignore[index]


def test_the_price_of_a_provider_is_that_of_its_own_model(tmp_path: Path) -> None:
    path = tmp_path / "loopspan.toml"
    path.write_text("[prices.'demo:']\ninput = 1\noutput = 0.5\n")
    assert Catalogue.load(path).prices == {"demo:demo-1": Price(1.0, 0.5)}


def test_front_matter_may_leave_everything_out(tmp_path: Path) -> None:
    (tmp_path / "loopspan.toml").write_text('[skill_sources.s]\npath = "."\n')
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text(
        "---\ndescription:\nallowed-tools:\nlicense: MIT\nmetadata: {version: 1}\n---\n\nDo.\n---\n"
    )
    catalogue = Catalogue.load(tmp_path / "loopspan.toml")
    assert catalogue.library.skills == (Skill("a", "Do.\n---", source="s", allowed_tools=()),)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("", None),
        ("allowed-tools:", ()),
        ("allowed-tools: []", ()),
        ("allowed-tools: ''", ()),
        ("allowed-tools: a", ("a",)),
        ("allowed-tools: a, b c,d", ("a", "b", "c", "d")),
        ("allowed-tools: [a, b]", ("a", "b")),
        ("allowed-tools:\n  - a\n  - b", ("a", "b")),
    ],
)
def test_allowed_tools_of_a_skill(
    tmp_path: Path, declared: str, expected: tuple[str, ...] | None
) -> None:
    path = tmp_path / "SKILL.md"
    said = read_front_matter(f"---\nname: x\n{declared}\n---\nDo.\n", path)
    assert said.allowed_tools == expected


WORD = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=200)


@given(WORD, WORD)
def test_a_skill_is_read_or_told_to_be_wrong_whatever_it_is(meta: str, body: str) -> None:
    with suppress(ConfigurationError):
        assert read_front_matter(f"---\n{meta}\n---\n{body}", Path("SKILL.md")).body.strip()


LEAF = (
    st.text(max_size=5)
    | st.integers(-9, 9)
    | st.booleans()
    | st.floats(allow_nan=False)
    | st.datetimes()
)
KEYS = st.sampled_from(
    [
        *("configurations", "a", "model", "tools", "parameters", "extra", "budget", "usd", "x"),
        *("skill_sources", "path", "checksums", "snippets", "text", "prices", "modules", "tags"),
    ]
)
TABLES = st.dictionaries(
    KEYS,
    st.recursive(LEAF, lambda v: st.lists(v, max_size=2) | st.dictionaries(KEYS, v)),
    max_size=4,
)


@given(TABLES)
def test_tables_are_read_or_told_to_be_wrong_whatever_they_are(values: dict[str, Any]) -> None:
    with suppress(ConfigurationError):
        assert check_document(Path("loopspan.toml"), values).model_fields_set == set(values)
