"""Each kind of mistake in a skill gives one clear error with its place; nothing is loaded."""

import itertools
import sys
from pathlib import Path

import pytest

from tests.catalogue.written import SKILL, SOURCE, error_of

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


def test_skills_without_pyyaml_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "skills" / "a"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert error_of(tmp_path, SOURCE).endswith("run: pip install 'loopspan[yaml]'")
