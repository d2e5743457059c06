"""What a catalogue gives: configurations, skills with their checksums, snippets, tools, prices."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan import Budget, Configuration, Parameters
from loopspan.catalogue import Catalogue, CatalogueFile, lock_path, lock_skills
from loopspan.catalogue.files import Files
from loopspan.catalogue.lock import read_lock, states
from loopspan.messages import Price
from loopspan.prompts import Skill, Snippet, body_checksum
from loopspan.testing import ScriptedModel

TEXT = """
[configurations.a]
model = "demo:"
description = "d"
system_prompt_file = "prompt.md"
skills = ["s/one"]
snippets = ["n"]
snippet_tags = ["t"]
tools = []
max_rounds = 7
context_window = 100
[configurations.a.parameters]
temperature = 1.0
stop_sequences = ["END"]
extra = { user = "x" }
[configurations.a.budget]
tokens = 5
[skill_sources.s]
path = "skills"
disabled = ["two"]
[snippets.n]
text = "Be brief."
name = "N"
tags = ["t"]
metadata = { owner = "me" }
[prices."demo:demo-1"]
input = 1.0
output = 2.0
"""


def write(folder: Path, text: str = TEXT) -> Path:
    (folder / "prompt.md").write_text("You help.\n")
    for name, allowed in (("one", "allowed-tools: a, b\n"), ("two", "allowed-tools: []\n")):
        (folder / "skills" / name).mkdir(parents=True, exist_ok=True)
        skill = folder / "skills" / name / "SKILL.md"
        skill.write_text(f"---\nname: {name.title()}\n{allowed}---\n\nDo {name}.\n\n")
    path = folder / "loopspan.toml"
    path.write_text(text)
    return path


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
        parameters=Parameters(temperature=1.0, stop_sequences=("END",), extra={"user": "x"}),
        budget=Budget(tokens=5),
    )
    assert catalogue.library.snippets == (Snippet("n", "Be brief.", "N", ("t",), {"owner": "me"}),)
    assert catalogue.library.skills == (
        Skill("one", "Do one.", "One", source="s", allowed_tools=("a", "b")),
        Skill("two", "Do two.", "Two", source="s", enabled=False, allowed_tools=()),
    )
    assert catalogue.prices == {"demo:demo-1": Price(1.0, 2.0)}


def test_a_skill_is_used_from_its_lock_on_until_it_changes(tmp_path: Path) -> None:
    path = write(tmp_path)

    def state() -> str:
        [one, two] = states(Catalogue.load(path).library.skills)
        assert two.state == "disabled"
        return one.state

    assert state() == "unrecorded"
    changes = lock_skills(path, Catalogue.load(path).library.skills)
    assert changes.added == ("s/one", "s/two")
    assert state() == "ok"
    skill = tmp_path / "skills" / "one" / "SKILL.md"
    skill.write_text(skill.read_text() + "And obey.")
    assert state() == "changed"
    assert lock_skills(path, Catalogue.load(path).library.skills).changed == ("s/one",)
    assert state() == "ok"


def test_checksums_of_the_catalogue_win_over_the_lock(tmp_path: Path) -> None:
    own = "[skill_sources.s.checksums]\none = '" + body_checksum("Do one.") + "'\n"
    path = write(tmp_path, TEXT + own)
    lock_path(path).write_text('[checksums]\n"s/one" = "00"\n')
    [one, _] = Catalogue.load(path).library.skills
    assert one.is_verified


def test_a_skill_that_is_gone_leaves_the_lock(tmp_path: Path) -> None:
    path = write(tmp_path)
    [one, two] = Catalogue.load(path).library.skills
    lock_skills(path, [one, two])
    assert lock_skills(path, [one]).removed == ("s/two",)


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=20), max_size=5))
def test_a_lock_is_read_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, bodies: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("lock")
    path = folder / "loopspan.toml"
    lock_skills(path, [Skill(name, body, source="s") for name, body in bodies.items()])
    expected = {f"s/{name}": body_checksum(body) for name, body in bodies.items()}
    assert read_lock(path, Files(folder)) == expected


@pytest.mark.parametrize(
    "change",
    ["loopspan.toml", "prompt.md", "skills/one/SKILL.md", "loopspan.lock", "skills/three"],
)
def test_a_change_of_any_file_is_seen(tmp_path: Path, change: str) -> None:
    file = CatalogueFile(write(tmp_path))
    before = file.current()
    assert file.current() is before
    path = tmp_path / change
    match path.suffix:
        case "":
            path.mkdir()
            (path / "SKILL.md").write_text("---\nname: x\n---\nDo.\n")
        case ".lock":
            path.write_text("[checksums]\n")
        case _:
            path.write_text(path.read_text() + "\n# more\n")
    assert file.current() is not before
    assert file.problem is None


def test_a_broken_version_is_not_used_and_says_why(tmp_path: Path) -> None:
    path = write(tmp_path)
    file = CatalogueFile(path)
    good = file.current()
    path.write_text("[configurations")
    assert file.current() is good
    assert "no TOML" in str(file.problem)
    problem = file.problem
    assert file.current() is good
    assert file.problem is problem
    path.write_text(TEXT + "# mended\n")
    assert file.current() is not good
    assert file.problem is None


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
