"""Secrets have a type whose text is a mask."""

from __future__ import annotations

MASK = "**********"


class Secret:
    """A key or token; every text form of it is a mask, `reveal()` is the only way to its value."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the secret itself."""
        return self._value

    def masked_in(self, text: str) -> str:
        """Return the text with each occurrence of the secret replaced by the mask."""
        return text.replace(self._value, MASK) if self._value else text

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return f"Secret({MASK!r})"

    def __str__(self) -> str:
        return MASK

    def __format__(self, format_spec: str) -> str:
        return format(MASK, format_spec)

    def __reduce__(self) -> str:
        raise TypeError("a Secret is not pickled; pass it through the environment instead")
