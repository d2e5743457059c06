"""Requests as the endpoint reads them: OpenAI's chat completions, as far as the model uses them.

https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from loopspan.demo.failures import Failure

MODEL = "demo-1"
"""The one model that the endpoint has."""


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class Function(_Wire):
    """A function that may be called; `parameters` is its JSON Schema."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class Tool(_Wire):
    """A tool that is offered; only functions are ever called."""

    type: str
    function: Function | None = None


class CalledFunction(_Wire):
    """A function and the arguments as JSON text."""

    name: str
    arguments: str


class ToolCall(_Wire):
    """A call that an earlier answer asked for."""

    id: str
    function: CalledFunction | None = None


class Message(_Wire):
    """One message of the dialogue."""

    role: Literal["assistant", "developer", "function", "system", "tool", "user"]
    content: str | tuple[dict[str, Any], ...] | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        """All text of the message."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        texts = (part.get("text") for part in self.content)
        return "\n".join(text for text in texts if isinstance(text, str))


class _Named(_Wire):
    name: str


class NamedChoice(_Wire):
    """The choice of one tool."""

    type: str
    function: _Named


class _StreamOptions(_Wire):
    include_usage: bool = False


Count = Annotated[int, Field(ge=1)]


class ChatRequest(_Wire):
    """The body of a request; fields that the model does not use are not looked at."""

    model: str
    messages: Annotated[tuple[Message, ...], Field(min_length=1)]
    tools: Annotated[tuple[Tool, ...], Field(min_length=1)] | None = None
    tool_choice: Literal["auto", "none", "required"] | NamedChoice | None = None
    parallel_tool_calls: bool | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    n: Count | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None

    @property
    def limit(self) -> int | None:
        """The most tokens that the answer may have."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def functions(self) -> tuple[Function, ...]:
        """The functions that are offered."""
        return tuple(tool.function for tool in self.tools or () if tool.function is not None)


def read(content: bytes) -> ChatRequest:
    """Return the request of a body; raises `Failure` where the API would refuse it."""
    try:
        request = ChatRequest.model_validate_json(content)
    except ValidationError as error:
        raise _refused(error) from None
    for failure in _wrong(request):
        raise failure
    return request


def _refused(error: ValidationError) -> Failure:
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return Failure(400, "We could not parse the JSON body of your request.")
    place = ".".join(map(str, first["loc"])) or None
    return Failure(400, f"Invalid request: {place or 'body'}: {first['msg']}.", param=place)


def _wrong(request: ChatRequest) -> Iterator[Failure]:
    """Yield what is wrong with a request that has the right shape."""
    if request.model != MODEL:
        said = f"The model `{request.model}` does not exist; this endpoint has `{MODEL}`."
        yield Failure(404, said, "model_not_found", "model")
    if (request.n or 1) > 1:
        yield Failure(400, f"n is {request.n}; this model gives one choice.", param="n")
    if request.stream_options is not None and not request.stream:
        said = "'stream_options' is only allowed when 'stream' is enabled."
        yield Failure(400, said, param="stream_options")
    yield from _wrong_choice(request)
    yield from _unanswered(request.messages)


def _wrong_choice(request: ChatRequest) -> Iterator[Failure]:
    choice, names = request.tool_choice, {function.name for function in request.functions}
    if choice is not None and request.tools is None:
        said = "'tool_choice' is only allowed when 'tools' are specified."
        yield Failure(400, said, param="tool_choice")
    elif isinstance(choice, NamedChoice) and choice.function.name not in names:
        said = f"Tool choice '{choice.function.name}' not found in 'tools'."
        yield Failure(400, said, param="tool_choice")


def _unanswered(messages: tuple[Message, ...]) -> Iterator[Failure]:
    """Yield what is wrong with calls and their results; the API wants them side by side."""
    waiting: Mapping[str, None] = {}
    for number, message in enumerate(messages):
        if message.role == "tool":
            if message.tool_call_id not in waiting:
                said = "A message of role 'tool' must answer a call of the message before."
                yield Failure(400, said, param=f"messages.{number}.tool_call_id")
            waiting = {id: None for id in waiting if id != message.tool_call_id}
        elif waiting:
            break
        else:
            waiting = {call.id: None for call in message.tool_calls or ()}
    if waiting:
        said = f"These tool calls have no result: {', '.join(waiting)}."
        yield Failure(400, said, param="messages")
