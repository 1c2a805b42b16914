"""The blanks between the tokens of a text.

Pure. A fixed style gives one text for each value; the free one takes a bounded blank wherever JSON
does, save before the text and after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from goliath_local.grammar.rules import Alt, Chars, Expr, Repeat, Seq, Text

if TYPE_CHECKING:
    from goliath_local.grammar.book import Book

Spacing: TypeAlias = Literal["compact", "pretty", "free"]

_LONGEST_INDENT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What stands between two tokens; `after` comes behind each value."""

    object_open: Expr
    array_open: Expr
    comma: Expr
    colon: Expr
    after: Expr


def style_of(spacing: Spacing, book: Book) -> Style:
    """Return the tokens of a spacing."""
    if spacing == "free":
        indent = Repeat(Chars(((0x09, 0x09), (0x20, 0x20))), 0, _LONGEST_INDENT)
        line = Seq((Text("\n"), indent))
        blank = book.share("ws", Alt((Text(" "), line, Text(""))))
        return Style(
            object_open=Seq((Text("{"), blank)),
            array_open=Seq((Text("["), blank)),
            comma=Seq((Text(","), blank)),
            colon=Seq((blank, Text(":"), blank)),
            after=blank,
        )
    gap = " " if spacing == "pretty" else ""
    return Style(
        object_open=Text("{"),
        array_open=Text("["),
        comma=Text(f",{gap}"),
        colon=Text(f":{gap}"),
        after=Text(""),
    )
