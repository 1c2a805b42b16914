"""A request laid out as canonical parts, each with the ids that will be evaluated.

Pure; the tokenizer is handed in. A part is a text of ours and the template's pieces behind it
(those before the first text join the first part). Parts, joined where they are short, are the unit
of reuse: each is evaluated as batches of its own, so what the model knows after a part depends on
the parts up to it alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from goliath_local.engine.template import SYSTEM_SLOT, Shape, Skeleton, Slot, ask_slot
from goliath_local.model import Part, PromptPiece, PromptTokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.model import Request

TEMPLATE = "template"
EXAMPLE = "examples"

SHORT_TOKENS: Final = 16
"""A shorter part is evaluated together with the next: so few tokens cost twice as much each."""


class Encoder(Protocol):
    """What turns text into ids."""

    def encode(self, text: str, *, control: bool) -> tuple[int, ...]:
        """Return the ids; control tokens are read only when asked for."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """Ids that are evaluated together, and whose they are."""

    name: str
    ids: tuple[int, ...]
    template_tokens: int
    """How many of the ids are the template's."""

    is_head: bool
    """Belongs to the static head: system text and example turns."""


def shape_of(request: Request) -> Shape:
    """Return what of the request the template can see."""
    return Shape(
        has_system=any(part.text for part in request.system), examples=len(request.examples)
    )


def lay_out(
    request: Request, skeleton: Skeleton, encoder: Encoder, *, start_id: int | None = None
) -> tuple[PromptPart, ...]:
    """Return the request as parts, at least one, none without ids.

    Args:
        request: what is asked.
        skeleton: the template's pieces and slots for a request of this shape.
        encoder: text → ids.
        start_id: the model's start token, put in front unless the template wrote it.
    """
    drafts = _drafts(request, skeleton)
    parts = [_encode(draft, encoder) for draft in drafts]
    parts = [part for part in parts if part.ids]
    if start_id is not None and parts and parts[0].ids[0] != start_id:
        first = parts[0]
        parts[0] = PromptPart(
            name=first.name,
            ids=(start_id, *first.ids),
            template_tokens=first.template_tokens + 1,
            is_head=first.is_head,
        )
    return tuple(parts)


def joined(parts: Sequence[PromptPart]) -> tuple[PromptPart, ...]:
    """Return the parts as they are evaluated: all examples together, a short part with the next.

    What is joined depends on the parts alone, never on what was evaluated before.
    """
    found: list[PromptPart] = []
    for part in parts:
        if found and _belong_together(found[-1], part):
            found[-1] = _with_next(found[-1], part)
        else:
            found.append(part)
    return tuple(found)


def bill(parts: Sequence[PromptPart]) -> PromptTokens:
    """Return what the prompt costs, by part name; the template's share by itself."""
    by_part: Counter[str] = Counter()
    for part in parts:
        by_part[part.name] += len(part.ids) - part.template_tokens
        by_part[TEMPLATE] += part.template_tokens
    total = sum(len(part.ids) for part in parts)
    return PromptTokens(total=total, by_part=dict(by_part))


def pieces(
    request: Request, skeleton: Skeleton, encoder: Encoder, *, start_text: str = ""
) -> tuple[PromptPiece, ...]:
    """Return the request as the texts that are evaluated, in order, none of them empty.

    Args:
        request: what is asked.
        skeleton: the template's pieces and slots for a request of this shape.
        encoder: text → ids.
        start_text: spelling of the start token, put in front unless the template wrote it.
    """
    texts = [
        (TEMPLATE if is_template else draft.name, text, is_template)
        for draft in _drafts(request, skeleton)
        for text, is_template in draft.pieces
        if text
    ]
    if start_text and not (texts and texts[0][2] and texts[0][1].startswith(start_text)):
        texts.insert(0, (TEMPLATE, start_text, True))
    return tuple(
        PromptPiece(
            name=name,
            text=text,
            is_template=is_template,
            tokens=len(encoder.encode(text, control=is_template)),
        )
        for name, text, is_template in texts
    )


@dataclass(slots=True, kw_only=True)
class _Draft:
    name: str
    is_head: bool
    pieces: list[tuple[str, bool]] = field(default_factory=list)
    """Texts in order, and whether each is the template's own."""


def _drafts(request: Request, skeleton: Skeleton) -> list[_Draft]:
    shape = shape_of(request)
    drafts: list[_Draft] = []
    leading: list[tuple[str, bool]] = []
    for piece in skeleton:
        if isinstance(piece, str):
            (drafts[-1].pieces if drafts else leading).append((piece, True))
            continue
        for part in _texts_in(piece, request, shape):
            if not (_is_reply(piece, shape) and drafts):
                drafts.append(_Draft(name=part.name, is_head=piece.number != ask_slot(shape)))
                drafts[-1].pieces += leading
                leading = []
            drafts[-1].pieces.append((part.text, False))
    if leading:
        drafts.append(_Draft(name=TEMPLATE, is_head=False, pieces=leading))
    return drafts


def _texts_in(slot: Slot, request: Request, shape: Shape) -> tuple[Part, ...]:
    if slot.number == SYSTEM_SLOT:
        return tuple(part for part in request.system if part.text)
    if slot.number == ask_slot(shape):
        return tuple(part for part in request.user if part.text)
    example = request.examples[(slot.number - 1) // 2]
    return (
        Part(name=EXAMPLE, text=example.assistant if _is_reply(slot, shape) else example.user),
    )


def _belong_together(part: PromptPart, following: PromptPart) -> bool:
    if part.is_head and following.is_head:
        return part.name == following.name == EXAMPLE
    return not part.is_head and len(part.ids) < SHORT_TOKENS


def _with_next(part: PromptPart, following: PromptPart) -> PromptPart:
    is_same = part.name == following.name
    return PromptPart(
        name=part.name if is_same else f"{part.name} and {following.name}",
        ids=(*part.ids, *following.ids),
        template_tokens=part.template_tokens + following.template_tokens,
        is_head=part.is_head,
    )


def _is_reply(slot: Slot, shape: Shape) -> bool:
    return slot.number not in (SYSTEM_SLOT, ask_slot(shape)) and slot.number % 2 == 0


def _encode(draft: _Draft, encoder: Encoder) -> PromptPart:
    ids: list[int] = []
    template_tokens = 0
    for text, is_template in draft.pieces:
        encoded = encoder.encode(text, control=is_template)
        template_tokens += len(encoded) if is_template else 0
        ids += encoded
    return PromptPart(
        name=draft.name, ids=tuple(ids), template_tokens=template_tokens, is_head=draft.is_head
    )
