"""Values that are converted once, however often they are sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Formed:
    """A frozen value that remembers the forms made of it (wire JSON, attribute text)."""

    __slots__ = ()
    _forms: dict[object, Any]

    def form(self, key: object, make: Callable[[Self], T]) -> T:
        """Return a form of this value, made once per key.

        A dialogue is sent again in every round; each of its messages is converted once.
        """
        forms = self._forms
        if key not in forms:
            forms[key] = make(self)
        result: T = forms[key]
        return result
