"""Which model is meant by `default`, and why, as a sentence.

Pure: facts in, a card and a reason out. The order: the model that was chosen before; else the best
installed one; else the default card where its sources answer and memory suffices; else the largest
card whose sources answer and that fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.errors import FetchError, MachineError, NoModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set
    from pathlib import Path

    from goliath_local.catalogue.card import Card

_GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The model that `default` means here."""

    card: Card
    reason: str
    """Why, as a sentence for the user."""

    installed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Whether a card's sources answer, as somebody found out."""

    source: str | None
    """The first source that answers, in words; None when none does."""

    reasons: tuple[str, ...] = ()
    """Why the sources before it do not."""


def choose_installed(
    cards: Sequence[Card], *, installed: Set[str], chosen: str | None
) -> Choice | None:
    """Return the installed model that `default` means, None when a model has to be fetched.

    Args:
        cards: the catalogue, best first.
        installed: names of the cards whose files are here.
        chosen: name of the model that was chosen before, if any.
    """
    usable = [card for card in candidates(cards) if card.name in installed]
    for card in usable:
        if card.name == chosen:
            return Choice(card=card, reason=f"{card.name}, as chosen before.", installed=True)
    if not usable:
        return None
    best = usable[0]
    others = f"the best of {len(usable)} installed models" if len(usable) > 1 else "installed here"
    return Choice(card=best, reason=f"{best.name}, which is {others}.", installed=True)


def candidates(cards: Sequence[Card]) -> tuple[Card, ...]:
    """Return the cards that may be chosen without being named, best first: the tests' is not."""
    return tuple(card for card in cards if card.role != "tests")


def choose_to_fetch(
    cards: Sequence[Card], *, available_bytes: int, answers: Mapping[str, Answer]
) -> Choice:
    """Return the best card that fits the memory and whose sources answer.

    Args:
        cards: the catalogue, best first.
        available_bytes: memory that is free.
        answers: what was found out about each card's sources, by the card's name; a card that
            is not in it was not asked for.

    Raises:
        MachineError: no card fits the memory.
        FetchError: of no card that fits a source answers.
    """
    fitting = [card for card in candidates(cards) if card.needed_bytes <= available_bytes]
    if not fitting:
        raise MachineError(_too_small(cards, available_bytes))
    for card in fitting:
        answer = answers.get(card.name)
        if answer is not None and answer.source is not None:
            reason = _why(card, cards, answer, available_bytes=available_bytes, answers=answers)
            return Choice(card=card, reason=reason, installed=False)
    tried = _distinct(reason for answer in answers.values() for reason in answer.reasons)
    msg = (
        f"No source of a model answers: {', '.join(tried)}. Look at the connection and try again."
    )
    raise FetchError(msg)


def verify_fits(name: str, *, need_bytes: int, available_bytes: int, smaller: str | None) -> None:
    """Raise unless the memory suffices for a model.

    Args:
        name: the model's, for the message.
        need_bytes: what it needs.
        available_bytes: what is free.
        smaller: name of a model that would fit, if there is one.

    Raises:
        MachineError: it does not suffice; the message has both figures.
    """
    if need_bytes <= available_bytes:
        return
    way_out = f", or use -m {smaller}" if smaller else ""
    msg = (
        f"{name} needs about {_gib(need_bytes)} GiB, {_gib(available_bytes)} GiB is free. "
        f"Close programs{way_out}."
    )
    raise MachineError(msg)


def largest_that_fits(cards: Sequence[Card], *, available_bytes: int) -> Card | None:
    """Return the best card that fits the memory, None when none does."""
    fitting = (card for card in candidates(cards) if card.needed_bytes <= available_bytes)
    return next(fitting, None)


def no_model(cards: Sequence[Card], *, folder: Path) -> NoModel:
    """Return the error for a machine without a model, with the command that gets the default."""
    default = cards[0]
    msg = (
        f"No model is installed. Get the default ({default.size_bytes / 1e9:.1f} GB): "
        f"goliath-local models pull default\nLooked in: {folder}"
    )
    return NoModel(msg)


def _why(
    card: Card,
    cards: Sequence[Card],
    answer: Answer,
    *,
    available_bytes: int,
    answers: Mapping[str, Answer],
) -> str:
    memory = f"needs about {_gib(card.needed_bytes)} GiB, {_gib(available_bytes)} GiB is free"
    if card.role == "default":
        return (
            f"{card.name}, the default: {answer.source} answers, and memory suffices ({memory})."
        )
    better = candidates(cards)[: candidates(cards).index(card)]
    too_large = [one.name for one in better if one.needed_bytes > available_bytes]
    unreached = [one for one in better if one.name not in too_large and one.name in answers]
    because = []
    if too_large:
        because.append(f"{_listed(too_large)} would not fit the memory")
    if unreached:
        reasons = _distinct(reason for one in unreached for reason in answers[one.name].reasons)
        names = _listed([one.name for one in unreached])
        because.append(f"{' and '.join(reasons)}, so {names} cannot be had")
    return (
        f"{card.name}, the largest model that can be had here and fits ({memory}): "
        f"{'; '.join(because)}; {answer.source} has it."
    )


def _too_small(cards: Sequence[Card], available_bytes: int) -> str:
    smallest = min(candidates(cards), key=lambda card: card.needed_bytes)
    return (
        f"{_gib(available_bytes)} GiB of memory is free, and the smallest model "
        f"({smallest.name}) needs about {_gib(smallest.needed_bytes)} GiB. Close programs."
    )


def _distinct(reasons: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(reasons))


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / _GIB:.1f}"
