"""Streams of Gemini, assembled: https://ai.google.dev/api/generate-content

Each event is shaped like a whole answer and brings the parts that are new; its usage is the total
so far.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from loopspan.messages import Reasoning, Text
from loopspan.providers.adapter import Delta, StreamState
from loopspan.providers.gemini_parts import Wire, spelled

# What is streamed of a JSON Path: https://www.rfc-editor.org/rfc/rfc9535#name-normalized-paths
_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]]+)
    | \[(?P<index>\d+)\]
    | \[(?P<quote>['"])(?P<quoted>(?:\\.|(?!(?P=quote)).)*)(?P=quote)\]""",
    re.VERBOSE | re.DOTALL,
)
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


def take(state: StreamState, data: Mapping[str, Any]) -> Iterator[Delta]:
    """Put one event into the body, yielding what it brings of the first candidate."""
    body = state.body
    for name, value in spelled(data).items():
        if name == "candidates":
            for candidate in value:
                yield from _take_candidate(state, spelled(candidate))
        elif name == "usageMetadata":
            body[name] = {**body.get(name, {}), **spelled(value)}
        else:
            body[name] = value


def is_complete(body: Mapping[str, Any]) -> bool:
    """Whether the body tells its end: each candidate says why it stopped, or the prompt is blocked.

    After that more may come, text too; only the end of the connection ends a stream.
    """
    candidates = body.get("candidates")
    if candidates:
        return all(candidate.get("finishReason") for candidate in candidates)
    feedback = body.get("promptFeedback")
    return isinstance(feedback, Mapping) and bool(feedback.get("blockReason"))


def _take_candidate(state: StreamState, candidate: Wire) -> Iterator[Delta]:
    index = candidate.get("index", 0)
    known: dict[int, Wire] = state.scratch.setdefault("candidates", {})
    if index not in known:
        known[index] = {"content": {"parts": []}}
        state.body["candidates"] = [known[i] for i in sorted(known)]
    whole = known[index]
    content = spelled(candidate.pop("content", {}))
    parts: list[Wire] = whole["content"]["parts"]
    for part in content.pop("parts", ()):
        delta = _add(parts, spelled(part))
        if delta and index == 0:
            yield delta
    whole["content"] |= content
    whole |= candidate


def _add(parts: list[Wire], part: Wire) -> Delta | None:
    """Add a part that has arrived.

    Text goes on in one part, but never in one with a signature:
    https://ai.google.dev/gemini-api/docs/thought-signatures
    """
    call = part.get("functionCall")
    last = parts[-1] if parts else {}
    if isinstance(call, Mapping):
        if not call.get("name") and "functionCall" in last:
            _extend(last, part)
        elif call or len(part) > 1:
            parts.append({"functionCall": {}})
            _extend(parts[-1], part)
        return None
    if _is_plain(part) and _is_plain(last) and part.get("thought") == last.get("thought"):
        last["text"] += part["text"]
    else:
        parts.append(part)
    text = part.get("text")
    if not isinstance(text, str) or not text:
        return None
    return Reasoning(text) if part.get("thought") else Text(text)


def _is_plain(part: Wire) -> bool:
    return isinstance(part.get("text"), str) and part.keys() <= {"text", "thought"}


def _extend(whole: Wire, part: Wire) -> None:
    """Add to a call what has arrived of it: all of it, or some of its arguments.

    https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling
    """
    call: Wire = whole["functionCall"]
    more = spelled(part.pop("functionCall"))
    more.pop("willContinue", None)
    pieces = more.pop("partialArgs", None)
    if "args" in more and "args" in call:
        more["args"] = {**call["args"], **more["args"]}
    call |= more
    whole |= part
    for piece in pieces or ():
        _put(call.setdefault("args", {}), piece)


def _put(arguments: Any, piece: Mapping[str, Any]) -> None:
    """Put a piece of an argument to its place; text goes on where it is there already."""
    field = next((name for name in _VALUES if name in piece), None)
    if field is None:
        return
    value = None if field == "nullValue" else piece[field]
    steps = list(_steps(piece["jsonPath"]))
    *way, last = steps
    target = arguments
    for step, after in zip(way, steps[1:], strict=True):
        target = _at(target, step, [] if isinstance(after, int) else {})
    before = _at(target, last, None)
    joined = isinstance(before, str) and isinstance(value, str)
    target[last] = before + value if joined else value


def _at(target: Any, step: str | int, missing: Any) -> Any:
    if isinstance(target, list) and step == len(target):
        target.append(missing)
    elif isinstance(target, dict) and isinstance(step, str):
        target.setdefault(step, missing)
    return target[step]


def _steps(path: str) -> Iterator[str | int]:
    at = 1
    while step := _STEP.match(path, at):
        at = step.end()
        if step["index"] is not None:
            yield int(step["index"])
        elif step["name"] is not None:
            yield step["name"]
        else:
            yield re.sub(r"\\(.)", r"\1", step["quoted"], flags=re.DOTALL)
    if not path.startswith("$") or at < len(path):
        raise ValueError(f"{path!r} is no path that the API documents")
