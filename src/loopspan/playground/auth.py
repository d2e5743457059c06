"""Ready-made ways to say who a request comes from."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Collection
from ipaddress import ip_address

from starlette.requests import HTTPConnection

from loopspan.errors import ConfigurationError
from loopspan.playground.principals import Permission, Principal
from loopspan.secrets import Secret

SESSION_SECONDS = 12 * 3600
MIN_TOKEN = 32
"""A token is made by a machine, 256 bits or more; in characters."""


def new_token() -> str:
    """Return a random token of 256 bits."""
    return secrets.token_urlsafe(32)


def same(given: str, expected: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(
        given.encode("utf-8", "surrogatepass"), expected.encode("utf-8", "surrogatepass")
    )


def bearer_of(connection: HTTPConnection) -> str | None:
    """Return the bearer token of a request."""
    kind, _, token = connection.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


class TokenAuth:
    """One token: as `Authorization: Bearer` from programs, exchanged for a cookie in the browser.

    The cookie is signed with the token, so that every worker process takes it.
    """

    def __init__(self, token: str | Secret, principal: Principal) -> None:
        """Raises `ConfigurationError` for a token that could be guessed."""
        self._token = token if isinstance(token, Secret) else Secret(token)
        if len(self._token.reveal()) < MIN_TOKEN:
            raise ConfigurationError(
                f"the token of the playground has fewer than {MIN_TOKEN} characters; "
                "make one with `python -c 'import secrets; print(secrets.token_urlsafe(32))'`"
            )
        self._principal = principal
        self._codes: set[str] = set()
        self._ended: dict[str, float] = {}

    def __call__(self, connection: HTTPConnection) -> Principal | None:
        token = bearer_of(connection)
        if token is not None:
            return self._principal if same(token, self._token.reveal()) else None
        return self._principal if self.session(connection) is not None else None

    def one_time_code(self) -> str:
        """Return a code that can be exchanged for a session once."""
        code = new_token()
        self._codes.add(code)
        return code

    def exchange(self, code: str) -> str | None:
        """Return the value of a session cookie for a code or the token, else `None`."""
        known = [each for each in self._codes if same(code, each)]
        self._codes.difference_update(known)
        if not known and not same(code, self._token.reveal()):
            return None
        told = f"{int(time.time()) + SESSION_SECONDS}.{secrets.token_urlsafe(16)}"
        return f"{told}.{self._signature(told)}"

    def session(self, connection: HTTPConnection) -> str | None:
        """Return the session of a request, while it lasts."""
        value = connection.cookies.get(cookie_name(connection), "")
        told, _, signature = value.rpartition(".")
        until = told.partition(".")[0]
        if not same(signature, self._signature(told)) or told in self._ended:
            return None
        return told if int(until) > time.time() else None

    def end(self, session: str) -> None:
        """Let a session end before its time."""
        now = time.time()
        self._ended = {each: until for each, until in self._ended.items() if until > now}
        self._ended[session] = float(session.partition(".")[0])

    def _signature(self, text: str) -> str:
        key = self._token.reveal().encode("utf-8", "surrogatepass")
        return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def cookie_name(connection: HTTPConnection) -> str:
    """Return the name of the session cookie; cookies ignore ports, so the name has the port."""
    _, _, port = connection.headers.get("host", "").rpartition("]")[2].partition(":")
    return f"loopspan_{port or 'default'}"


class ProxyAuth:
    """A trusted proxy says who it is: from a listed address *and* with a shared secret.

    The proxy must take both headers out of what it is sent.
    """

    def __init__(
        self,
        secret: str | Secret,
        addresses: Collection[str],
        *,
        permissions: Collection[Permission] = frozenset[Permission]({"view"}),
        admins: Collection[str] = (),
        user_header: str = "x-forwarded-user",
        secret_header: str = "x-playground-proxy",  # noqa: S107  # the name of a header
    ) -> None:
        """Raises `ConfigurationError` for a secret that could be guessed or no address."""
        self._secret = secret if isinstance(secret, Secret) else Secret(secret)
        if len(self._secret.reveal()) < MIN_TOKEN:
            raise ConfigurationError(f"the proxy's secret has fewer than {MIN_TOKEN} characters")
        try:
            self._addresses = frozenset(map(ip_address, addresses))
        except ValueError as error:
            raise ConfigurationError(f"addresses of the proxy: {error}") from None
        if not self._addresses:
            raise ConfigurationError("no address of the proxy is given; list those it comes from")
        self._permissions = frozenset(permissions)
        self._admins = frozenset(admins)
        self._user_header, self._secret_header = user_header, secret_header

    def __call__(self, connection: HTTPConnection) -> Principal | None:
        users = connection.headers.getlist(self._user_header)
        given = connection.headers.get(self._secret_header, "")
        if not same(given, self._secret.reveal()) or not self._listed(connection):
            return None
        if len(users) != 1 or not users[0]:
            return None
        return Principal(users[0], self._permissions, is_admin=users[0] in self._admins)

    def _listed(self, connection: HTTPConnection) -> bool:
        try:
            return connection.client is not None and (
                ip_address(connection.client.host) in self._addresses
            )
        except ValueError:
            return False
