"""A page that runs configurations and shows everything that happened; an ASGI application."""

from loopspan.playground.app import Playground, make_asgi_app
from loopspan.playground.auth import ProxyAuth, TokenAuth, new_token
from loopspan.playground.principals import Auth, Permission, Principal, administrator

__all__ = [
    "administrator",
    "Auth",
    "make_asgi_app",
    "new_token",
    "Permission",
    "Playground",
    "Principal",
    "ProxyAuth",
    "TokenAuth",
]
