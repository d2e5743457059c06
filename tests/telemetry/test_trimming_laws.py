"""Any content, any limit: what is left parses, fits, keeps its identity, and says what it lost."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from loopspan.jsontext import load
from loopspan.messages import Message
from loopspan.telemetry.content import (
    Content,
    arguments_text,
    choices_text,
    definitions_text,
    instructions_text,
    messages_text,
    result_text,
)
from loopspan.telemetry.trimming import MINIMUM, trimmed
from tests.telemetry.generated import choices, definitions, dialogues, messages, texts, values
from tests.telemetry.trimming import assert_kept, checked, size

limits = st.integers(MINIMUM, 6000)
modes: st.SearchStrategy[Content] = st.sampled_from(["metadata", "full"])


@given(dialogue=dialogues, limit=limits, mode=modes)
def test_a_message_list_keeps_its_roles_ids_names_and_newest_messages(
    dialogue: list[Message], limit: int, mode: Content
) -> None:
    text = messages_text(dialogue, mode)
    left, _ = checked(text, limit)
    assert_kept(load(text), left, newest=True)


@given(answers=choices, limit=limits, mode=modes)
def test_answers_keep_the_first_and_their_finish_reasons(
    answers: list[Any], limit: int, mode: Content
) -> None:
    text = choices_text(answers, mode)
    left, _ = checked(text, limit)
    assert_kept(load(text), left, newest=False)
    assert all("finish_reason" in item for item in left)


@given(said=st.lists(messages, max_size=6), limit=limits, mode=modes)
def test_system_instructions_keep_the_types_of_their_parts(
    said: list[Message], limit: int, mode: Content
) -> None:
    text = instructions_text(said, mode)
    left, _ = checked(text, limit)
    assert_kept(load(text), left, newest=False)


@given(tools=definitions, limit=limits, mode=modes)
def test_tool_definitions_keep_their_names(tools: list[Any], limit: int, mode: Content) -> None:
    text = definitions_text(tools, mode)
    left, _ = checked(text, limit)
    assert_kept(load(text), left, newest=False)


@given(value=values, limit=limits)
def test_arguments_and_results_stay_objects(value: Any, limit: int) -> None:
    for text in (arguments_text(value, "full"), result_text(json.dumps(value), False, "full")):
        left, _ = checked(text, limit)
        assert isinstance(left, dict)


@given(text=texts | values.map(json.dumps), limit=st.integers(0, 400))
def test_any_text_and_any_limit_give_a_text_that_fits_or_none(text: str, limit: int) -> None:
    result = trimmed(text, limit)
    if result.text is None:
        assert limit < MINIMUM
        assert result.cut == (size(text), 0)
    else:
        assert size(result.text) <= limit


@given(value=values, first=limits, second=limits)
def test_a_second_cut_still_says_the_first_length(value: Any, first: int, second: int) -> None:
    once, _ = checked(json.dumps({"long": "x" * 9000, "value": value}), max(first, second))
    twice, _ = checked(json.dumps(once), min(first, second))
    for left in (once, twice):
        if isinstance(left.get("long"), str):
            assert left["long"].endswith("of 9,000 bytes kept]")
