"""Everything that a run needs to know before its first round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loopspan.configuration import Budget, Configuration, ToolOptions
from loopspan.errors import ConfigurationError
from loopspan.jsontext import dump_text
from loopspan.loop.exchange import RetryPolicy
from loopspan.loop.tool_calls import Offer
from loopspan.messages import Endpoint, Parameters, ToolDefinition, Window
from loopspan.prompts import Assembled
from loopspan.providers.model import Model
from loopspan.telemetry import semconv as names
from loopspan.telemetry.cost import table_window
from loopspan.telemetry.operations import RunFacts
from loopspan.telemetry.unrecorded import Unrecorded

METADATA_LIMIT = 20
"""The most keys of metadata; each becomes an attribute of every span of the run."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a run needs to know before its first round."""

    model: Model
    configuration: Configuration
    options: ToolOptions
    assembled: Assembled
    offer: Offer
    offered: tuple[ToolDefinition, ...]
    parameters: Parameters
    retry: RetryPolicy
    stream: bool
    dry_run: bool
    endpoint: Endpoint
    http_spans: bool = True

    @property
    def max_rounds(self) -> int:
        """The bound of the loop, the caller's before the configuration's."""
        return self.options.max_rounds or self.configuration.max_rounds

    @property
    def window(self) -> Window | None:
        """The model's context window, where the configuration or the price table knows it."""
        own = self.configuration.context_window
        if own is not None:
            return Window(own, "configuration")
        found = table_window(self.model.adapter.price_provider, self.model.name)
        return None if found is None else Window(found, "table")

    @property
    def budget(self) -> Budget:
        """What the run may use up, the caller's before the configuration's."""
        return self.options.budget or self.configuration.budget

    def unrecorded(self) -> Unrecorded:
        """Return what stays out of all records: by its tool, the configuration or the caller."""
        tools, options = self.offer.tools, self.options
        named = {*self.configuration.unrecorded_tools, *options.unrecorded_tools}
        hidden = named | {tool.name for tool in tools if not tool.record}
        if hidden and options.capture_raw:
            raise ConfigurationError(
                f"capture_raw keeps whole bodies, but the tools {sorted(hidden)} must not be "
                f"recorded; leave out capture_raw, or make the run with a loop without these tools"
            )
        return Unrecorded(hidden, {tool.name for tool in tools})

    def shared_attributes(self, run_id: str) -> dict[str, Any]:
        """Return the attributes of every span of the run."""
        options = self.options
        if len(options.metadata) > METADATA_LIMIT:
            raise ConfigurationError(
                f"metadata has {len(options.metadata)} keys; every span of the run carries them, "
                f"so at most {METADATA_LIMIT} are taken"
            )
        optional = {
            names.CONVERSATION_ID: options.conversation_id,
            names.SESSION_ID: options.session_id,
            names.USER_ID: options.user_id,
        }
        return {
            names.RUN_ID: run_id,
            **{k: v for k, v in optional.items() if v is not None},
            **{names.METADATA_PREFIX + k: v for k, v in options.metadata.items()},
        }

    def facts(self, run_id: str) -> RunFacts:
        """Return what the run's span says at its start."""
        parts = [part.to_json() for part in self.assembled.parts]
        return RunFacts(
            run_id=run_id,
            configuration=self.configuration.name,
            description=self.configuration.description,
            model=self.model.name,
            max_rounds=self.max_rounds,
            prompt_parts=dump_text(parts),
        )
