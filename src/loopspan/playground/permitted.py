"""What is taken out of the light form for those who may not see content."""

from __future__ import annotations

from typing import Any

from loopspan.playground.bodies import Shape

_TEXTS = ("preview",)


def without_content(shape: Shape) -> Shape:
    """Return a run or a step without what people, models and tools wrote.

    What is taken out is `None`, and `missing` says `not_permitted`.
    """
    result: Shape = _bare(shape)
    hidden = [name for name in ("title", "note") if _hides(shape, name)]
    for name in hidden:
        result[name] = None
    if shape.get("error") and shape["error"].get("message") is not None:
        hidden.append("error.message")
    if "parameters" in shape:
        result["parameters"] = {k: _plain(v) for k, v in shape["parameters"].items()}
    if result.get("delta"):
        told = result["delta"]["parameters"]
        result["delta"]["parameters"] = {k: [*map(_plain, v)] for k, v in told.items()}
    if hidden or "kind" in shape:
        reasons = [m for m in result.get("missing") or () if m["field"] not in hidden]
        hidden = hidden or ["preview"]
        result["missing"] = reasons + [{"field": f, "why": "not_permitted"} for f in hidden]
    return result


def _hides(shape: Shape, name: str) -> bool:
    """A run's title and note are what somebody wrote; a step's title is the name of something."""
    return "kind" not in shape and shape.get(name) is not None


def _bare(value: Any) -> Any:
    match value:
        case dict():
            return {k: None if _written(k, value) else _bare(v) for k, v in value.items()}
        case list():
            return [_bare(each) for each in value]
        case _:
            return value


def _written(key: str, owner: Shape) -> bool:
    if key == "preview":
        return True
    # The message of an error, and the detail of a reason, may quote a provider or a tool.
    return (key == "message" and "type" in owner) or (key == "detail" and "why" in owner)


def _plain(value: Any) -> Any:
    """Return a parameter that is a number or a switch; a text or a list may hold anything."""
    return value if isinstance(value, bool | int | float) else None
