"""Where in a catalogue something is wrong, and what was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from reprlib import Repr
from typing import TypeAlias

Location: TypeAlias = Sequence[str | int]
"""The keys that lead to a value, the positions in lists among them."""

_BARE = re.compile(r"[\w-]+")

_short = Repr()
_short.maxdict = _short.maxlist = 3
_short.maxlong = 40


def place(path: Path, location: Location) -> str:
    """Return the place of a value: its file, `[its.table]`, its key."""
    names: list[str] = []
    for each in location:
        if isinstance(each, int) and names:
            names[-1] += f"[{each}]"
        else:
            names.append(str(each) if _BARE.fullmatch(str(each)) else _quoted(str(each)))
    *table, key = names
    return f"{path}: [{'.'.join(table)}] {key}" if table else f"{path}: {key}"


def _quoted(name: str) -> str:
    return f'"{name}"' if name.isprintable() else repr(name)


def shown(value: object) -> str:
    """Return what was found, short enough for a sentence."""
    return _short.repr(value)


def meant(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: what was meant, else what there is."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names) or 'none'}"
