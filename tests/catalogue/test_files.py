"""What a catalogue reads: files of its own folder, of a sane size, in UTF-8."""

import os
from pathlib import Path

import pytest

from loopspan import ConfigurationError
from loopspan.catalogue import Catalogue
from loopspan.catalogue.files import MAX_BYTES, Files

PROMPT = '[configurations.a]\nmodel = "demo:"\nsystem_prompt_file = "prompt.md"\n'
SOURCE = '[skill_sources.s]\npath = "skills"\n'
SKILL = "---\nname: S\n---\nDo.\n"


def catalogue(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "loopspan.toml"
    path.write_text(text, "utf-8")
    return path


def skill(folder: Path, text: str = SKILL) -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)
    return folder


def test_a_prompt_file_outside_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("x")
    path = catalogue(tmp_path / "in", PROMPT.replace("prompt.md", "../secret.md"))
    outside = r"lies outside of the catalogue's folder .*in; move it there$"
    with pytest.raises(ConfigurationError, match=r"in/\.\./secret\.md: .*" + outside):
        Catalogue.load(path)
    catalogue(tmp_path / "in", PROMPT.replace("prompt.md", str(tmp_path / "secret.md")))
    with pytest.raises(ConfigurationError, match=outside):
        Catalogue.load(path)
    catalogue(tmp_path / "in", PROMPT)
    (tmp_path / "in" / "prompt.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(ConfigurationError, match=r"prompt\.md: the system prompt " + outside):
        Catalogue.load(path)


def test_skills_outside_of_the_folder_are_refused(tmp_path: Path) -> None:
    path = catalogue(tmp_path / "in", SOURCE.replace("skills", "../skills"))
    other = skill(tmp_path / "skills" / "a")
    outside = "lies outside of the catalogue's folder"
    with pytest.raises(ConfigurationError, match=outside):
        Catalogue.load(path)
    catalogue(tmp_path / "in", SOURCE)
    (tmp_path / "in" / "skills").symlink_to(other.parent)
    with pytest.raises(ConfigurationError, match=f"in/skills: .* {outside}"):
        Catalogue.load(path)
    (tmp_path / "in" / "skills").unlink()
    (tmp_path / "in" / "skills").mkdir()
    (tmp_path / "in" / "skills" / "a").symlink_to(other)
    with pytest.raises(ConfigurationError, match=rf"skills/a/SKILL\.md: the skill {outside}"):
        Catalogue.load(path)
    (tmp_path / "in" / "skills" / "a").unlink()
    (tmp_path / "in" / "skills" / "a").mkdir()
    (tmp_path / "in" / "skills" / "a" / "SKILL.md").symlink_to(other / "SKILL.md")
    with pytest.raises(ConfigurationError, match=rf"skills/a/SKILL\.md: the skill {outside}"):
        Catalogue.load(path)


def test_a_lock_file_outside_of_the_folder_is_refused(tmp_path: Path) -> None:
    path = catalogue(tmp_path / "in", "")
    (tmp_path / "other.lock").write_text("[checksums]\n")
    (tmp_path / "in" / "loopspan.lock").symlink_to(tmp_path / "other.lock")
    with pytest.raises(ConfigurationError, match="the lock file lies outside of the catalogue's"):
        Catalogue.load(path)


def test_links_within_the_folder_are_followed(tmp_path: Path) -> None:
    """As volumes of Kubernetes are made: each file is a link into a folder that changes."""
    path = catalogue(tmp_path / "..data", PROMPT + SOURCE)
    (tmp_path / "..data" / "prompt.md").write_text("You help.")
    skill(tmp_path / "..data" / "skills" / "a")
    for name in ("loopspan.toml", "prompt.md", "skills"):
        (tmp_path / name).symlink_to(Path("..data") / name)
    found = Catalogue.load(tmp_path / path.name)
    assert found.configuration("a").system_prompt == "You help."
    assert [each.identifier for each in found.library.skills] == ["a"]


def test_a_catalogue_may_be_a_link_into_another_folder(tmp_path: Path) -> None:
    path = catalogue(tmp_path / "elsewhere", PROMPT)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "prompt.md").write_text("You help.")
    (tmp_path / "here" / "loopspan.toml").symlink_to(path)
    found = Catalogue.load(tmp_path / "here" / "loopspan.toml")
    assert found.configuration("a").system_prompt == "You help."


def test_a_byte_order_mark_and_other_ends_of_lines_are_taken(tmp_path: Path) -> None:
    path = catalogue(tmp_path, "")
    path.write_bytes(b"\xef\xbb\xbf" + (PROMPT + SOURCE).replace("\n", "\r\n").encode())
    (tmp_path / "prompt.md").write_bytes(b"\xef\xbb\xbfYou\r\nhelp.\r\n")
    folder = skill(tmp_path / "skills" / "a")
    (folder / "SKILL.md").write_bytes(b"\xef\xbb\xbf---\r\nname: S\r\n---\r\n\r\nDo\r\nit.\r\n")
    found = Catalogue.load(path)
    assert found.configuration("a").system_prompt == "You\nhelp."
    [one] = found.library.skills
    assert (one.name, one.body) == ("S", "Do\nit.")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(os.mkfifo, "is not a file", id="pipe"),
        pytest.param(os.mkdir, "is not a file", id="folder"),
        pytest.param(lambda path: path.symlink_to(path), "cannot be read", id="link-to-itself"),
        pytest.param(
            lambda path: path.write_bytes(b"x" * (MAX_BYTES + 1)),
            "is larger than 1,048,576 bytes",
            id="large",
        ),
        pytest.param(lambda path: path.write_bytes(b"\xff"), "is not UTF-8", id="latin-1"),
        pytest.param(lambda path: None, "is not there", id="nothing"),
    ],
)
def test_what_is_no_text_file_is_refused(tmp_path: Path, make: object, said: str) -> None:
    path = catalogue(tmp_path, PROMPT)
    assert callable(make)
    make(tmp_path / "prompt.md")
    with pytest.raises(ConfigurationError, match=rf"prompt\.md: the system prompt {said}"):
        Catalogue.load(path)


def test_hidden_folders_are_no_skills(tmp_path: Path) -> None:
    path = catalogue(tmp_path, SOURCE)
    skill(tmp_path / "skills" / "a")
    (tmp_path / "skills" / ".git").mkdir()
    (tmp_path / "skills" / "README.md").write_text("x")
    assert [each.identifier for each in Catalogue.load(path).library.skills] == ["a"]


@pytest.mark.parametrize(("one", "two"), [("Refunds", "refunds"), ("caf\u00e9", "cafe\u0301")])
def test_two_skills_of_one_identifier_are_refused(tmp_path: Path, one: str, two: str) -> None:
    path = catalogue(tmp_path, SOURCE)
    skill(tmp_path / "skills" / one)
    try:
        skill(tmp_path / "skills" / two)
    except FileExistsError:
        pytest.skip("this file system takes the two for one")
    with pytest.raises(ConfigurationError, match="are one skill; rename or remove one"):
        Catalogue.load(path)


def test_a_skill_whose_folder_is_no_name_is_refused(tmp_path: Path) -> None:
    path = catalogue(tmp_path, SOURCE)
    skill(tmp_path / "skills" / "a b")
    with pytest.raises(ConfigurationError, match="a b: the folder of a skill: expected a name"):
        Catalogue.load(path)


def test_a_folder_that_cannot_be_listed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", path)

    (tmp_path / "skills").mkdir()
    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(ConfigurationError, match=r"the source cannot be read \(Permission denied"):
        Files(tmp_path).folders(tmp_path / "skills", "the source")
