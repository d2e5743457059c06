"""Any span, any limit, through the policy: what leaves fits, parses, and says what was cut."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from loopspan.jsontext import load
from loopspan.messages import Message
from loopspan.runs.fold import Fold
from loopspan.telemetry import semconv as names
from loopspan.telemetry.content import (
    Content,
    arguments_text,
    choices_text,
    definitions_text,
    instructions_text,
    messages_text,
    result_text,
)
from loopspan.telemetry.record import SpanRecord
from loopspan.telemetry.trimming import MINIMUM
from tests.telemetry.generated import choices, definitions, dialogues, messages, values
from tests.telemetry.sinks import limited, recorded, size, through
from tests.telemetry.trimming import assert_kept

LISTS = {names.INPUT_MESSAGES, names.OUTPUT_MESSAGES, names.SYSTEM_INSTRUCTIONS}
MOST_NAMES = 700
"""With this many bytes there is room to say of all attributes of a span that they were cut."""


@st.composite
def contents(draw: st.DrawFn) -> dict[str, str]:
    mode: Content = draw(st.sampled_from(["metadata", "full"]))
    dialogue: list[Message] = draw(dialogues)
    return {
        names.INPUT_MESSAGES: messages_text(dialogue, mode),
        names.OUTPUT_MESSAGES: choices_text(draw(choices), mode),
        names.SYSTEM_INSTRUCTIONS: instructions_text(draw(st.lists(messages, max_size=3)), mode),
        names.TOOL_DEFINITIONS: definitions_text(draw(definitions), mode),
        names.TOOL_CALL_ARGUMENTS: arguments_text(draw(values), mode),
        names.TOOL_CALL_RESULT: result_text(json.dumps(draw(values)), False, mode),
    }


@settings(max_examples=50)
@given(given_texts=contents(), limit=st.integers(MINIMUM, 5000))
def test_what_leaves_fits_parses_keeps_names_and_says_what_was_cut(
    given_texts: dict[str, str], limit: int
) -> None:
    # What the SDK records: lone surrogates are no text to it.
    before_texts = {k: v.encode("utf-8", "replace").decode() for k, v in given_texts.items()}
    facts = {names.OPERATION_NAME: names.CHAT, names.USAGE_INPUT_TOKENS: 12, names.ROUND: 1}
    attributes = {**facts, **before_texts}
    before, after = through(limited(limit), lambda span: recorded(attributes, span))

    left: dict[str, Any] = dict(after.attributes or {})
    told = load(str(left.pop(names.TRUNCATED, "{}")))
    assert {k: left.pop(k) for k in facts} == facts
    assert left.keys() == before_texts.keys()
    for name, text in left.items():
        whole = before_texts[name]
        assert size(text) <= limit
        json.loads(text)
        if name in LISTS:
            newest = name == names.INPUT_MESSAGES
            assert_kept(load(whole), load(text), newest=newest)
        if text == whole:
            assert name not in told
        elif limit >= MOST_NAMES:
            assert told[name] == {"from": size(whole), "to": size(text)}
        else:
            assert told
    assert dict(before.attributes or {}) == attributes


@settings(max_examples=50)
@given(given_texts=contents(), limit=st.integers(0, 5000))
def test_the_reader_takes_whatever_a_policy_leaves(given_texts: dict[str, str], limit: int) -> None:
    attributes = {k: v.encode("utf-8", "replace").decode() for k, v in given_texts.items()}
    attributes[names.OPERATION_NAME] = names.CHAT
    _, after = through(limited(max(limit, 1)), lambda span: recorded(attributes, span))
    record = SpanRecord("chat", None, "s1", None, 1, 2, dict(after.attributes or {}))
    kinds = [step.kind for step in Fold().steps([record])]
    assert kinds in ([], ["request", "chat"])
    assert (names.OPERATION_NAME in (after.attributes or {})) is (kinds != [])
