"""HTML that is safe by the way it is made: whatever is not markup of ours is escaped.

Pure. A plain text becomes visible first (a control character is shown, not sent) and escaped
second; only `Html` passes as it is, and only this file makes one.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.cli.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_VOID = {"meta", "br"}


@dataclass(frozen=True, slots=True)
class Html:
    """Markup that may stand in a page as it is."""

    text: str


Child: TypeAlias = "str | Html | None"
Content: TypeAlias = "Child | Iterable[Content]"
"""What may stand inside an element; None is nothing."""


def element(tag: str, *children: Content, **attributes: str | None) -> Html:
    """Return `<tag …>children</tag>`.

    Args:
        tag: the element's name.
        children: texts, which are escaped, or markup; None is nothing.
        attributes: values are escaped; None leaves one out. A trailing `_` is dropped and an
            inner `_` becomes `-`: `class_`, `aria_label`.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html.escape(visible(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{joined(children).text}</{tag}>")


def joined(children: Iterable[Content]) -> Html:
    """Return the children one after the other."""
    return Html("".join(_written(child) for child in children))


def raw(tag: str, text: str) -> Html:
    """Return a `style` or `script` element around our own text, which cannot end it early."""
    if "</" in text:
        message = f"a {tag} of ours may not hold an end tag"
        raise ValueError(message)
    return Html(f"<{tag}>{text}</{tag}>")


def table(caption: str, heads: Iterable[str], rows: Iterable[Sequence[Child]]) -> Html:
    """Return a table in a frame of its own, which scrolls sideways where it is narrow."""
    head = element("tr", [element("th", one, scope="col") for one in heads])
    body = [
        element("tr", [_cell(number, child) for number, child in enumerate(row)]) for row in rows
    ]
    whole = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", body),
    )
    # A frame that scrolls has to be reachable by the keyboard.
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _cell(number: int, child: Child) -> Html:
    return element("th", child, scope="row") if number == 0 else element("td", child)


def _written(child: Content) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child.text
    if isinstance(child, str):
        return html.escape(visible(child))
    return joined(child).text
