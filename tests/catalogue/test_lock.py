"""The lock file: the checksums of skills that somebody has read and accepted."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan import ConfigurationError
from loopspan.catalogue import Catalogue, lock_path, lock_skills
from loopspan.catalogue.files import Files
from loopspan.catalogue.lock import read_lock, states
from loopspan.prompts import Skill, body_checksum
from tests.catalogue.written import TEXT, write


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


def test_a_source_that_is_off_is_not_locked(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT.replace('path = "skills"', 'path = "skills"\nenabled = false'))
    catalogue = Catalogue.load(path)
    assert [each.state for each in states(catalogue.library.skills)] == ["disabled", "disabled"]
    assert catalogue.lockable_skills == ()
    write(tmp_path)
    assert [s.identifier for s in Catalogue.load(path).lockable_skills] == ["one", "two"]


def test_a_lock_is_written_only_where_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "loopspan.toml"
    lock_skills(path, [Skill("b", "B"), Skill("a", "A")])
    before = lock_path(path).stat()
    text = lock_path(path).read_text()
    changes = lock_skills(path, [Skill("a", "A"), Skill("b", "B")])
    assert (changes.added, changes.changed, changes.removed) == ((), (), ())
    assert lock_path(path).stat().st_mtime_ns == before.st_mtime_ns
    assert [line.split()[0] for line in text.splitlines()[-2:]] == ['"local/a"', '"local/b"']
    assert os.listdir(tmp_path) == ["loopspan.lock"]


def test_an_empty_lock_is_written_too(tmp_path: Path) -> None:
    lock_skills(tmp_path / "loopspan.toml", [])
    assert read_lock(tmp_path / "loopspan.toml", Files(tmp_path)) == {}
    assert lock_path(tmp_path / "loopspan.toml").exists()


def test_a_lock_can_be_read_by_whom_the_umask_lets(tmp_path: Path) -> None:
    path = tmp_path / "loopspan.toml"
    before = os.umask(0o022)
    try:
        lock_skills(path, [Skill("a", "A")])
    finally:
        os.umask(before)
    assert stat.S_IMODE(lock_path(path).stat().st_mode) == 0o644


def test_a_lock_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "loopspan.toml"
    lock_skills(path, [Skill("a", "A")])
    before = lock_path(path).read_bytes()

    def refuse(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(ConfigurationError, match=r"cannot be written \(No space left on device\)$"):
        lock_skills(path, [Skill("a", "B")])
    assert lock_path(path).read_bytes() == before
    assert os.listdir(tmp_path) == ["loopspan.lock"]
