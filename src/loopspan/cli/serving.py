"""Serving an ASGI application until somebody stops it."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable

import uvicorn
from starlette.types import ASGIApp

SHUTDOWN_SECONDS = 2
"""An open stream would hold up the end for ever: https://www.uvicorn.org/settings/#timeouts."""


class _Announced(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, announce: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            await self._announce()


def serve(app: ASGIApp, listening: socket.socket, announce: Callable[[], Awaitable[None]]) -> int:
    """Serve until a signal comes; `announce` is awaited when requests are taken."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    _Announced(config, announce).run([listening])
    return 0
