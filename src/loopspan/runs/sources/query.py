"""What to look for in a source."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from loopspan.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which runs to list, the newest first.

    Both times have a zone. Without them a backend is asked for the hour until now, and of what is
    at hand everything is listed. `attributes` are those of the run's span, texts only. Raises
    `ConfigurationError` for what cannot be asked.
    """

    service: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    limit: int = 20

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= 1000:
            raise ConfigurationError(f"limit is {self.limit!r}; give 1 to 1000")
        for name in ("since", "until"):
            value = getattr(self, name)
            if value is not None and value.tzinfo is None:
                raise ConfigurationError(f"{name} is {value!r}, a time without a zone; add one")
        start, end = self.between()
        if start >= end:
            raise ConfigurationError(f"since is {start}, which is not before until, {end}")

    def nanoseconds(self) -> tuple[float, float]:
        """Return the two times in Unix nanoseconds, without an end where none is asked for."""
        return (
            0 if self.since is None else self.since.timestamp() * 1e9,
            math.inf if self.until is None else self.until.timestamp() * 1e9,
        )

    def between(self) -> tuple[datetime, datetime]:
        """Return the two times that a backend is asked for, in UTC."""
        until = datetime.now(UTC) if self.until is None else self.until.astimezone(UTC)
        since = until - timedelta(hours=1) if self.since is None else self.since.astimezone(UTC)
        return since, until
