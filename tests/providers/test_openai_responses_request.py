"""Requests of the Responses adapter: dialogues and their content."""

import pytest

from loopspan.errors import (
    UnsupportedContent,
)
from loopspan.messages import (
    Blob,
    File,
    Generic,
    Message,
    Part,
    Reasoning,
    Request,
    Text,
    ToolCallResponse,
    Uri,
    assistant,
    system,
    user,
)
from tests.providers.test_openai_responses import (
    ADAPTER,
    Wire,
    body,
    call,
    message,
    output_text,
    own,
    sent,
)


def test_first_system_message_is_the_instructions() -> None:
    assert sent(system("Be brief."), user("hi")) == {
        "model": "gpt",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "hi"}],
    }


def test_later_system_message_stands_in_the_dialogue() -> None:
    body = sent(user("hi"), system("Be brief."))
    assert "instructions" not in body
    assert body["input"][1] == {"role": "system", "content": "Be brief."}


@pytest.mark.parametrize(
    "first",
    [
        {"role": "system", "content": "Be brief."},
        {"role": "system", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"role": "developer", "content": "Be brief."},
        {"type": "message", "role": "system", "content": "Be brief.", "status": "completed"},
    ],
)
@pytest.mark.parametrize("instructions", [{}, {"instructions": "x"}, {"instructions": ""}])
def test_instructions_in_the_dialogue_stay_in_it(first: Wire, instructions: Wire) -> None:
    body = {"model": "gpt", **instructions, "input": [first, {"role": "user", "content": "hi"}]}
    request = ADAPTER.request(body)
    assert [m.role for m in request.messages][-2:] == [first["role"], "user"]
    assert ADAPTER.body(request) == body


def test_null_instructions_are_no_message() -> None:
    body = {"model": "gpt", "instructions": None, "input": "hi"}
    request = ADAPTER.request(body)
    assert [m.role for m in request.messages] == ["user"]
    assert ADAPTER.body(request) == body


def test_input_that_is_a_text_becomes_a_list_when_the_dialogue_goes_on() -> None:
    first = ADAPTER.request({"model": "gpt", "input": "hi"}).messages
    assert sent(*first)["input"] == "hi"
    assert sent(*first, assistant("ho"))["input"] == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "ho"},
    ]


def test_items_of_the_assistant_in_a_row_are_one_message() -> None:
    items = [
        {"role": "user", "content": "hi"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"},
        message(output_text("a"), id="msg_1", phase="commentary"),
        message(output_text("b"), id="msg_2"),
        {"role": "assistant", "content": "c"},
        call(id="fc_1"),
        {"type": "web_search_call", "id": "ws_1"},
        {"type": "function_call_output", "call_id": "c", "output": "1"},
        {"type": "mcp_approval_response", "approve": True},
        {"role": "assistant", "content": "d"},
    ]
    body = {"model": "gpt", "input": items}
    request = ADAPTER.request(body)
    assert [m.role for m in request.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [p.type for p in request.messages[1].parts] == [
        *("reasoning", "text", "text", "text", "tool_call", "web_search_call")
    ]
    assert ADAPTER.body(request) == body


@pytest.mark.parametrize(("role", "kind"), [("assistant", "input_text"), ("user", "output_text")])
def test_text_of_the_other_kind_stays_that(role: str, kind: str) -> None:
    content = [{"type": kind, "text": "a"}, {"type": kind, "text": "b"}]
    body = {"model": "gpt", "input": [{"role": role, "content": content}]}
    request = ADAPTER.request(body)
    assert request.messages[0].text == "ab"
    assert ADAPTER.body(request) == body


def test_several_parts_are_a_list() -> None:
    image = Blob("image", "aGk=", "image/png")
    assert sent(user("what?", image))["input"] == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "what?"},
                {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
            ],
        }
    ]
    assert sent(user("x"), assistant("a", "b"))["input"][1] == {
        "role": "assistant",
        "content": [{"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}],
    }


def test_item_is_made_once() -> None:
    request = Request("gpt", (user("hi"), assistant("ho")))
    first, second = (ADAPTER.body(request)["input"] for _ in range(2))
    assert all(a is b for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(
    ("wire", "part"),
    [
        (
            {"type": "input_image", "image_url": "https://example.org/a", "detail": "low"},
            Uri("image", "https://example.org/a", extra=own(part={"detail": "low"})),
        ),
        (
            {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
            Blob("image", "aGk=", "image/png"),
        ),
        ({"type": "input_image", "file_id": "f"}, File("image", "f")),
        (
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:a/b;base64,aGk="},
            Blob("document", "aGk=", "a/b", extra=own(part={"filename": "a.pdf"})),
        ),
        (
            {
                "type": "input_file",
                "filename": "document.pdf",
                "file_data": "data:application/pdf;base64,aGk=",
            },
            Blob("document", "aGk=", "application/pdf"),
        ),
        (
            {"type": "input_file", "file_url": "https://example.org/a"},
            Uri("document", "https://example.org/a"),
        ),
        ({"type": "input_file", "file_id": "f"}, File("document", "f")),
        (
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
            Blob("audio", "aGk=", "audio/mpeg"),
        ),
        *(
            (wire, Generic(str(wire["type"]), wire, extra=own(place="content")))
            for wire in (
                {"type": "hologram", "x": 1},
                {"type": "input_image", "image_url": "data:image/svg+xml,<svg/>"},
                {"type": "input_file", "file_data": "aGk="},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "flac"}},
            )
        ),
    ],
)
def test_content_is_read_and_written(wire: Wire, part: Part) -> None:
    body = {"model": "gpt", "input": [{"role": "user", "content": [wire]}]}
    request = ADAPTER.request(body)
    assert request.messages[0].parts == (part,)
    assert ADAPTER.body(request) == body


@pytest.mark.parametrize(
    "part",
    [
        Blob("video", "aGk=", "video/mp4"),
        Blob("image", "aGk="),
        Blob("audio", "aGk=", "audio/flac"),
        Uri("audio", "https://example.org/a.mp3"),
        Generic("document", {"x": 1}, extra={"anthropic": {"type": "document"}}),
    ],
)
def test_content_that_the_api_does_not_take_is_refused(part: Part) -> None:
    with pytest.raises(UnsupportedContent):
        sent(user("hi", part))


def test_part_of_no_provider_is_sent_as_it_is() -> None:
    content = sent(user("hi", Generic("input_video", {"data": "x"})))["input"][0]["content"]
    assert content[1] == {"type": "input_video", "data": "x"}


def test_details_of_another_providers_answer_are_not_sent() -> None:
    foreign = Reasoning("hm", extra={"anthropic": {"signature": "s"}})
    search = Generic("server_tool_use", {"id": "s"}, extra={"anthropic": {}})
    assert sent(user("x"), assistant(foreign, search, "hi"), user("y"))["input"][1:] == [
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": "y"},
    ]
    assert sent(user("x"), assistant(foreign))["input"] == [{"role": "user", "content": "x"}]


def test_results_are_items_and_text_beside_them_is_the_users() -> None:
    parts = (ToolCallResponse("1", "a"), ToolCallResponse({"x": 2}, "b"), Text("go"))
    assert sent(Message("tool", parts))["input"] == [
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": '{"x":2}'},
        {"role": "user", "content": "go"},
    ]


def test_result_of_a_custom_call_is_of_its_type() -> None:
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "sh", "input": "ls"}
    asked = ADAPTER.reply(body(item)).message
    assert asked.tool_calls[0].arguments == "ls"
    assert sent(asked, Message("tool", (ToolCallResponse("a b", "c"),)))["input"] == [
        item,
        {"type": "custom_tool_call_output", "call_id": "c", "output": "a b"},
    ]
