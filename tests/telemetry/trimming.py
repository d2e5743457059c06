"""What has to hold of a text that was made to fit a limit."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from loopspan.jsontext import load
from loopspan.telemetry import semconv
from loopspan.telemetry.trimming import Trimmed, trimmed

JSON = dict[str, Any]
LEFT_OUT = semconv.LEFT_OUT
IDENTITY = ("role", "type", "id", "name", "finish_reason", "modality", "mime_type", "file_id")


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def checked(text: str, limit: int) -> tuple[Any, Trimmed]:
    """What is left of a JSON text, and that it says what it lost, fits, and stays as it is."""
    result = trimmed(text, limit)
    assert result.text is not None
    assert size(result.text) <= limit
    again = trimmed(result.text, limit)
    assert (again.text, again.cut) == (result.text, None)
    if size(text) <= limit:
        assert result == Trimmed(text, None)
        assert result.text is text
    elif result.cut is None:
        assert load(result.text) == load(text)
    else:
        assert result.cut == (size(text), size(result.text))
    json.loads(result.text)
    return load(result.text), result


def identity(item: JSON) -> JSON:
    return {k: item[k] for k in IDENTITY if k in item}


def assert_kept(before: Sequence[JSON], after: Sequence[JSON], *, newest: bool) -> None:
    """What is left are the same items, one stretch of them replaced by a mark that counts it."""
    places = [i for i, item in enumerate(after) if LEFT_OUT in item]
    if not places:
        assert [identity(item) for item in after] == [identity(item) for item in before]
        pairs: Iterable[tuple[JSON, JSON]] = zip(before, after, strict=True)
    else:
        [place] = places
        tail = len(after) - place - 1
        assert after[place][LEFT_OUT] == len(before) - place - tail
        kept = [*before[:place], *before[len(before) - tail :]]
        rest = [*after[:place], *after[place + 1 :]]
        assert [identity(item) for item in rest] == [identity(item) for item in kept]
        if newest and rest:
            assert tail
            assert {item["role"] for item in before[:place]} <= {"system", "developer"}
        pairs = zip(kept, rest, strict=True)
    for old, new in pairs:
        if "parts" in old:
            assert_kept(old["parts"], new["parts"], newest=False)
