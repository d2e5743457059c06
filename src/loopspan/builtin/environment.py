"""The environment of the process, without its secrets."""

from __future__ import annotations

import os

from loopspan.builtin.masking import is_secret_name, looks_random, masked
from loopspan.secrets import MASK
from loopspan.tools import tool

_MOST_VARIABLES = 150
_LONGEST_VALUE = 300


@tool(group="builtin", requires_admin=True)
def environment_variables(prefix: str = "") -> dict[str, object]:
    """List the environment variables of this process; the values of secrets are masked.

    Args:
        prefix: List only variables whose name starts with this text, in any case.
    """
    wanted = prefix.upper()
    names = sorted(name for name in os.environ if name.upper().startswith(wanted))
    shown = {name: _shown(name, os.environ.get(name, "")) for name in names[:_MOST_VARIABLES]}
    result: dict[str, object] = {"variables": shown}
    if len(names) > len(shown):
        result["not_listed"] = len(names) - len(shown)
    return result


def _shown(name: str, value: str) -> str:
    """Return the value, cut; all of it is masked where any of it looks like a secret."""
    if value and (is_secret_name(name, value) or looks_random(value) or masked(value) != value):
        return MASK
    return value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…"
