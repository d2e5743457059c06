"""The provider `local`: a small model on this machine, reached like any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from loopspan.errors import ConfigurationError
from loopspan.local import server
from loopspan.messages import Message, Request
from loopspan.providers.chat_completions import ChatCompletions
from loopspan.secrets import Secret


class Local(ChatCompletions):
    """llama.cpp's server with SmolLM2-135M-Instruct; it runs as a child of this program."""

    name = "local"
    provider_name = "llama_cpp"
    documentation = "https://llama-cpp-python.readthedocs.io/en/latest/server/"
    base_url = "http://127.0.0.1/v1"  # the port is that of the running server, see `address`
    default_model = server.MODEL
    takes_stream_options: ClassVar[bool] = False
    reasoning_fields: ClassVar[tuple[str, ...]] = ()

    def address(self, variable: Callable[[str], str | None]) -> str:
        """Return the address of this program's server, which is started for it."""
        return server.start().base_url

    def missing(self) -> str | None:
        return server.missing()

    def headers(self, key: Secret | None) -> dict[str, str]:
        """Return the headers with the server's token, unless a key is given."""
        return super().headers(key or server.start().token)

    def _write_choice(self, request: Request) -> Any:
        # The chat format knows `auto`, `none` and one function.
        if request.tool_choice != "required":
            return super()._write_choice(request)
        if len(request.tools) == 1:
            name = request.tools[0].name
            return {"type": "function", "function": {"name": name}}
        raise ConfigurationError(
            "local: cannot be told to call any tool; tool_choice takes 'auto', 'none' or the "
            "name of a tool"
        )

    def _write_message(self, message: Message) -> tuple[dict[str, Any], ...]:
        return tuple(_as_rendered(wire) for wire in super()._write_message(message))


def _as_rendered(wire: dict[str, Any]) -> dict[str, Any]:
    """Return a message as the chat format's template takes it.

    It leaves the text of tool results out, and fails where a message has no content at all.
    """
    if wire["role"] == "tool":
        return {"role": "user", "content": f"The tool answered: {wire['content']}"}
    return {"content": "", **wire}
