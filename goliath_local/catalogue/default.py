"""What `default` means on this machine now: looks at the folder, and only then at the network.

Edge: reads the disk and the memory; asks hub and package index when no model is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.catalogue import packages
from goliath_local.catalogue.card import HubSource, PackagesSource
from goliath_local.catalogue.choose import (
    Answer,
    Choice,
    candidates,
    choose_installed,
    choose_to_fetch,
    no_model,
)
from goliath_local.catalogue.fetch import source_in_words
from goliath_local.catalogue.locate import cards, models_dir
from goliath_local.catalogue.machine import Machine, read_machine
from goliath_local.catalogue.record import read_chosen

if TYPE_CHECKING:
    from pathlib import Path

    from goliath_local.catalogue.card import Card, Source


def choose_default(
    folder: Path | None = None, *, offline: bool = False, machine: Machine | None = None
) -> Choice:
    """Return the model that `default` means, and why; asks the network only if none is here.

    Args:
        folder: the models folder, the user's own by default.
        offline: ask nothing of the network.
        machine: memory of this machine, read by default.

    Raises:
        NoModel: nothing is installed, and offline is set.
        MachineError: no model fits the memory.
        FetchError: no source answers.
    """
    if choice := choose_default_installed(folder):
        return choice
    if offline:
        raise no_model(cards(), folder=models_dir(folder))
    available_bytes = (machine or read_machine()).available_bytes
    answers = _ask_sources(cards(), available_bytes)
    return choose_to_fetch(cards(), available_bytes=available_bytes, answers=answers)


def choose_default_installed(folder: Path | None = None) -> Choice | None:
    """Return the installed model that `default` means, None when there is none."""
    place = models_dir(folder)
    installed = {
        card.name
        for card in cards()
        if (path := place / card.file).is_file() and path.stat().st_size == card.size_bytes
    }
    return choose_installed(cards(), installed=installed, chosen=read_chosen(place))


def _ask_sources(catalogue: tuple[Card, ...], available_bytes: int) -> dict[str, Answer]:
    """Ask for each card that fits, best first, until one can be had."""
    answers: dict[str, Answer] = {}
    silent: dict[str, str] = {}
    for card in candidates(catalogue):
        if card.needed_bytes <= available_bytes:
            answers[card.name] = _ask(card, silent)
            if answers[card.name].source is not None:
                break
    return answers


def _ask(card: Card, silent: dict[str, str]) -> Answer:
    reasons: list[str] = []
    for source in card.sources:
        why = _why_not(source, silent)
        if why is None:
            return Answer(source=source_in_words(source), reasons=tuple(reasons))
        reasons.append(why)
    return Answer(source=None, reasons=tuple(reasons))


def _why_not(source: Source, silent: dict[str, str]) -> str | None:
    """Return why a source would not give its file; a hub that is silent is asked only once."""
    match source:
        case HubSource():
            from goliath_local.catalogue import hub  # brings httpx2, which costs 0.15 s

            if "hub" not in silent and (why := hub.why_not(source)):
                silent["hub"] = why
            return silent.get("hub")
        case PackagesSource():
            return packages.why_not(source)
        case _:
            return None  # an address or a file of its own: it is tried when it is fetched
