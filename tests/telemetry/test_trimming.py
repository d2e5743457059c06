"""Content cut inside its structure: what goes first, and what stays."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from loopspan import Blob, ToolCall, ToolCallResponse, assistant, system, user
from loopspan.jsontext import dump_text
from loopspan.messages import Choice, Message
from loopspan.telemetry import cutting, nodes, trimming
from loopspan.telemetry.content import (
    choices_text,
    messages_text,
)
from loopspan.telemetry.trimming import Trimmed, trimmed
from tests.telemetry.trimming import LEFT_OUT, checked, size


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


def test_of_several_answers_the_first_stays() -> None:
    answers = [Choice(assistant(f"Answer {i}. " * 20), "stop") for i in range(20)]
    left, _ = checked(choices_text(answers, "full"), 600)
    assert left[0]["parts"][0]["content"].startswith("Answer 0.")
    assert left[-1][LEFT_OUT] == 20 - len(left[:-1])
    assert left[-1]["finish_reason"] == "left_out"


def test_what_was_left_out_before_is_counted_with_the_rest() -> None:
    dialogue = [user(f"Question {i}? " * 9) for i in range(100)]
    once, _ = checked(messages_text(dialogue, "full"), 3000)
    twice, _ = checked(json.dumps(once), 600)
    for left in (once, twice):
        [mark, *rest] = left
        assert mark[LEFT_OUT] + len(rest) == 100
    assert len(twice) < len(once)


def test_elements_that_were_left_out_before_are_counted_with_the_rest() -> None:
    value = {"n": list(range(1000)), "k": {f"key_{i}": i for i in range(1000)}}
    once, _ = checked(json.dumps(value), 4000)
    for limit in range(500, 3990, 30):
        left, _ = checked(json.dumps(once), limit)
        *kept, mark = left["n"]
        assert kept == list(range(len(kept)))
        assert mark == f"[{1000 - len(kept)} left out]"
        keys = [key for key in left["k"] if key != "…"]
        assert keys == [f"key_{i}" for i in range(len(keys))]
        assert left["k"]["…"] == f"{1000 - len(keys)} left out"


def test_no_message_is_left_out_as_long_as_cutting_strings_suffices() -> None:
    dialogue = [assistant(ToolCall("look", {"at": "x" * 900}, id=f"call_{i}")) for i in range(9)]
    left, _ = checked(messages_text(dialogue, "full"), 1300)
    assert [m["parts"][0]["id"] for m in left] == [f"call_{i}" for i in range(9)]
    assert all("of 900 bytes kept]" in m["parts"][0]["arguments"]["at"] for m in left)


def test_the_newest_message_stays_where_there_is_room_for_no_other() -> None:
    dialogue = [user(f"Question {i}: " + "why? " * 100) for i in range(9)]
    left, _ = checked(messages_text(dialogue, "full"), 200)
    assert left[0][LEFT_OUT] == 8
    assert left[1]["parts"][0]["content"].endswith(" of 512 bytes kept]")


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


@pytest.mark.parametrize("character", ["\\", '"', "\n", "\x01", "a\\", "€", "👋", 'x"\x1f\\'])
def test_a_string_is_cut_between_its_escapes_as_close_as_can_be(character: str) -> None:
    for limit in range(200, 220):
        left, result = checked(json.dumps([character * 400]), limit)
        kept, _ = left[0].split("… ")
        assert (character * 400).startswith(kept)
        assert len((result.text or "").encode()) > limit - 12


def test_white_space_alone_is_no_loss() -> None:
    text = json.dumps({"a": [1, 2, 3]}, indent=8)
    assert trimmed(text, 20) == Trimmed('{"a":[1,2,3]}', None)


ODD = ("x" * 3000, "€" * 1000, "👋" * 750, '{"a": "' + "x" * 3000)


@pytest.mark.parametrize("text", ["\ud800" * 1000, '["' + "\ud800" * 1000 + '"]'])
def test_lone_surrogates_do_no_harm(text: str) -> None:
    result = trimmed(text, 500)
    assert result.text is not None
    assert len(result.text.encode()) <= 500
    assert "\ufffd" in result.text


@pytest.mark.parametrize("text", ODD)
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
