"""What is asked of a model, before it has a provider's form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

from loopspan.messages.formed import Formed
from loopspan.messages.message import Message
from loopspan.messages.parts import Extra
from loopspan.messages.reply import Price


@dataclass(frozen=True, slots=True)
class ToolDefinition(Formed):
    """A tool as it is offered; `parameters` is a JSON Schema. Other types the provider runs."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] | None = None
    type: str = "function"
    extra: Extra = field(default_factory=dict)
    _forms: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return the definition as the conventions' JSON object."""
        result: dict[str, Any] = {"type": self.type, "name": self.name}
        if self.description is not None:
            result["description"] = self.description
        if self.parameters is not None:
            result["parameters"] = self.parameters
        return result


@dataclass(frozen=True, slots=True)
class Parameters:
    """Settings of a request by the conventions' names; what is `None` is not sent.

    `extra` holds fields of the provider's own body (`response_format`, `seed` of a kind of its
    own); they are sent as they are and win over what the adapter would write.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    stop_sequences: tuple[str, ...] | None = None
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    choice_count: int | None = None
    reasoning_level: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what is set, `extra` among it."""
        known = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name != "extra" and getattr(self, f.name) is not None
        }
        return {**known, **self.extra}

    def over(self, base: Parameters) -> Parameters:
        """Return `base` with everything that is set here put over it."""
        changes = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name != "extra" and getattr(self, f.name) is not None
        }
        return replace(base, **changes, extra={**base.extra, **self.extra})


ToolChoice: TypeAlias = str
"""`auto`, `required`, `none`, or the name of a tool."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model, before it has a provider's form."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    parameters: Parameters = Parameters()
    tool_choice: ToolChoice | None = None
    stream: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who answers a request, as far as traces tell it.

    `provider` is the value of `gen_ai.provider.name`; `price_provider` its id in the price table,
    `price` what wins over that table;
    `system_apart` says that system instructions travel apart from the dialogue.
    """

    provider: str
    address: str | None = None
    port: int | None = None
    price_provider: str | None = None
    price: Price | None = None
    system_apart: bool = False
