"""The code blocks of the README and the docs run as they stand; the tables name what there is."""

import re
from pathlib import Path

import pytest

from loopspan import errors
from loopspan.telemetry import semconv

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text("utf-8"))


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda page: page.name)
def test_code_of_a_page_runs_from_top_to_bottom(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "LOOPSPAN_CONTENT"):
        monkeypatch.delenv(name, raising=False)
    source = "\n".join(blocks(page))
    exec(compile(source, str(page), "exec"), {"__name__": page.stem})
    if page.name == "README.md":
        assert "42" in capsys.readouterr().out


def test_readme_names_the_commands_of_the_makefile() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = set(re.findall(r"^\$ make (\w+)", readme, re.MULTILINE))
    assert {"demo", "test"} <= named
    assert named <= set(re.findall(r"^(\w+):", makefile, re.MULTILINE))


def test_the_pages_name_each_of_our_attributes_and_metrics() -> None:
    pages = [ROOT / "docs" / page for page in ("attributes.md", "metrics.md")]
    page = "".join(path.read_text("utf-8") for path in pages)
    ours = {
        value
        for name, value in vars(semconv).items()
        if name.isupper() and isinstance(value, str) and value.startswith("loopspan.")
    }
    parts_of_events = {v for v in ours if re.match(r"loopspan\.(retry|raw)\.", v)}
    named = {v for v in ours - parts_of_events if v.rstrip(".") in page}
    assert ours - parts_of_events - named == set()


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_tree_of_errors_names_each_error() -> None:
    assert errors.__doc__ is not None
    drawn = set(re.findall(r"[├└]── (\w+)|^(\w+)$", errors.__doc__, re.MULTILINE))
    there = {name for name, value in vars(errors).items() if isinstance(value, type)}
    named = {a or b for a, b in drawn}
    assert named == {name for name in there if name.endswith(("Error", "Content")) or name in named}
