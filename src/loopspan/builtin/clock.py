"""What time it is."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from loopspan.tools import tool

_LONGEST_NAME = 60


@tool(group="builtin")
def current_time(timezone: str = "UTC") -> dict[str, str]:
    """Tell the current date and time.

    Args:
        timezone: The IANA name of the time zone, such as "Europe/Oslo".
    """
    zone = _zone(timezone)
    if zone is None:
        name = timezone[:_LONGEST_NAME]
        return {"error": f"unknown time zone {name!r}; use an IANA name such as 'Europe/Oslo'"}
    now = datetime.now(zone)
    return {
        "time": now.isoformat(timespec="seconds"),
        "weekday": now.strftime("%A"),
        "timezone": timezone,
        "abbreviation": now.strftime("%Z"),
    }


def _zone(name: str) -> tzinfo | None:
    if name.upper() in ("UTC", "Z"):
        return UTC  # also where no time zone database is installed
    try:
        return ZoneInfo(name)
    # A name may also be a folder, a path outside the database, or too long for a file.
    except (KeyError, ValueError, OSError):
        return None
