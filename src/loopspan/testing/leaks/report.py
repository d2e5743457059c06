"""What a sweep found, and what of it is a leak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopspan.telemetry.content import Content
from loopspan.testing.leaks.markers import SECRETS


@dataclass(frozen=True, slots=True)
class Finding:
    """A channel whose word has left, and by which way: `spans[chat].attributes[…]`, `log …`."""

    channel: str
    place: str


@dataclass(frozen=True, slots=True)
class LeakReport:
    """What a sweep found: each finding with the first run that showed it.

    `may_leave` is the content that was meant to leave; `runs` is how many runs were made,
    `searched` how many bytes have left by each exit (`/v1/traces`, `log`, …).
    """

    may_leave: Content
    findings: Mapping[Finding, str]
    runs: int
    searched: Mapping[str, int]

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The findings that should not be: any without full content, and secrets in any case."""
        return tuple(f for f in self.findings if self.may_leave != "full" or f.channel in SECRETS)

    def places(self, channel: str) -> frozenset[str]:
        """Return where the word of a channel was found."""
        return frozenset(f.place for f in self.findings if f.channel == channel)

    def __str__(self) -> str:
        """Say what leaked and where, a line each."""
        searched = ", ".join(f"{name} {size:,} bytes" for name, size in self.searched.items())
        lines = [f"{len(self.leaks)} leaks in {self.runs} runs (searched: {searched})"]
        lines += [f"  {f.channel} in {f.place}, first by {self.findings[f]}" for f in self.leaks]
        return "\n".join(lines)
