"""The provider `demo`: the embedded model, reached like any other."""

from __future__ import annotations

from collections.abc import Callable

from loopspan.demo.endpoint import endpoint, was_endpoint
from loopspan.demo.requests import MODEL
from loopspan.errors import ConfigurationError
from loopspan.messages import Request
from loopspan.providers.chat_completions import ChatCompletions
from loopspan.secrets import Secret


class Demo(ChatCompletions):
    """The embedded model; its endpoint runs in this process and needs no account."""

    name = "demo"
    provider_name = "demo"
    documentation = "https://platform.openai.com/docs/api-reference/chat"
    base_url = "http://127.0.0.1/v1"  # the port is that of the running endpoint, see `address`
    default_model = MODEL

    def address(self, variable: Callable[[str], str | None]) -> str:
        """Return the address of this process's endpoint, which is started for it."""
        return endpoint().base_url

    def url(self, base_url: str, request: Request) -> str:
        """Return where the endpoint is now: after a fork or a stop it is another one."""
        if not was_endpoint(base_url):
            raise ConfigurationError(
                f"demo: runs inside this process, and not at {base_url!r}; leave base_url out, "
                "or use openai: for another server"
            )
        return super().url(endpoint().base_url, request)

    def headers(self, key: Secret | None) -> dict[str, str]:
        """Return the headers with the endpoint's token, unless a key is given."""
        return super().headers(key or endpoint().token)
