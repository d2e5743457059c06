"""Content cut inside its structure: what is left parses, fits, and says what it has lost."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan import Blob, ToolCall, ToolCallResponse, assistant, system, user
from loopspan.jsontext import dump_text, load
from loopspan.messages import Message
from loopspan.telemetry import cutting, nodes, semconv, trimming
from loopspan.telemetry.content import (
    Content,
    arguments_text,
    choices_text,
    definitions_text,
    instructions_text,
    messages_text,
    result_text,
)
from loopspan.telemetry.trimming import MINIMUM, Trimmed, trimmed
from tests.telemetry.generated import choices, definitions, dialogues, messages, texts, values

JSON = dict[str, Any]
LEFT_OUT = semconv.LEFT_OUT
IDENTITY = ("role", "type", "id", "name", "finish_reason", "modality", "mime_type", "file_id")

limits = st.integers(MINIMUM, 6000)
modes: st.SearchStrategy[Content] = st.sampled_from(["metadata", "full"])


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def checked(text: str, limit: int) -> tuple[Any, Trimmed]:
    """What is left of a JSON text, and that it says what it lost, fits, and stays as it is."""
    result = trimmed(text, limit)
    assert result.text is not None
    assert size(result.text) <= limit
    again = trimmed(result.text, limit)
    assert (again.text, again.cut) == (result.text, None)
    if size(text) <= limit:
        assert result == Trimmed(text, None)
        assert result.text is text
    elif result.cut is None:
        assert load(result.text) == load(text)
    else:
        assert result.cut == (size(text), size(result.text))
    json.loads(result.text)
    return load(result.text), result


def identity(item: JSON) -> JSON:
    return {k: item[k] for k in IDENTITY if k in item}


def assert_kept(before: Sequence[JSON], after: Sequence[JSON], *, newest: bool) -> None:
    """What is left are the same items, one stretch of them replaced by a mark that counts it."""
    places = [i for i, item in enumerate(after) if LEFT_OUT in item]
    if not places:
        assert [identity(item) for item in after] == [identity(item) for item in before]
        pairs: Iterable[tuple[JSON, JSON]] = zip(before, after, strict=True)
    else:
        [place] = places
        tail = len(after) - place - 1
        assert after[place][LEFT_OUT] == len(before) - place - tail
        kept = [*before[:place], *before[len(before) - tail :]]
        rest = [*after[:place], *after[place + 1 :]]
        assert [identity(item) for item in rest] == [identity(item) for item in kept]
        if newest and rest:
            assert tail
            assert {item["role"] for item in before[:place]} <= {"system", "developer"}
        pairs = zip(kept, rest, strict=True)
    for old, new in pairs:
        if "parts" in old:
            assert_kept(old["parts"], new["parts"], newest=False)


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


def test_sz_02_longest_strings_are_cut_first_and_say_how_long_they_were() -> None:
    dialogue = [
        system("Be kind. " * 5),
        *(user(f"Question {i}?") for i in range(7)),
        assistant("x" * 30_000),
        user("And now? " * 20),
    ]
    left, result = checked(messages_text(dialogue, "full"), 1500)

    told = [message["parts"][0]["content"] for message in left]
    assert told[:8] + told[9:] == [m.text for m in dialogue[:8] + dialogue[9:]]
    assert told[8].startswith("xxx")
    assert told[8].endswith(" of 30,000 bytes kept]")
    assert size(result.text or "") > 1450


def test_strings_are_cut_down_to_one_level() -> None:
    left, _ = checked(json.dumps({str(n): "x" * n for n in range(100, 1000, 100)}), 2000)
    lengths = {key: len(value.encode()) for key, value in left.items()}
    level = max(lengths.values())
    assert all(n == int(key) or n >= level - 1 for key, n in lengths.items())
    assert lengths["100"] == 100


def test_sz_03_cut_inside_a_deep_result_with_many_keys() -> None:
    inner = {
        "name": "report",
        "long": "y" * 50_000,
        **{f"key_{i}": i for i in range(500)},
        "id": "r-1",
    }
    message = Message(
        "tool", (ToolCallResponse({"a": {"b": {"c": inner}}}, id="call_7", name="get_report"),)
    )
    asked = assistant(ToolCall("get_report", {"month": 5}, id="call_7"))
    left, _ = checked(messages_text([asked, message], "full"), 2000)

    assert left[0] == asked.to_json()
    [part] = left[1]["parts"]
    assert (left[1]["role"], part["type"]) == ("tool", "tool_call_response")
    assert (part["id"], part["name"]) == ("call_7", "get_report")
    deep = part["response"]["a"]["b"]["c"]
    assert (deep["name"], deep["id"]) == ("report", "r-1")
    assert deep["long"].endswith(" of 50,000 bytes kept]")
    kept = [key for key in deep if key.startswith("key_")]
    assert kept == [f"key_{i}" for i in range(len(kept))]
    assert deep["…"] == f"{500 - len(kept)} left out"


def test_oldest_messages_are_left_out_where_there_is_no_room_for_all() -> None:
    dialogue = [system("Be kind."), *(user(f"Question {i}? " * 9) for i in range(100))]
    left, _ = checked(messages_text(dialogue, "full"), 1000)

    assert left[0] == dialogue[0].to_json()
    assert left[1][LEFT_OUT] == 100 - len(left[2:])
    assert left[1]["parts"][0]["content"] == f"[{left[1][LEFT_OUT]} left out]"
    assert left[-1]["parts"][0]["content"].startswith("Question 99?")


def test_what_was_left_out_before_is_counted_with_the_rest() -> None:
    dialogue = [user(f"Question {i}? " * 9) for i in range(100)]
    once, _ = checked(messages_text(dialogue, "full"), 3000)
    twice, _ = checked(json.dumps(once), 600)
    for left in (once, twice):
        [mark, *rest] = left
        assert mark[LEFT_OUT] + len(rest) == 100
    assert len(twice) < len(once)


def test_elements_that_were_left_out_before_are_counted_with_the_rest() -> None:
    once, _ = checked(json.dumps({"n": list(range(1000))}), 2000)
    twice, _ = checked(json.dumps(once), 300)
    for left in (once, twice):
        *kept, mark = left["n"]
        assert kept == list(range(len(kept)))
        assert mark == f"[{1000 - len(kept)} left out]"


def test_base64_goes_before_any_text() -> None:
    text = "What is this? " * 30
    blobs = [Blob("image", "iVBORw0KGgo=" * 500, "image/png"), Blob("image", "aGk=")]
    left, _ = checked(messages_text([user(text, *blobs)], "full"), 700)

    said, large, small = left[0]["parts"]
    assert said["content"] == text
    assert large == {
        "type": "blob",
        "modality": "image",
        "mime_type": "image/png",
        "content": "… [cut: 0 of 6,000 bytes kept]",
    }
    assert small["content"] == "aGk="


def test_base64_of_a_provider_s_own_form_goes_too() -> None:
    body = {
        "text": "t" * 400,
        "url": "data:image/png;base64," + "A" * 5000,
        "source": {"type": "base64", "media_type": "image/png", "data": "B" * 5000},
    }
    left, _ = checked(json.dumps(body), 800)
    assert left["text"] == "t" * 400
    assert left["url"] == "data:image/png;base64,… [cut: 0 of 5,000 bytes kept]"
    assert left["source"]["data"] == "… [cut: 0 of 5,000 bytes kept]"


def test_white_space_alone_is_no_loss() -> None:
    text = json.dumps({"a": [1, 2, 3]}, indent=8)
    assert trimmed(text, 20) == Trimmed('{"a":[1,2,3]}', None)


@pytest.mark.parametrize("text", ["x" * 3000, "€" * 1000, "👋" * 750, '{"a": "' + "x" * 3000])
def test_text_that_is_no_json_is_cut_at_a_character(text: str) -> None:
    result = trimmed(text, 1000)
    assert result.text is not None
    kept, mark = result.text.split("… ")
    assert text.startswith(kept)
    assert mark == f"[cut: {size(kept):,} of {size(text):,} bytes kept]"
    assert 990 <= size(result.text) <= 1000


def test_identity_that_takes_all_room_is_left_out_as_a_whole() -> None:
    dialogue = [assistant(ToolCall("look", {}, id="i" * 3000)), user("Hello?")]
    left, _ = checked(messages_text(dialogue, "full"), 400)
    assert left[0]["parts"][0][LEFT_OUT] == 1
    assert left[1] == dialogue[1].to_json()


def test_deep_nesting_is_no_danger() -> None:
    text = '{"a":' * 900 + '"' + "x" * 3000 + '"' + "}" * 900
    left, result = checked(text, 1000)
    assert "nested too deeply" in json.dumps(left)
    assert result.cut is not None
    wide = json.dumps({"long": "y" * 2000, "deep": [json.loads("[" * 500 + "]" * 500)]})
    left, _ = checked(wide, 1000)
    assert left["long"].endswith(" of 2,000 bytes kept]")
    assert json.dumps(left["deep"]).startswith("[[[[[")


def test_a_value_that_fits_only_because_json_cannot_hold_it_was_cut() -> None:
    left, result = checked("[" * 200 + "]" * 200 + " " * 900, 1000)
    assert result.cut is None
    left, result = checked('{"a":' * 260 + "1" + "}" * 260, 1000)
    assert "nested too deeply" in json.dumps(left)
    assert result.cut is not None


def test_the_whole_is_serialised_twice_however_many_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: dict[str, int] = {"whole": 0, "parts": 0}

    def counted(key: str, made: Callable[[object], Any]) -> Callable[[object], Any]:
        def count(value: object) -> Any:
            calls[key] += 1
            return made(value)

        return count

    monkeypatch.setattr(trimming, "dump_text", counted("whole", dump_text))
    monkeypatch.setattr(nodes, "json_size", counted("parts", cutting.json_size))
    text = messages_text([user(f"{i} " * 100) for i in range(1000)], "full")
    trimmed(text, 150_000)
    assert calls["whole"] == 2
    assert calls["parts"] < 20 * 1000
