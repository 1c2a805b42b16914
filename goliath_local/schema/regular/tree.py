"""What a pattern says, as a tree.

Pure: data only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from goliath_local.schema.regular.charsets import CharSet


@dataclass(frozen=True, slots=True)
class One:
    """One character of a set."""

    chars: CharSet


@dataclass(frozen=True, slots=True)
class Row:
    """One after the other; nothing at all when empty."""

    items: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any one of them."""

    options: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """The body, `least` to `most` times."""

    body: Tree
    least: int
    most: int | None


class Place(Enum):
    """A claim about where we are; takes no character."""

    START = "^"
    END = "$"
    WORD_EDGE = "\\b"
    NO_WORD_EDGE = "\\B"


@dataclass(frozen=True, slots=True)
class Ahead:
    """A claim about what follows; takes no character."""

    body: Tree
    negative: bool


Tree: TypeAlias = One | Row | Choice | Loop | Place | Ahead


def is_plain(tree: Tree) -> bool:
    """Return whether the tree makes no claims, so that it is the same wherever it stands."""
    waiting: list[Tree] = [tree]
    while waiting:
        match waiting.pop():
            case One():
                pass
            case Row(items):
                waiting += items
            case Choice(options):
                waiting += options
            case Loop(body, _, _):
                waiting.append(body)
            case _:
                return False
    return True
