"""Older attribute names, for backends and dashboards that do not know the current ones yet.

`gen_ai.system` stands beside `gen_ai.provider.name`, which replaced it in v1.37.
`gen_ai.usage.cache_creation.input_tokens` stands in place of `cache_write`, which replaced it in
August 2026: Langfuse counts the tokens twice where it meets the name that it does not know.
"""

from __future__ import annotations

from typing import Any

from loopspan.telemetry import semconv as names


def with_older_names(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span under the names that older readers know."""
    result = dict(attributes)
    if names.PROVIDER_NAME in result:
        result[names.SYSTEM] = result[names.PROVIDER_NAME]
    if names.USAGE_CACHE_WRITE in result:
        result[names.USAGE_CACHE_CREATION] = result.pop(names.USAGE_CACHE_WRITE)
    return result
