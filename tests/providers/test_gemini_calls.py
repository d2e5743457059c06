"""Calls and their results with the Gemini adapter: ids, order, form."""

from typing import Any

import pytest

from loopspan.messages import (
    Message,
    ToolCall,
    ToolCallResponse,
    assistant,
    user,
)
from tests.providers.test_gemini import ADAPTER, answer, asked, body, call, parts, reply

RESULTS: list[tuple[Any, bool | None, dict[str, Any]]] = [
    ("3", None, {"result": "3"}),
    ([3], None, {"result": [3]}),
    (None, None, {"result": None}),
    ({"sum": 3}, None, {"sum": 3}),
    ("no", True, {"error": "no"}),
    ({"error": "no such user"}, None, {"result": {"error": "no such user"}}),
    ({"error": {"a": 1}}, True, {"error": {"error": {"a": 1}}}),
]


@pytest.mark.parametrize(("response", "is_error", "wire"), RESULTS)
def test_result_is_an_object_on_the_wire(
    response: Any, is_error: bool | None, wire: dict[str, Any]
) -> None:
    part = ToolCallResponse(response, None, "add", is_error)
    sent = body(Message("tool", (part,)))
    assert sent["contents"][0]["parts"] == [{"functionResponse": {"name": "add", "response": wire}}]
    assert ADAPTER.request(sent).messages == (Message("tool", (part,)),)


@pytest.mark.parametrize("wire", [{"output": "15"}, {"result": {"a": 1}}, {}, {"output": {}}])
def test_result_of_another_client_is_unwrapped_and_goes_back_as_it_came(wire: Any) -> None:
    inner = {"name": "add", "response": wire, "scheduling": "SILENT"}
    contents = [{"role": "user", "parts": [{"functionResponse": inner}]}]
    request = asked(contents=contents)
    (part,) = request.messages[0].parts
    assert isinstance(part, ToolCallResponse)
    assert part.response == next(iter(wire.values()), {})
    assert ADAPTER.body(request)["contents"] == contents


def test_results_of_one_round_are_one_content() -> None:
    results = [Message("tool", (ToolCallResponse(str(n), None, "add"),)) for n in range(3)]
    contents = body(user("Hi"), *results, user("And?"))["contents"]
    assert [(c["role"], len(c["parts"])) for c in contents] == [
        ("user", 1),
        ("user", 3),
        ("user", 1),
    ]


def test_results_beside_text_stay_one_message() -> None:
    wire = [{"functionResponse": {"name": "add", "response": {}}}, {"text": "Hi"}]
    (message,) = asked(contents=[{"role": "user", "parts": wire}]).messages
    assert [part.type for part in message.parts] == ["tool_call_response", "text"]


def sent_results(turn: Message, *results: ToolCallResponse) -> list[Any]:
    messages = (turn, *(Message("tool", (result,)) for result in results))
    content = body(*messages)["contents"][-1]
    return [part["functionResponse"] for part in content["parts"]]


def test_as_04_id_of_the_provider_goes_back_with_the_call_and_its_result() -> None:
    turn = reply(call("add", "a1", n=1), call("add", "b2", n=2)).message
    assert [c.id for c in turn.tool_calls] == ["a1", "b2"]
    assert parts(*turn.parts, role="assistant") == [
        call("add", "a1", n=1),
        call("add", "b2", n=2),
    ]
    sent = sent_results(turn, *(ToolCallResponse("3", c.id, c.name) for c in turn.tool_calls))
    assert [(r["id"], r["name"]) for r in sent] == [("a1", "add"), ("b2", "add")]


def test_as_04_made_id_is_not_sent() -> None:
    turn = reply(call("add", n=1), call("add", n=2)).message
    first, second = turn.tool_calls
    assert first.id
    assert second.id
    assert first.id != second.id
    assert parts(*turn.parts, role="assistant") == [call("add", n=1), call("add", n=2)]
    sent = sent_results(turn, ToolCallResponse("3", first.id, "add"))
    assert sent == [{"name": "add", "response": {"result": "3"}}]


def test_as_04_made_ids_differ_from_round_to_round() -> None:
    counted = {"promptTokenCount": 1, "candidatesTokenCount": 2}
    rounds = [
        answer(call("add")),
        answer(call("add"), responseId="r2"),
        answer(call("add"), usageMetadata=counted),
        answer(call("add"), usageMetadata=counted | {"promptTokenCount": 9}),
        answer(call("add", n=1)),
    ]
    ids = [c.id for r in rounds for c in ADAPTER.reply(r).message.tool_calls]
    assert len(set(ids)) == len(rounds)


def test_as_04_id_given_twice_is_told_apart() -> None:
    first, second = reply(call("add", "a1"), call("add", "a1")).message.tool_calls
    assert first.id == "a1"
    assert second.id not in (None, "a1")
    sent = sent_results(assistant(first, second), ToolCallResponse("3", second.id, "add"))
    assert sent[0]["id"] == "a1"


def test_result_answers_the_latest_call_of_its_id() -> None:
    old = assistant(ToolCall("add", {}, "c", extra={"gemini": {"functionCall": {"id": "old"}}}))
    new = assistant(ToolCall("add", {}, "c", extra={"gemini": {"functionCall": {"id": "new"}}}))
    result = Message("tool", (ToolCallResponse("3", "c"),))
    contents = body(old, result, new, result)["contents"]
    answered = [c["parts"][0]["functionResponse"] for c in contents if c["role"] == "user"]
    assert [(r["id"], r["name"]) for r in answered] == [("old", "add"), ("new", "add")]


def test_id_of_another_providers_call_is_not_sent() -> None:
    turn = assistant(ToolCall("add", {"n": 1}, "toolu_1"))
    assert parts(*turn.parts, role="assistant") == [call("add", n=1)]
    assert "id" not in sent_results(turn, ToolCallResponse("3", "toolu_1", "add"))[0]


def test_results_without_ids_join_their_calls_by_name_and_order() -> None:
    answered = [
        {"functionResponse": {"name": name, "response": {"result": text}}}
        for name, text in (("b", "1"), ("a", "2"), ("a", "3"))
    ]
    request = asked(
        contents=[
            {"role": "model", "parts": [call("a"), call("b"), call("a")]},
            {"role": "user", "parts": answered},
        ]
    )
    first, second, third = request.messages[0].tool_calls
    joined = [part for m in request.messages[1:] for part in m.parts]
    assert [p.id for p in joined if isinstance(p, ToolCallResponse)] == [
        second.id,
        first.id,
        third.id,
    ]


def test_id_of_a_result_whose_call_has_none_goes_back() -> None:
    contents = [
        {"role": "model", "parts": [call("add")]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "7", "name": "add", "response": {}}}],
        },
    ]
    request = asked(contents=contents)
    assert ADAPTER.body(request)["contents"] == contents
    (result,) = request.messages[1].parts
    assert isinstance(result, ToolCallResponse)
    assert result.id == request.messages[0].tool_calls[0].id


def test_result_without_the_id_of_its_call_gets_it() -> None:
    contents = [
        {"role": "model", "parts": [call("add", "a1"), call("add")]},
        {"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {}}}] * 2},
    ]
    sent = ADAPTER.body(asked(contents=contents))["contents"][1]["parts"]
    assert [part["functionResponse"].get("id") for part in sent] == [None, "a1"]


@pytest.mark.parametrize("arguments", [{}, {"args": None}, {"args": ""}, {"args": {}}])
def test_tc_02_missing_arguments_are_an_empty_object(arguments: dict[str, Any]) -> None:
    (found,) = reply({"functionCall": {"name": "now", **arguments}}).message.tool_calls
    assert found.arguments == {}


def test_ll_01_arguments_of_another_model_that_are_no_object_are_sent_in_one() -> None:
    sent = parts(ToolCall("add", '{"city": "Osl', "c1"), role="assistant")
    assert sent == [call("add", arguments='{"city": "Osl')]


def test_tc_04_text_call_text_keep_their_order() -> None:
    content = [{"text": "Let me see."}, call("add", n=1), {"text": "Done."}]
    message = reply(*content).message
    assert [part.type for part in message.parts] == ["text", "tool_call", "text"]
    assert parts(*message.parts, role="assistant") == content


def test_ll_02_stop_with_a_call_is_a_tool_call() -> None:
    choice = reply(call("add")).choices[0]
    assert (choice.finish_reason, choice.finish_reason_raw) == ("tool_call", "STOP")


def test_empty_id_is_none() -> None:
    inner = {"name": "add", "args": {}}
    (found,) = reply({"functionCall": {**inner, "id": ""}}).message.tool_calls
    assert found.id
    assert parts(found, role="assistant") == [{"functionCall": inner}]


def test_call_that_was_cut_stays_cut() -> None:
    assert reply(call("add"), finish="MAX_TOKENS").finish_reason == "length"
