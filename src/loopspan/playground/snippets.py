"""A request of a run as a program of its own; the key is a variable, never a value."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from loopspan.errors import LoopspanError
from loopspan.jsontext import dump_text
from loopspan.messages import Parameters, Request, ToolDefinition, message_from_json
from loopspan.playground.answers import Problem
from loopspan.playground.bodies import Shape
from loopspan.providers.adapter import Adapter
from loopspan.providers.connect import BUILT_IN, adapter
from loopspan.runs import ChatStep, RequestStep, Run
from loopspan.secrets import Secret
from loopspan.telemetry import semconv as names
from loopspan.telemetry.record import SpanRecord

LANGUAGES = ("curl", "httpx")
_MARK = "LOOPSPAN_KEY_GOES_HERE"
_OMITTED = ("accept", "user-agent")


@dataclass(frozen=True, slots=True)
class Call:
    """An HTTP request whose key is a variable."""

    url: str
    headers: Mapping[str, str]
    body: str
    key_variable: str | None
    rebuilt: bool


def snippet(run: Run, step: RequestStep, span: SpanRecord | None, language: str) -> Shape:
    """Return `{text, environment, omitted, rebuilt}`; raises a `Problem` where there is no way."""
    if language not in LANGUAGES:
        raise Problem(422, "invalid", f"there is no snippet in {language!r}; use curl or httpx")
    call = _call(run, step, span)
    text = _curl(call) if language == "curl" else _httpx(call)
    return {
        "text": text,
        "environment": [] if call.key_variable is None else [call.key_variable],
        "omitted": list(_OMITTED),
        "rebuilt": call.rebuilt,
    }


def _call(run: Run, step: RequestStep, span: SpanRecord | None) -> Call:
    found = _adapter(step.provider)
    if step.messages is None and not _raw(run, step):
        raise Problem(
            409,
            "not_captured",
            "the messages of this request were not captured",
            hint="run it again with content, or with raw bodies",
        )
    try:
        request = _request(step)
        url = found.url(_base_url(found, span), request)
        headers = found.headers(Secret(_MARK) if found.key_variable else None)
        raw = _raw(run, step)
        body = raw or dump_text(found.body(request))
    except (LoopspanError, LookupError, TypeError, ValueError) as error:
        raise Problem(409, "not_rebuilt", f"this request cannot be built: {error}") from None
    sent = {"content-type": "application/json", **headers}
    return Call(url, sent, body, found.key_variable, raw is None)


def _raw(run: Run, step: RequestStep) -> str | None:
    """Return the body as it was sent, where it was kept whole."""
    for each in run.steps:
        if isinstance(each, ChatStep) and each.span_id == step.span_id and each.raw is not None:
            return each.raw.request
    return None


def _request(step: RequestStep) -> Request:
    fields = Parameters.__dataclass_fields__
    # The conventions write a dot where our fields have `_`: `reasoning.level`.
    given = {k.replace(".", "_"): v for k, v in step.parameters.items()}
    told = {k: v for k, v in given.items() if k in fields}
    if isinstance(told.get("stop_sequences"), list):
        told["stop_sequences"] = tuple(told["stop_sequences"])
    extra = {k: v for k, v in given.items() if k not in fields and k != "stream"}
    tools = tuple(
        ToolDefinition(
            str(tool.get("name")),
            tool.get("description"),
            tool.get("parameters"),
            str(tool.get("type") or "function"),
        )
        for tool in step.tools or ()
    )
    return Request(
        step.model or "",
        tuple(map(message_from_json, step.messages or ())),
        tools,
        Parameters(**told, extra=extra),
        stream=bool(step.parameters.get("stream")),
    )


def _adapter(provider: str | None) -> Adapter:
    for name in BUILT_IN:
        if provider in (name, adapter(name).provider_name):
            return adapter(name)
    raise Problem(409, "unknown_provider", "no adapter knows the provider of this request")


def _base_url(found: Adapter, span: SpanRecord | None) -> str:
    """Return where the request went, as far as the span tells; the path is the adapter's own."""
    scheme, _, rest = found.base_url.partition("://")
    own, slash, path = rest.partition("/")
    address = None if span is None else span.attributes.get(names.SERVER_ADDRESS)
    port = None if span is None else span.attributes.get(names.SERVER_PORT)
    if not isinstance(address, str) or own.partition(":")[0] == address:
        return found.base_url
    local = address in ("localhost", "127.0.0.1", "::1") or port not in (None, 443)
    host = f"[{address}]" if ":" in address else address
    where = host if port in (None, 80, 443) else f"{host}:{port}"
    return f"{'http' if local else scheme}://{where}{slash}{path}"


def _curl(call: Call) -> str:
    lines = [f"curl {shlex.quote(call.url)}"]
    for name, value in call.headers.items():
        header = f"{name}: {value}"
        if call.key_variable is not None and _MARK in header:
            # Double quotes, so that the shell puts the variable's value in.
            lines.append(f'-H "{header.replace(_MARK, f"${call.key_variable}")}"')
        else:
            lines.append(f"-H {shlex.quote(header)}")
    lines.append(f"--data-binary {shlex.quote(call.body)}")
    return " \\\n  ".join(lines) + "\n"


def _httpx(call: Call) -> str:
    headers = ",\n".join(
        f"    {name!r}: {_python(value, call)}" for name, value in call.headers.items()
    )
    return (
        "import os\n\nimport httpx\n\n"
        f"headers = {{\n{headers},\n}}\n"
        f"body = {_literal(call.body)}\n"
        f"url = {call.url!r}\n"
        "response = httpx.post(url, headers=headers, content=body.encode(), timeout=120)\n"
        "print(response.status_code, response.text)\n"
    )


def _python(value: str, call: Call) -> str:
    if call.key_variable is None or _MARK not in value:
        return repr(value)
    before, _, after = value.partition(_MARK)
    key = f"os.environ[{call.key_variable!r}]"
    return " + ".join(
        part for part in (before and repr(before), key, after and repr(after)) if part
    )


def _literal(body: str) -> str:
    """Return a literal of the very same text, with a line of source per line of it."""
    return json.dumps(body, ensure_ascii=True)
