"""The errors of loopspan, one tree:

LoopspanError
├── ConfigurationError          a model, option or catalogue that cannot work; nothing was sent
├── UnsupportedContent          a message part that this provider cannot take; nothing was sent
├── ProviderError               the provider refused, failed, or answered what cannot be read
│   ├── AuthenticationError     401, 403: key missing, wrong, or not allowed
│   ├── NotFoundError           404: no such model or endpoint
│   ├── RateLimitError          429: too much; `retry_after` says how long to wait, if reported
│   ├── InvalidRequestError     other 4xx
│   ├── ServerError             5xx and overload
│   ├── BadResponse             not JSON, not of the expected shape, or an error inside a 200
│   └── ConnectionFailed        no connection, or one that broke
│       └── ConnectionTimeout   no answer in time
├── SourceError                 a backend or file could not give its runs
│   └── RunNotFound             it answers, and has no such trace or run
└── ToolError                   what went wrong with a tool call; the model gets a generic result
    ├── UnknownTool
    ├── ToolRefused
    ├── InvalidArguments
    ├── ToolTimeout
    └── ToolNotRun              the call was cut by length or is past the limit of a run
"""

from __future__ import annotations

from typing import Any, ClassVar


class LoopspanError(Exception):
    """Any error of loopspan.

    `result` is what the run had reached when the error ended it (a `RunResult`), else `None`.
    """

    result: Any = None

    @property
    def error_type(self) -> str:
        """The value of the attribute `error.type`."""
        return type(self).__name__

    @property
    def summary(self) -> str:
        """A sentence without anything that a model, tool or provider wrote."""
        return type(self).__name__


class ConfigurationError(LoopspanError, ValueError):
    """A model, option or catalogue that cannot work; nothing was sent."""


class UnsupportedContent(LoopspanError, ValueError):
    """A message part that the provider cannot take; nothing was sent."""


class ProviderError(LoopspanError):
    """The provider refused, failed, or answered what cannot be read."""

    advice: ClassVar[str] = "See the provider's documentation for this answer."
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        provider: str,
        status: int | None = None,
        code: str | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
        body: Any = None,
    ) -> None:
        """`message` and the decoded `body` are the provider's own; `retry_after` is in seconds."""
        self.message = message
        self.provider = provider
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.request_id = request_id
        self.body = body
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        said = f": {self.message}" if self.message else ""
        request = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.summary}{said}{request}. {self.advice}"

    @property
    def error_type(self) -> str:
        """The HTTP status where there is one, else the provider's code, else the class."""
        if self.status is not None and self.status >= 400:
            return str(self.status)
        return self.code or type(self).__name__

    @property
    def summary(self) -> str:
        answered = f"{self.provider} answered {self.status}" if self.status else self.provider
        return f"{answered} ({self.code})" if self.code else f"{answered} ({type(self).__name__})"


class AuthenticationError(ProviderError):
    """401 or 403: the key is missing, wrong, or not allowed to do this."""

    advice = "Check the provider's key variable; `loopspan check` shows which are set."


class NotFoundError(ProviderError):
    """404: no such model or endpoint."""

    advice = "Check the model's name and the base URL."


class RateLimitError(ProviderError):
    """429: too many requests or tokens."""

    advice = "Wait, or raise the limit of the account."
    retryable = True


class InvalidRequestError(ProviderError):
    """The provider does not take this request."""

    advice = "Change the request; sending it again will not help."


class ServerError(ProviderError):
    """The provider failed or is overloaded."""

    advice = "Try again later; the provider's status page may say more."
    retryable = True


class BadResponse(ProviderError):
    """The answer is not JSON, not of the expected shape, or an error inside a 200."""

    advice = "Check that the base URL is this provider's API."


class ConnectionFailed(ProviderError):
    """No connection could be made, or it broke before the answer was whole."""

    advice = "Check the network and the base URL."
    retryable = True


class ConnectionTimeout(ConnectionFailed):
    """The provider did not answer in time."""

    advice = "Raise the timeout of the HTTP client, or try again."


class SourceError(LoopspanError):
    """A source of runs could not give them: unreachable, refused, too large, or not readable.

    `message` says what happened and where, `hint` what to do next.
    """

    def __init__(self, message: str, hint: str) -> None:
        self.message = message
        self.hint = hint
        super().__init__(f"{message}; {hint}")


class RunNotFound(SourceError):
    """The source answers, and has no such trace or run."""


class ToolError(LoopspanError):
    """What went wrong with a tool call; `told` is the generic text that the model gets."""

    kind: ClassVar[str] = "tool_error"
    told: ClassVar[str] = "The tool failed."

    @property
    def error_type(self) -> str:
        return self.kind

    @property
    def summary(self) -> str:
        return self.told


class UnknownTool(ToolError):
    """The model asked for a tool that is not registered or was not offered."""

    kind = "unknown_tool"
    told = "There is no such tool. Use only the tools that were offered."


class ToolRefused(ToolError):
    """A rule (allow-list, enabled state, admin gate) refuses the call."""

    kind = "tool_refused"
    told = "This tool is not available. Use only the tools that were offered."


class InvalidArguments(ToolError):
    """The arguments are no JSON object or do not fit the tool's schema."""

    kind = "invalid_arguments"
    told = "The arguments are not valid for this tool. Check its schema and try again."


class ToolTimeout(ToolError):
    """The tool did not return in time."""

    kind = "timeout"
    told = "The tool did not finish in time."


class ToolNotRun(ToolError):
    """The call was not made: it was cut by length, or it is past the limit of calls of a run."""

    kind = "not_run"
    told = "This call was not made. Ask for fewer calls, or answer with what is known."
