"""A run as Markdown: what models and tools wrote is text in it, and nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from loopspan.runs import Run
from loopspan.runs.text.figures import cut
from loopspan.runs.text.markdown import as_markdown
from loopspan.telemetry import semconv as names
from tests.runs.text.shown import run_of, span
from tests.runs.text.test_report import two_rounds

PLAIN = {"text", "strong_open", "strong_close", "softbreak", "text_special"}
BLOCKS = {
    *("heading_open", "heading_close", "bullet_list_open", "bullet_list_close"),
    *("list_item_open", "list_item_close", "paragraph_open", "paragraph_close"),
    *("inline", "fence"),
}


def parsed(markdown: str) -> list[Token]:
    return MarkdownIt("gfm-like", {"linkify": False}).parse(markdown)


def test_a_run_as_markdown() -> None:
    assert as_markdown(two_rounds("a ``` b"), ["a *part*"]) == (
        "# Run run-1 (support · m-1)\n"
        "\n"
        "- **outcome** Answered\n"
        "- **rounds** 2/5\n"
        "- **tool calls** 1\n"
        "- **tokens** 29 in / 7 out\n"
        "- **cost** \\$0.012 by the price table\n"
        "- **time** 1.00 s\n"
        "- **of which** 800 ms in the model · 100 ms in tools · 100 ms elsewhere\n"
        "- **trace** 0af7651916cd43dd8448eb211c80319c\n"
        "- **started** 2026-05-01 12:53:20.000+00:00\n"
        "- **warning** a \\*part\\*\n"
        "\n"
        "## Findings (1 finding)\n"
        "\n"
        "- **warning** 1 reply was cut at the limit of output tokens (in step 4)\n"
        "  Raise max\\_tokens, or ask for a shorter answer.\n"
        "\n"
        "## \\[0\\] Round 1 (openai m-1)\n"
        "\n"
        "**user**\n"
        "\n"
        "```\n"
        "What is a span?\\x1b[2J\n"
        "```\n"
        "\n"
        "- **tools** look\\_up\n"
        "\n"
        "## \\[1\\] Reply (300 ms · 9 in / 3 out tokens · tool\\_call)\n"
        "\n"
        "```\n"
        '→ look_up(word="span")\n'
        "```\n"
        "\n"
        '## \\[2\\] Tool look\\_up(word="span") (100 ms)\n'
        "\n"
        "````\n"
        "a ``` b\n"
        "````\n"
        "\n"
        "## \\[3\\] Round 2 (openai m-1)\n"
        "\n"
        "- **tool** look\\_up: a \\`\\`\\` b\n"
        "- **tools** the same 1\n"
        "\n"
        "## \\[4\\] Reply (500 ms · 20 in / 4 out tokens · length)\n"
        "\n"
        "```\n"
        "It is a\n"
        "```\n"
    )


def run_with(name: str, result: str) -> Run:
    tool: dict[str, Any] = {
        names.TOOL_NAME: name,
        names.TOOL_CALL_RESULT: result,
        names.TOOL_CALL_ARGUMENTS: "{}",
    }
    chat = {
        names.REQUEST_MODEL: name,
        names.ERROR_TYPE: name,
        names.RESPONSE_FINISH_REASONS: [name],
    }
    return run_of(
        span(2, names.CHAT, 0, 1, **chat),
        span(3, names.EXECUTE_TOOL, 1, 2, **tool),
        **{names.AGENT_NAME: name},
    )


ODD = st.text(st.sampled_from("`*_[]()<>#|~&!$\\-+=1. \n\tab:/\r\x0c"), max_size=30)


@pytest.mark.parametrize(
    "written",
    [
        "````\n# no\n",
        "![x](http://evil.example/a.png)",
        "<img src=x onerror=alert(1)>",
        "[a]: http://evil.example",
        "- a\n- b\n\n    code",
        "&lt;b&gt;",
        "~~~\n~~~",
        "1. a",
        "---",
    ],
)
def test_markup_of_models_and_tools_is_text(written: str) -> None:
    text_only(written)


@given(ODD)
def test_whatever_models_and_tools_write_is_text(written: str) -> None:
    text_only(written)


def text_only(written: str) -> None:
    run = run_with(written or "x", written)
    tokens = parsed(as_markdown(run))
    assert {token.type for token in tokens} <= BLOCKS
    inline = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inline} <= PLAIN
    fences = [token.content for token in tokens if token.type == "fence"]
    assert "\n".join([*cut(written, None)[0], ""]) in fences
    assert all(token.level == 0 for token in tokens if token.type in ("fence", "heading_open"))
    assert {token.info for token in tokens if token.type == "fence"} == {""}
