"""A grammar as data: named rules over six kinds of expression.

Pure. The compiler writes these, `emit` turns them into GBNF, `read` turns GBNF back into them,
and `match` runs them. Text is Unicode here; the matcher lowers it to UTF-8 bytes.
Source: llama.cpp, grammars/README.md, for what GBNF means.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Text:
    """Exactly this text; `Text("")` is nothing at all."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character: inside one of the ranges, or outside all of them when negated."""

    ranges: tuple[tuple[int, int], ...]
    """Inclusive code point ranges, sorted, not touching."""

    negated: bool = False
    _hash: int = field(init=False, repr=False, compare=False)
    """Kept once it was asked for: expressions are looked up by it over and over."""

    def __hash__(self) -> int:
        """Return what is equal for equal expressions."""
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash((self.ranges, self.negated)))
            return self._hash


@dataclass(frozen=True, slots=True)
class Ref:
    """Whatever the rule of that name matches."""

    name: str


@dataclass(frozen=True, slots=True)
class Seq:
    """One after the other."""

    items: tuple[Expr, ...]
    _hash: int = field(init=False, repr=False, compare=False)
    """Kept once it was asked for: expressions are looked up by it over and over."""

    def __hash__(self) -> int:
        """Return what is equal for equal expressions."""
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash(("seq", self.items)))
            return self._hash


@dataclass(frozen=True, slots=True)
class Alt:
    """Any one of them."""

    options: tuple[Expr, ...]
    _hash: int = field(init=False, repr=False, compare=False)
    """Kept once it was asked for: expressions are looked up by it over and over."""

    def __hash__(self) -> int:
        """Return what is equal for equal expressions."""
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash(("alt", self.options)))
            return self._hash


@dataclass(frozen=True, slots=True)
class Repeat:
    """The item, `least` to `most` times; `most` None is without end."""

    item: Expr
    least: int
    most: int | None


Expr: TypeAlias = Text | Chars | Ref | Seq | Alt | Repeat


@dataclass(frozen=True, slots=True)
class Rules:
    """A whole grammar; it starts at the rule called `root`."""

    by_name: Mapping[str, Expr]
