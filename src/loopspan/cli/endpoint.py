"""Where an address is, and whether anything listens there."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

_PATIENCE = 3.0
"""The seconds that a connection may take."""


def without_login(url: str) -> str:
    """Return the address without a user and password, and without what follows its path."""
    scheme, slashes, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{slashes}{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"


def unreachable(url: str) -> str | None:
    """Return why no connection can be made to this address, `None` where one can."""
    parts = urlsplit(url if "://" in url else f"//{url}")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if not parts.hostname:
            return "it names no host"
        with socket.create_connection((parts.hostname, port), _PATIENCE):
            return None
    except ValueError as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
