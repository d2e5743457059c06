"""Which names this server answers to, as DNS rebinding brings requests for other ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from loopspan.errors import ConfigurationError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_PORTS: Mapping[str, int] = {"http": 80, "https": 443}
_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class Authority:
    """A host with its port, `None` for the default of the scheme."""

    host: str
    port: int | None
    scheme: str | None = None

    def origin(self, scheme: str) -> tuple[str, str, int]:
        """Return scheme, host and port."""
        scheme = self.scheme or scheme
        return scheme, self.host, self.port or _PORTS.get(scheme, 0)


def authority(text: str, scheme: str | None = None) -> Authority | None:
    """Return what `host`, `host:port` or `[v6]:port` names, `None` where it is none of these."""
    found = _AUTHORITY.fullmatch(text.lower())
    if found is None:
        return None
    port = found["port"]
    return Authority(found["host"], None if port is None else int(port), scheme)


class AllowedHosts:
    """The loopback names with the server's own port, and what the operator lists.

    An entry is `host`, `host:port`, or with `https://` before it where a proxy ends TLS.
    """

    def __init__(self, entries: Iterable[str] = ()) -> None:
        """Raises `ConfigurationError` for an entry that is no host."""
        self._entries = tuple(map(_entry, entries))

    def origin(self, host: str, scope: Mapping[str, Any]) -> tuple[str, str, int] | None:
        """Return the origin that an allowed `Host` stands for, `None` for any other."""
        given = authority(host)
        if given is None:
            return None
        scheme = _scheme(scope)
        for entry in (*self._entries, *_own(scope)):
            expected = entry.origin(scheme)
            if given.origin(expected[0]) == expected:
                return expected
        return None


def parsed_origin(text: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port of an `Origin`, `None` for `null` and what is none."""
    scheme, separator, rest = text.partition("://")
    found = authority(rest) if separator and scheme in _PORTS else None
    return None if found is None else found.origin(scheme)


def _entry(text: str) -> Authority:
    scheme, separator, rest = text.rpartition("://")
    found = authority(rest, scheme or None)
    if found is None or (separator and scheme not in _PORTS):
        raise ConfigurationError(
            f"{text!r} is no host to allow; write 'name', 'name:port' or 'https://name' "
            "(no wildcard, no path)"
        )
    return found


def _own(scope: Mapping[str, Any]) -> Iterable[Authority]:
    server = scope.get("server") or ("", None)
    return (Authority(name, server[1]) for name in LOOPBACK)


def _scheme(scope: Mapping[str, Any]) -> str:
    return str(scope.get("scheme") or "http")
