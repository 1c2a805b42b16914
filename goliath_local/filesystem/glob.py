"""Path patterns: `*`, `?`, `**/` and `**`, matched in time bounded by pattern times path.

Pure. A pattern becomes a row of pieces, and matching keeps the set of places in the row that
the path read so far can have reached, as the bits of one integer: no path is tried twice, so
nothing can blow up. Source: behaviour spec, section 8.4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from goliath_local.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_PATTERN_CHARS = 512

_PIECE = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]", re.DOTALL)
_SPECIAL = re.compile(r"[*?]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Glob:
    """A pattern, ready to match. Bit i of a mask is about piece i."""

    base: str
    """The deepest folder (or the file) that every match lies in."""

    literals: Mapping[str, int]
    """For each character, the pieces that are that character."""

    single: int
    """Pieces `?`."""

    run: int
    """Pieces `*`: stay, but not over a slash."""

    anything: int
    """Pieces `**`, and inside a `**/`: stay on every character."""

    skip: int
    """Pieces that may match nothing."""

    folders: int
    """Pieces that stand before a `**/`: may go into it or past it."""

    inside: int
    """Pieces inside a `**/`: a slash leaves them."""

    accept: int


@lru_cache(maxsize=64)
def read_glob(pattern: str) -> Glob:
    """Return the pattern, ready to match.

    Raises:
        FileError: it is not an absolute pattern of at most 512 characters, or has `.` or `..`
            segments, backslashes or control characters.
    """
    if problem := _problem(pattern):
        raise FileError(pattern.encode("unicode_escape").decode("ascii"), problem)
    masks = dict.fromkeys(("single", "run", "anything", "skip", "folders", "inside"), 0)
    literals: dict[str, int] = {}
    at = 0
    for piece in _pieces(pattern):
        bit = 1 << at
        if piece == "**/":
            masks["folders"] |= bit
            masks["inside"] |= bit << 1
            masks["anything"] |= bit << 1
            at += 1
        elif piece in {"*", "**"}:
            masks["skip"] |= bit
            masks["run" if piece == "*" else "anything"] |= bit
        elif piece == "?":
            masks["single"] |= bit
        else:
            literals[piece] = literals.get(piece, 0) | bit
        at += 1
    return Glob(base=_base(pattern), literals=literals, accept=1 << at, **masks)


def matches(glob: Glob, path: str) -> bool:
    """Return whether the whole path is matched."""
    places = _enter(glob, 1)
    for char in path:
        ahead = places & glob.literals.get(char, 0)
        stay = places & glob.anything
        if char == "/":
            ahead |= places & glob.inside
        else:
            ahead |= places & glob.single
            stay |= places & glob.run
        places = _enter(glob, ahead << 1 | stay)
        if not places:
            return False
    return bool(places & glob.accept)


def _enter(glob: Glob, places: int) -> int:
    """Return the places, and those reached from them without reading anything."""
    while True:
        folders = places & glob.folders
        reached = places | (places & glob.skip) << 1 | folders << 1 | folders << 2
        if reached == places:
            return places
        places = reached


def _pieces(pattern: str) -> list[str]:
    pieces: list[str] = []
    for piece in _PIECE.findall(pattern):
        # Two runs in a row are one: ** takes in * and **/, and repeated ones say nothing new.
        if pieces and piece in {"*", "**", "**/"}:
            if pieces[-1] == piece or (pieces[-1] == "**" and piece != "**"):
                continue
            if piece == "**" and pieces[-1] in {"*", "**/"}:
                pieces[-1] = "**"
                continue
        pieces.append(piece)
    return pieces


def _base(pattern: str) -> str:
    special = _SPECIAL.search(pattern)
    if special is None:
        return pattern
    return pattern[: pattern.rindex("/", 0, special.start())] or "/"


def _problem(pattern: str) -> str | None:
    if not pattern.startswith("/"):
        return "a pattern starts with /, for example /**/*.md for all Markdown files."
    if len(pattern) > MAX_PATTERN_CHARS:
        return f"the pattern is {len(pattern):,} characters, at most {MAX_PATTERN_CHARS} go."
    if "\\" in pattern or re.search(r"[\x00-\x1f\x7f]", pattern):
        return "a pattern has no backslash or control character."
    if any(segment in {".", ".."} for segment in pattern.split("/")):
        return "a pattern has no . or .. in it. Write it out from /."
    return None
