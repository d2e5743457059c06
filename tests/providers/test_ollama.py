import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan.errors import (
    BadResponse,
    ConfigurationError,
    LoopspanError,
    NotFoundError,
    UnsupportedContent,
)
from loopspan.messages import (
    Blob,
    Extra,
    File,
    Generic,
    Message,
    Parameters,
    Part,
    Reasoning,
    Reply,
    Request,
    Text,
    ToolCall,
    ToolCallResponse,
    ToolDefinition,
    Uri,
    Usage,
    assistant,
    system,
    user,
)
from loopspan.providers.adapter import StreamState
from loopspan.providers.framing import Event
from loopspan.providers.ollama import Ollama
from loopspan.secrets import Secret
from tests import corpus
from tests.corpus import Exchange
from tests.providers import strategies as some

OLLAMA = Ollama()
THINK_INLINE = "ollama/rig-native-inline-think-whole.json#0"
TOOLS_STREAMED = "ollama/prism-stream-with-tools-1.json#0"


def own(**details: Any) -> Extra:
    return {"ollama": details}


def body(message: dict[str, Any], **fields: Any) -> dict[str, Any]:
    made = {"model": "m", "created_at": "2026-01-02T03:04:05Z", "done": True, "done_reason": "stop"}
    return {**made, "message": {"role": "assistant", "content": "", **message}, **fields}


def call(name: str, arguments: Any, **fields: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **fields}


def wire(*messages: Message, **settings: Any) -> dict[str, Any]:
    return OLLAMA.body(Request("m", messages, parameters=Parameters(**settings)))


# Recorded answers


@corpus.recorded("ollama")
def test_recorded_answer_reads_as_the_index_says(exchange: Exchange) -> None:
    reply = corpus.read(OLLAMA, exchange)
    said = exchange.expected
    assert reply.response_model == said.model
    assert reply.usage.input_tokens == said.input_tokens
    assert reply.usage.output_tokens == said.output_tokens
    assert reply.usage.reasoning_output_tokens is None
    assert reply.finish_reason_raw == said.finish
    assert [c.name for c in reply.message.tool_calls] == said.tool_names
    assert len(reply.message.tool_calls) == said.tool_calls
    assert all(isinstance(c.arguments, dict) and c.id for c in reply.message.tool_calls)
    assert "</think>" not in reply.message.text


@corpus.recorded("ollama", where=lambda e: e.streamed)
@pytest.mark.parametrize("chunks", [corpus.lines, corpus.single_bytes])
def test_recorded_stream_reads_the_same_in_any_chunks(
    exchange: Exchange, chunks: Callable[[bytes], list[bytes]]
) -> None:
    whole = corpus.read(OLLAMA, exchange)
    assert corpus.read_stream(OLLAMA, chunks(exchange.data)) == whole


@given(st.lists(st.integers(0, 2**20), max_size=6))
def test_recorded_stream_reads_the_same_wherever_it_is_cut(positions: list[int]) -> None:
    exchange = corpus.exchange(TOOLS_STREAMED)
    chunks = corpus.cut(exchange.data, positions)
    assert corpus.read_stream(OLLAMA, chunks) == corpus.read(OLLAMA, exchange)


@corpus.recorded("ollama", where=lambda e: e.streamed)
def test_deltas_of_a_recorded_stream_are_its_text_and_thinking(exchange: Exchange) -> None:
    reply, deltas = corpus.watch(OLLAMA, [exchange.data])
    shown = "".join(d.content for d in deltas)
    said = reply.message.reasoning + reply.message.text
    assert "".join(shown.split()) == "".join(said.split())


# Recorded requests

DIFFERENCES: dict[str, tuple[dict[str, Any], str]] = {
    "ollama/lcgo-client-generatechat.json#0": (
        {"stream": True},
        "streaming is the server's default; we say it",
    ),
}
"""What encoding adds to the decoded body, and why."""


@corpus.recorded("ollama", where=lambda e: e.request is not None)
def test_recorded_request_encodes_to_what_it_was(exchange: Exchange) -> None:
    added, _ = DIFFERENCES.get(exchange.id, ({}, ""))
    assert not added.keys() & exchange.request.keys()
    decoded = OLLAMA.request(exchange.request, exchange.url)
    assert OLLAMA.body(decoded) == exchange.request | added
    assert OLLAMA.url(exchange.url.removesuffix("/api/chat"), decoded) == exchange.url


@corpus.recorded("ollama", where=lambda e: e.request is not None)
def test_decoded_request_is_what_its_encoding_decodes_to(exchange: Exchange) -> None:
    decoded = OLLAMA.request(exchange.request)
    assert OLLAMA.request(OLLAMA.body(decoded)) == decoded


def test_thinking_of_a_recorded_request_is_apart_from_its_text() -> None:
    exchange = corpus.exchange("ollama/rig-tools-two-tools-nonstreaming.json#3")
    parts = OLLAMA.request(exchange.request).messages[-2].parts
    assert [p.type for p in parts] == ["reasoning", "tool_call"]


# Generated requests

_thinking = some.reasoning_parts(st.just(own(field="thinking"))).filter(lambda p: p.content)
_images = st.builds(Blob, st.just("image"), some.base64s)


@st.composite
def _messages(draw: st.DrawFn, role: str, *kinds: st.SearchStrategy[Part]) -> Message:
    """Messages with at most one text and one thinking, in the order that the wire has."""
    parts: list[Part] = []
    for kind in kinds:
        parts += draw(st.lists(kind, max_size=1))
    if role == "assistant":
        parts += draw(st.lists(some.tool_calls(), max_size=2))
    else:
        parts += draw(st.lists(_images, max_size=2))
    return Message(role, tuple(parts))


_results = some.messages("tool", some.tool_results(name=st.none() | some.names), max_size=1)
_extras = st.fixed_dictionaries(
    {},
    optional={
        "keep_alive": some.json_values,
        "format": some.objects,
        "options": st.fixed_dictionaries({"num_ctx": st.integers(1)}),
    },
)
_settings = st.builds(
    lambda settings, extra: replace(settings, extra=extra),
    some.parameters(
        *("temperature", "top_p", "top_k", "max_tokens", "stop_sequences", "seed"),
        *("frequency_penalty", "presence_penalty", "reasoning_level"),
    ),
    _extras,
)


@st.composite
def _requests(draw: st.DrawFn) -> Request:
    """Requests whose results name no call that stands before them: the wire would add its name."""
    made = draw(
        some.requests(
            some.dialogues(
                _messages("system", some.text_parts()),
                _messages("user", some.text_parts()),
                _messages("assistant", _thinking, some.text_parts()),
                _results,
            ),
            _settings,
            choices=(),
        )
    )
    calls = {c.id for m in made.messages for c in m.tool_calls}
    unnamed = {
        p.id
        for m in made.messages
        for p in m.parts
        if isinstance(p, ToolCallResponse) and p.name is None
    }
    if calls & unnamed:
        return Request(made.model, (user("x"),))
    return made


@given(_requests())
def test_encoded_request_decodes_to_itself(request: Request) -> None:
    assert OLLAMA.request(OLLAMA.body(request)) == request


def test_message_is_encoded_once() -> None:
    request = Request("m", (user("hi"),))
    first, second = (OLLAMA.body(request)["messages"][0] for _ in range(2))
    assert first is second


# Requests


def test_stream_is_always_said() -> None:
    assert OLLAMA.body(Request("m", (user("hi"),)))["stream"] is False
    assert OLLAMA.body(Request("m", (user("hi"),), stream=True))["stream"] is True


def test_settings_are_options() -> None:
    assert wire(user("hi"), temperature=0.5, max_tokens=7, stop_sequences=("a",), seed=3)[
        "options"
    ] == {"temperature": 0.5, "num_predict": 7, "stop": ["a"], "seed": 3}


def test_options_of_extra_stand_beside_the_settings_and_win() -> None:
    extra = {"options": {"num_ctx": 9, "seed": 4}, "keep_alive": "5m"}
    sent = wire(user("hi"), seed=3, top_k=2, extra=extra)
    assert sent["options"] == {"top_k": 2, "num_ctx": 9, "seed": 4}
    assert sent["keep_alive"] == "5m"


def test_endless_num_predict_is_no_limit_of_tokens() -> None:
    sent = {"model": "m", "messages": [], "stream": True, "options": {"num_predict": -1}}
    decoded = OLLAMA.request(sent)
    assert decoded.parameters == Parameters(extra={"options": {"num_predict": -1}})
    assert OLLAMA.body(decoded) == sent


@pytest.mark.parametrize(
    ("think", "level"), [("high", "high"), (False, "none"), (True, None), (None, None), ("", None)]
)
def test_think_is_the_reasoning_level(think: Any, level: str | None) -> None:
    sent = {"model": "m", "messages": [], "stream": False, "think": think}
    decoded = OLLAMA.request(sent)
    assert decoded.parameters.reasoning_level == level
    assert OLLAMA.body(decoded) == sent


def test_request_without_stream_is_streamed() -> None:
    assert OLLAMA.request({"model": "m", "messages": []}).stream is True


def test_tool_choice_none_offers_no_tools() -> None:
    request = Request("m", (user("hi"),), (ToolDefinition("t"),), tool_choice="none")
    assert "tools" not in OLLAMA.body(request)


@pytest.mark.parametrize("choice", ["required", "t"])
def test_forced_tool_choice_is_refused(choice: str) -> None:
    request = Request("m", (user("hi"),), (ToolDefinition("t"),), tool_choice=choice)
    with pytest.raises(ConfigurationError, match=choice):
        OLLAMA.body(request)


def test_tool_of_another_type_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="web_search"):
        OLLAMA.body(Request("m", (user("hi"),), (ToolDefinition("s", type="web_search"),)))


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "t", "description": None, "strict": True}},
        {"type": "function", "function": {"name": "t", "parameters": {}}, "x": 1},
        {"type": "web", "name": "w", "depth": 2},
        {"kind": 1},
    ],
)
def test_offered_tool_keeps_what_we_have_no_name_for(tool: dict[str, Any]) -> None:
    sent = {"model": "m", "messages": [], "stream": True, "tools": [tool]}
    assert OLLAMA.body(OLLAMA.request(sent)) == sent


def test_each_result_is_a_message_and_text_after_it_is_the_users() -> None:
    results = (ToolCallResponse("1", "a", "f"), ToolCallResponse({"x": 2}, "b", "g"), Text("go"))
    assert wire(Message("tool", results))["messages"] == [
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "a"},
        {"role": "tool", "content": '{"x":2}', "tool_name": "g", "tool_call_id": "b"},
        {"role": "user", "content": "go"},
    ]


def test_result_without_a_name_gets_that_of_its_call() -> None:
    asked = assistant(ToolCall("f", {}, "a"), ToolCall("g", {}, "b"))
    sent = wire(asked, Message("tool", (ToolCallResponse("2", "b"),)))["messages"]
    assert sent[1]["tool_name"] == "g"


def test_results_without_ids_belong_to_the_calls_in_order() -> None:
    dialogue = [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [call("f", {"n": 1}), call("g", {}), call("f", {"n": 2})],
        },
        {"role": "tool", "content": "g", "tool_name": "g"},
        {"role": "tool", "content": "f1", "tool_name": "f"},
        {"role": "tool", "content": "f2"},
        {"role": "tool", "content": "lost", "tool_name": "f"},
    ]
    sent = {"model": "m", "messages": dialogue, "stream": True}
    decoded = OLLAMA.request(sent)
    first, second, third = (c.id for c in decoded.messages[0].tool_calls)
    found = [m.parts[0] for m in decoded.messages[1:]]
    assert [p.id for p in found if isinstance(p, ToolCallResponse)] == [second, first, third, None]
    assert OLLAMA.body(decoded) == sent


def test_results_without_ids_get_those_that_the_server_gave() -> None:
    dialogue = [
        {"role": "assistant", "content": "", "tool_calls": [call("f", {}, id="call_1")]},
        {"role": "tool", "content": "1", "tool_name": "f"},
    ]
    sent = {"model": "m", "messages": dialogue, "stream": True}
    decoded = OLLAMA.request(sent)
    result = decoded.messages[1].parts[0]
    assert isinstance(result, ToolCallResponse)
    assert result.id == "call_1"
    assert OLLAMA.body(decoded) == sent


def test_results_with_ids_are_read_in_any_order() -> None:
    dialogue = [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [call("f", {}, id="call_1"), call("f", {}, id="call_2")],
        },
        {"role": "tool", "content": "2", "tool_name": "f", "tool_call_id": "call_2"},
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "call_1"},
    ]
    sent = {"model": "m", "messages": dialogue, "stream": True}
    assert OLLAMA.body(OLLAMA.request(sent)) == sent


def test_fields_of_a_result_that_we_have_no_name_for_go_back() -> None:
    result = {"role": "tool", "content": "", "tool_name": "f", "images": ["aGk="], "x": {"y": 1}}
    sent = {"model": "m", "messages": [result], "stream": True}
    assert OLLAMA.body(OLLAMA.request(sent)) == sent


def test_images_are_base64_on_their_message() -> None:
    sent = wire(user("what?", Blob("image", "aGk=", "image/png"), Blob("image", "aG8=")))
    assert sent["messages"] == [{"role": "user", "content": "what?", "images": ["aGk=", "aG8="]}]


@pytest.mark.parametrize(
    "part",
    [
        Uri("image", "https://example.org/a.png"),
        Blob("audio", "aGk="),
        File("image", "f1"),
        Generic("hologram", {"x": 1}),
        Generic("server_tool_use", {"x": 1}, extra={"anthropic": {"type": "server_tool_use"}}),
    ],
)
def test_other_content_is_refused(part: Part) -> None:
    with pytest.raises(UnsupportedContent, match=part.type):
        wire(user("what?", part))


def test_thinking_of_another_provider_is_not_sent() -> None:
    foreign = Reasoning("hm", extra={"anthropic": {"signature": "s"}})
    sent = wire(assistant(foreign, Reasoning("bare"), "hi"))
    assert sent["messages"] == [{"role": "assistant", "content": "hi"}]


@pytest.mark.parametrize(
    "message",
    [
        {"content": "<think>\nhm\n</think>\n\nhi"},
        {"content": "hm</think> hi"},
        {"content": "<think>\n\n</think>\n\nhi"},
        {"content": "<think>hm"},
        {"content": "hi", "thinking": "hm </think>"},
        {"content": "a </think> b", "thinking": "hm"},
        {"content": "hi", "reasoning": "hm"},
        {"content": "hi", "hologram": {"x": 1}},
        {"content": "", "tool_calls": [{"function": {"name": "f", "arguments": "{}", "index": 1}}]},
        {"content": "", "tool_calls": [call("f", None, type="function")]},
        {"content": "", "tool_calls": [call("f", '{"a": ')]},
    ],
)
def test_answer_goes_back_as_it_came(message: dict[str, Any]) -> None:
    reply = OLLAMA.reply(body(message))
    assert wire(reply.message)["messages"] == [{"role": "assistant", **message}]


def test_arguments_that_are_no_object_are_sent_in_one() -> None:
    sent = wire(assistant(ToolCall("f", '{"a": ', "x")))
    assert sent["messages"][0]["tool_calls"][0]["function"]["arguments"] == {"arguments": '{"a": '}


def test_part_of_another_providers_answer_is_not_sent() -> None:
    foreign = Generic("server_tool_use", {"x": 1}, extra={"anthropic": {}})
    assert wire(assistant(foreign, "hi"))["messages"] == [{"role": "assistant", "content": "hi"}]


def test_several_answers_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="choice_count"):
        wire(user("hi"), choice_count=2)
    assert "choice_count" not in wire(user("hi"), choice_count=1)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (None, "http://127.0.0.1:11434"),
        ("", "http://127.0.0.1:11434"),
        ("box", "http://box:11434"),
        ("10.0.0.2:8080", "http://10.0.0.2:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("[::]:8080", "http://[::1]:8080"),
        ("http://0.0.0.0:11434/", "http://127.0.0.1:11434"),
        ("https://ollama.com", "https://ollama.com"),
        ("box/ollama/", "http://box:11434/ollama"),
    ],
)
def test_address_is_that_of_ollama_host(given: str | None, address: str) -> None:
    assert OLLAMA.address({"OLLAMA_HOST": given}.get) == address


def test_bad_ollama_host_is_named() -> None:
    with pytest.raises(ConfigurationError, match="box:port"):
        OLLAMA.address({"OLLAMA_HOST": "box:port"}.get)


def test_key_is_sent_as_bearer_where_there_is_one() -> None:
    assert "authorization" not in OLLAMA.headers(None)
    assert OLLAMA.headers(Secret("k"))["authorization"] == "Bearer k"


# Answers


def test_ll02_stop_with_a_call_is_a_tool_call() -> None:
    reply = OLLAMA.reply(body({"tool_calls": [call("f", {"a": 1})]}))
    assert (reply.finish_reason, reply.finish_reason_raw) == ("tool_call", "stop")
    assert [(c.name, c.arguments) for c in reply.message.tool_calls] == [("f", {"a": 1})]


@pytest.mark.parametrize("field", ["thinking", "reasoning"])
@pytest.mark.parametrize("streamed", [False, True])
def test_ll03_thinking_without_an_answer_is_cut_by_length(field: str, streamed: bool) -> None:
    answer = body({field: "so long"}, done_reason="length")
    reply = _both(answer)[streamed]
    assert (reply.finish_reason, reply.finish_reason_raw) == ("length", "length")
    assert (reply.message.text, reply.message.reasoning) == ("", "so long")


def test_length_with_a_call_stays_length() -> None:
    reply = OLLAMA.reply(body({"tool_calls": [call("f", {})]}, done_reason="length"))
    assert reply.finish_reason == "length"


def test_missing_and_unknown_finish_reasons() -> None:
    unknown, missing = (OLLAMA.reply(body({}, done_reason=word)) for word in ("load", None))
    assert (unknown.finish_reason, unknown.finish_reason_raw) == ("load", "load")
    assert (missing.finish_reason, missing.finish_reason_raw) == ("error", None)


@pytest.mark.parametrize(
    "answer",
    [
        body({"content": "Hello there"}, prompt_eval_count=4, eval_count=2),
        body({"content": "hi", "thinking": "hm"}, prompt_eval_cached_count=3),
        body({"content": "<think>\nhm\n</think>\n\nhi"}),
        body({"content": "hm\n</think>\n\nhi", "tool_calls": [call("f", {}), call("f", {})]}),
        body({"tool_calls": [call("f", {"a": 1}, id="call_1"), call("g", {}, id="call_2")]}),
        body({"content": "hi", "hologram": {"x": 1}}),
    ],
)
def test_as01_streamed_and_whole_answers_are_the_same(answer: dict[str, Any]) -> None:
    whole, streamed = _both(answer)
    assert streamed == whole


def _both(answer: dict[str, Any]) -> tuple[Reply, Reply]:
    """Read an answer whole, and as the stream of two-letter pieces that the server would send."""
    message = dict(answer["message"])
    pieces: list[dict[str, Any]] = []
    for field in ("thinking", "reasoning", "content"):
        text = message.pop(field, "")
        pieces += ({"content": "", field: text[i : i + 2]} for i in range(0, len(text), 2))
    pieces += ({"content": "", "tool_calls": [c]} for c in message.pop("tool_calls", ()))
    pieces += ({"content": "", k: v} for k, v in message.items() if k != "role")
    head = {"model": answer["model"], "created_at": "2026-01-01T00:00:00Z", "done": False}
    lines = [head | {"message": {"role": "assistant", **piece}} for piece in pieces]
    lines.append(answer | {"message": {"role": "assistant", "content": ""}})
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return OLLAMA.reply(answer), corpus.read_stream(OLLAMA, corpus.lines(data))


def test_ids_that_the_server_does_not_give_are_stable_unique_and_kept_here() -> None:
    calls = {"tool_calls": [call("f", {}), call("f", {})]}
    first, again, later = (
        OLLAMA.reply(body(calls, created_at=at)).message for at in ("1", "1", "2")
    )
    ids = [c.id for m in (first, later) for c in m.tool_calls]
    assert len(set(ids)) == 4
    assert first == again
    result = Message("tool", (ToolCallResponse("1", ids[1], "f"),))
    assert wire(first, result)["messages"] == [
        {"role": "assistant", "content": "", **calls},
        {"role": "tool", "content": "1", "tool_name": "f"},
    ]


def test_made_ids_of_a_request_are_unique_in_it() -> None:
    asked = {"role": "assistant", "content": "", "tool_calls": [call("f", {}), call("f", {})]}
    decoded = OLLAMA.request({"model": "m", "messages": [asked, asked]})
    assert len({c.id for m in decoded.messages for c in m.tool_calls}) == 4


def test_id_of_the_server_is_kept_and_sent_back() -> None:
    reply = OLLAMA.reply(body({"tool_calls": [call("f", {}, id="call_1")]}))
    (asked,) = reply.message.tool_calls
    assert asked.id == "call_1"
    sent = wire(reply.message, Message("tool", (ToolCallResponse("1", asked.id, "f"),)))
    assert sent["messages"][0]["tool_calls"][0]["id"] == "call_1"
    assert sent["messages"][1]["tool_call_id"] == "call_1"


@pytest.mark.parametrize("arguments", ["", None, {}])
def test_tc02_no_arguments_are_an_empty_object(arguments: Any) -> None:
    reply = OLLAMA.reply(body({"tool_calls": [call("f", arguments)]}))
    assert reply.message.tool_calls[0].arguments == {}


def test_tc02_absent_arguments_are_an_empty_object() -> None:
    reply = OLLAMA.reply(body({"tool_calls": [{"function": {"name": "f"}}]}))
    assert reply.message.tool_calls[0].arguments == {}


def test_as06_unknown_field_of_a_message_is_kept() -> None:
    parts = OLLAMA.reply(body({"content": "hi", "hologram": {"x": 1}})).message.parts
    assert parts == (Text("hi"), Generic("hologram", {"x": 1}, extra=own(field=True)))


def test_missing_counts_are_unknown() -> None:
    assert OLLAMA.reply(body({}, eval_count=3)).usage == Usage(None, 3)


def test_cached_count_is_a_part_of_the_input() -> None:
    exchange = corpus.exchange(THINK_INLINE)
    usage = corpus.read(OLLAMA, exchange).usage
    assert (usage.input_tokens, usage.cache_read_input_tokens) == (23, 22)


def test_stray_end_of_thinking_splits_the_recorded_text() -> None:
    message = corpus.read(OLLAMA, corpus.exchange(THINK_INLINE)).message
    assert message.text == "4"
    assert message.reasoning.startswith("Okay, the user asked")


def test_tag_in_the_text_of_a_user_stays_text() -> None:
    said = {"role": "user", "content": "<think>hm</think> what is that?"}
    decoded = OLLAMA.request({"model": "m", "messages": [said]})
    assert decoded.messages == (user(said["content"]),)


def test_tag_in_an_answer_with_thinking_apart_stays_text() -> None:
    message = OLLAMA.reply(body({"content": "a </think> b", "thinking": "hm"})).message
    assert (message.text, message.reasoning) == ("a </think> b", "hm")


# Errors and broken answers


def test_error_of_the_server_is_its_message() -> None:
    error = OLLAMA.error(404, {"error": "model 'x' not found"})
    assert isinstance(error, NotFoundError)
    assert error.message == "model 'x' not found"


def test_error_line_of_a_stream_is_raised() -> None:
    state = StreamState()
    OLLAMA.event(state, Event('{"model":"m","message":{"content":"He"},"done":false}'))
    with pytest.raises(BadResponse, match="an error was encountered"):
        OLLAMA.event(state, Event('{"error":"an error was encountered while running the model"}'))
    partial = OLLAMA.partial(state)
    assert partial is not None
    assert (partial.message.text, partial.finish_reason) == ("He", "error")


def test_line_of_a_stream_that_is_no_json_is_an_error() -> None:
    with pytest.raises(BadResponse):
        OLLAMA.event(StreamState(), Event("panic: out of memory"))


def test_stream_without_its_last_line_broke_off() -> None:
    line = b'{"model":"m","message":{"role":"assistant","content":"Hi"},"done":false}\n'
    with pytest.raises(BadResponse, match="last event"):
        corpus.read_stream(OLLAMA, [line])


@given(st.data())
def test_any_answer_is_read_or_refused(data: st.DataObject) -> None:
    spoiled = _spoiled(data, body({"thinking": "t", "tool_calls": [call("f", {"a": 1})]}))
    for read in (OLLAMA.reply, OLLAMA.request, _read_line):
        try:
            value = read(spoiled)
        except LoopspanError:
            continue
        assert isinstance(value, Reply | Request)


@given(st.data())
def test_any_request_is_read_or_refused(data: st.DataObject) -> None:
    asked = {"role": "assistant", "content": "a", "tool_calls": [call("f", {}, id="i")]}
    result = {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "i"}
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    sent = {"model": "m", "messages": [asked, result], "tools": [tool], "options": {"stop": ["a"]}}
    with contextlib.suppress(LoopspanError):
        assert isinstance(OLLAMA.request(_spoiled(data, sent)), Request)


def _read_line(value: Any) -> Reply:
    return corpus.read_stream(OLLAMA, [json.dumps(value).encode()])


def _spoiled(data: st.DataObject, value: Any) -> Any:
    """Return the value with one place in it taken out or replaced by something else."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 4)):
        key = data.draw(st.sampled_from(sorted(value)))
        if not data.draw(st.integers(0, 4)):
            return {k: v for k, v in value.items() if k != key}
        return value | {key: _spoiled(data, value[key])}
    if isinstance(value, list) and value and data.draw(st.integers(0, 4)):
        place = data.draw(st.integers(0, len(value) - 1))
        return [_spoiled(data, v) if i == place else v for i, v in enumerate(value)]
    return data.draw(some.json_values)


def test_system_message_stands_in_the_dialogue() -> None:
    assert wire(system("be brief"), user("hi"))["messages"][0] == {
        "role": "system",
        "content": "be brief",
    }
