"""A catalogue that is read again when one of its files has changed, and only then."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from loopspan import ConfigurationError
from loopspan.catalogue import Catalogue, CatalogueFile
from tests.catalogue.written import TEXT, write

SKILL = "---\nname: x\n---\nDo.\n"


def append(folder: Path, name: str) -> None:
    with (folder / name).open("a") as file:
        file.write("\n# more\n")


def rewrite(folder: Path) -> None:
    """Write another text of the same size, and give the file the time that it had."""
    path = folder / "prompt.md"
    before = path.stat()
    path.write_text("YOU HELP.\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def add_skill(folder: Path) -> None:
    (folder / "skills" / "three").mkdir()
    (folder / "skills" / "three" / "SKILL.md").write_text(SKILL)


def remove_skill(folder: Path) -> None:
    (folder / "skills" / "two" / "SKILL.md").unlink()
    (folder / "skills" / "two").rmdir()
    write_catalogue(folder, TEXT.replace('disabled = ["two"]\n', ""))


def write_catalogue(folder: Path, text: str) -> None:
    (folder / "loopspan.toml").write_text(text)


def lead_elsewhere(folder: Path) -> None:
    """Let a name lead to another file, which has the size and the time of the one before."""
    other = folder / "other.md"
    other.write_text("YOU HELP.\n")
    before = (folder / "prompt.md").stat()
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    (folder / "link.md").symlink_to(other)
    os.replace(folder / "link.md", folder / "prompt.md")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda folder: append(folder, "loopspan.toml"), id="catalogue"),
        pytest.param(lambda folder: append(folder, "prompt.md"), id="prompt"),
        pytest.param(lambda folder: append(folder, "skills/one/SKILL.md"), id="skill"),
        pytest.param(
            lambda folder: (folder / "loopspan.lock").write_text("[checksums]\n"), id="lock"
        ),
        pytest.param(rewrite, id="same-size-and-time"),
        pytest.param(lead_elsewhere, id="link"),
        pytest.param(add_skill, id="skill-added"),
        pytest.param(remove_skill, id="skill-removed"),
    ],
)
def test_a_change_of_any_file_is_seen(tmp_path: Path, change: Callable[[Path], None]) -> None:
    file = CatalogueFile(write(tmp_path))
    before = file.current()
    assert file.current() is before
    change(tmp_path)
    after = file.current()
    assert file.problem is None
    assert after is not before
    assert file.current() is after


def test_nothing_is_read_where_nothing_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = CatalogueFile(write(tmp_path))
    before = file.current()
    monkeypatch.setattr(Path, "open", None)
    monkeypatch.setattr(os, "scandir", None)
    assert file.current() is before


def test_the_first_version_must_be_right(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is no TOML"):
        CatalogueFile(write(tmp_path, "[configurations"))


def test_a_broken_version_is_not_used_and_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = CatalogueFile(write(tmp_path))
    good = file.current()
    write_catalogue(tmp_path, "[configurations")
    assert file.current() is good
    problem = file.problem
    assert "is no TOML" in str(problem)
    assert file.current() is good
    assert file.problem is problem
    assert len(caplog.records) == 1
    write_catalogue(tmp_path, TEXT + "# mended\n")
    assert file.current() is not good
    assert file.problem is None


def break_skill(folder: Path) -> None:
    (folder / "skills" / "three").mkdir()


def mend_skill(folder: Path) -> None:
    (folder / "skills" / "three" / "SKILL.md").write_text(SKILL)


def break_prompt(folder: Path) -> None:
    write_catalogue(folder, TEXT.replace("prompt.md", "new.md"))


def mend_prompt(folder: Path) -> None:
    (folder / "new.md").write_text("You help.")


def break_source(folder: Path) -> None:
    write_catalogue(folder, TEXT + '[skill_sources.t]\npath = "more"\n')


def mend_source(folder: Path) -> None:
    (folder / "more").mkdir()


def break_tools(folder: Path) -> None:
    write_catalogue(folder, TEXT + '[tools]\nmodules = ["tools_that_are_not_there_yet"]\n')


def mend_tools(folder: Path) -> None:
    (folder / "tools_that_are_not_there_yet.py").write_text("")


def break_mode(folder: Path) -> None:
    (folder / "prompt.md").unlink()


def mend_mode(folder: Path) -> None:
    (folder / "prompt.md").write_text("You help.")


@pytest.mark.parametrize(
    ("break_it", "mend_it"),
    [
        pytest.param(break_skill, mend_skill, id="skill"),
        pytest.param(break_prompt, mend_prompt, id="prompt"),
        pytest.param(break_source, mend_source, id="source"),
        pytest.param(break_tools, mend_tools, id="tools"),
        pytest.param(break_mode, mend_mode, id="removed"),
    ],
)
def test_what_a_broken_version_lacks_is_waited_for(
    tmp_path: Path, break_it: Callable[[Path], None], mend_it: Callable[[Path], None]
) -> None:
    file = CatalogueFile(write(tmp_path))
    good = file.current()
    break_it(tmp_path)
    assert file.current() is good
    assert file.problem is not None
    mend_it(tmp_path)
    assert file.current() is not good
    assert file.problem is None


def test_a_catalogue_is_found_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    file = CatalogueFile("loopspan.toml")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    append(tmp_path, "prompt.md")
    assert file.current().configuration("a").system_prompt == "You help.\n\n# more"


def test_threads_see_whole_catalogues_and_each_version_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = CatalogueFile(write(tmp_path))
    read = Catalogue.read.__func__  # type: ignore[attr-defined]
    times: list[Path] = []

    def counted(cls: type[Catalogue], path: Path, files: object) -> Catalogue:
        times.append(path)
        found: Catalogue = read(cls, path, files)
        return found

    monkeypatch.setattr(Catalogue, "read", classmethod(counted))
    append(tmp_path, "prompt.md")
    start = threading.Barrier(8)
    found: list[Catalogue] = []

    def look() -> None:
        start.wait()
        found.append(file.current())

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(times) == 1
    assert len({id(each) for each in found}) == 1
