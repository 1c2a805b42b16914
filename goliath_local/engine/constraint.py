"""What may come next in a reply: the port between decoding and a grammar, and free text.

Pure. A constraint is an immutable place in a text; `advance` gives the place after some bytes.
"""

from __future__ import annotations

from typing import Final, Protocol

_ANY_BYTE: Final = frozenset(range(256))


class Constraint(Protocol):
    """A place in a reply, and what may follow it. Equal places may be different objects."""

    def __hash__(self) -> int: ...

    @property
    def is_complete(self) -> bool:
        """The reply may end here."""
        ...

    @property
    def distance(self) -> int:
        """Bytes of the shortest ending."""
        ...

    def advance(self, data: bytes, /) -> Constraint | None:
        """Return the place after the bytes, None when they may not follow."""
        ...

    def forced(self) -> bytes:
        """Return the bytes that must follow, as many as are certain."""
        ...

    def shortest_ending(self) -> bytes:
        """Return the fewest bytes that make the reply complete."""
        ...

    def allowed_first_bytes(self) -> frozenset[int]:
        """Return the bytes that may come next."""
        ...


class FreeText:
    """Any text in UTF-8; it may end between characters."""

    __slots__ = ("_open",)

    def __init__(self, begun: bytes = b"") -> None:
        self._open = begun

    @property
    def is_complete(self) -> bool:
        """True between characters."""
        return not self._open

    @property
    def distance(self) -> int:
        """Nothing has to follow; a begun character is dropped."""
        return 0

    def advance(self, data: bytes, /) -> FreeText | None:
        """Return the place after the bytes, None when they are not UTF-8."""
        if not self._open and data.isascii():
            return self
        data = self._open + data
        try:
            data.decode()
        except UnicodeDecodeError as error:
            # Python says so of a character that is sound as far as it goes.
            if error.reason == "unexpected end of data":
                return FreeText(data[error.start :])
            return None
        return FreeText()

    def forced(self) -> bytes:
        """Nothing is."""
        return b""

    def shortest_ending(self) -> bytes:
        """Nothing more."""
        return b""

    def allowed_first_bytes(self) -> frozenset[int]:
        """Return the bytes that may come next, roughly: all of them."""
        return _ANY_BYTE


def is_final(constraint: Constraint) -> bool:
    """Return whether the reply may end here and nothing can follow."""
    return constraint.is_complete and not constraint.allowed_first_bytes()
