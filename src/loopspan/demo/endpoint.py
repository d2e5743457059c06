"""The endpoint of this process: started when it is first asked for, stopped at exit."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import secrets
import socket
import sys
import threading
from collections import OrderedDict
from http.server import ThreadingHTTPServer
from typing import Any

from loopspan.demo.handler import Handler
from loopspan.secrets import Secret

logger = logging.getLogger("loopspan.demo")

_MOST_REMEMBERED = 1_000
"""So many requests that were failed once are remembered."""
_PATIENCE = 1.0
"""Seconds that stopping waits for a thread."""


class Server(ThreadingHTTPServer):
    """The HTTP server; it knows its open connections, so that it can end them."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, token: Secret) -> None:
        """Listen on loopback, on a port that is free."""
        super().__init__(("127.0.0.1", 0), Handler)
        self.token = token
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._open: set[socket.socket] = set()
        self._failed: OrderedDict[bytes, None] = OrderedDict()

    def is_first(self, request: bytes) -> bool:
        """Return whether this request comes for the first, third, fifth… time."""
        with self._changed:
            if request in self._failed:
                del self._failed[request]
                return False
            self._failed[request] = None
            if len(self._failed) > _MOST_REMEMBERED:
                self._failed.popitem(last=False)
            return True

    def wait(self, seconds: float) -> None:
        """Wait before a piece of an answer; raises `OSError` where the server is stopped."""
        if seconds and self._stopping.wait(seconds):
            raise ConnectionAbortedError("the endpoint is stopped")

    def serve(self) -> None:
        """Accept connections until the server is stopped."""
        while not self._stopping.is_set():
            self.handle_request()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        return not self._stopping.is_set()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._changed:
            self._open.discard(request)
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report what went wrong in a handler; a client that went away is nothing wrong."""
        error = sys.exception()
        if not isinstance(error, OSError):
            logger.error("the demo model failed", exc_info=error)

    def stop_serving(self) -> None:
        """Let `serve` return: it wakes up at a connection."""
        self._stopping.set()
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self.server_port), 1.0),
        ):
            pass

    def hang_up(self) -> None:
        """Close the door, end all connections, and wait until their threads have noticed."""
        self.server_close()
        with self._changed:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self._changed.wait_for(lambda: not self._open, _PATIENCE)

    def forget(self) -> None:
        """Close what a fork has inherited; the connections stay those of the parent."""
        self.socket.close()
        for connection in tuple(self._open):
            connection.close()


class Endpoint:
    """A running server: its address and the token that it asks for."""

    def __init__(self) -> None:
        """Start it."""
        self.token = Secret(secrets.token_urlsafe(32))
        self._server = Server(self.token)
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(
            target=self._server.serve, name="loopspan-demo", daemon=True
        )
        self._thread.start()
        atexit.register(self.stop)

    def stop(self) -> None:
        """Stop it and wait until its threads are done."""
        atexit.unregister(self.stop)
        self._server.stop_serving()
        self._thread.join(_PATIENCE)
        self._server.hang_up()

    def forget(self) -> None:
        """Let go of the parent's endpoint in a child of a fork, where its threads are not."""
        atexit.unregister(self.stop)
        self._server.forget()


class _OfProcess:
    """The one endpoint of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._endpoint: Endpoint | None = None
        self._addresses: set[str] = set()

    def get(self) -> Endpoint:
        with self._lock:
            if self._endpoint is None:
                self._endpoint = Endpoint()
                self._addresses.add(self._endpoint.base_url)
            return self._endpoint

    def gave(self, base_url: str) -> bool:
        return base_url in self._addresses

    def stop(self) -> None:
        with self._lock:
            endpoint, self._endpoint = self._endpoint, None
        if endpoint is not None:
            endpoint.stop()

    def after_fork(self) -> None:
        self._lock = threading.Lock()  # another thread of the parent may have held it
        endpoint, self._endpoint = self._endpoint, None
        if endpoint is not None:
            endpoint.forget()


_process = _OfProcess()
# Only this reaches a fork that happens while another thread is starting the endpoint.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process.after_fork)


def endpoint() -> Endpoint:
    """Return the endpoint of this process, started where it does not run."""
    return _process.get()


def was_endpoint(base_url: str) -> bool:
    """Return whether this process or one that it was forked from had its endpoint here."""
    return _process.gave(base_url)


def stop() -> None:
    """Stop the endpoint of this process, if it runs; the next request starts another."""
    _process.stop()
