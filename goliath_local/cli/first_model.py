"""`--pull`: gets a model when none is there, and says which and why.

Edge: may use the network; shows the fetch while it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.catalogue import (
    choose_default,
    choose_default_installed,
    fetch,
    find_card,
    installed_path,
    write_chosen,
)
from goliath_local.cli.pulling import Progress

if TYPE_CHECKING:
    from pathlib import Path

    from goliath_local.catalogue import Card
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal


def pull_if_missing(settings: Settings, terminal: Terminal) -> None:
    """Fetch the model of the settings unless it is here; a path is left alone.

    Raises:
        FetchError: no source gave it.
        MachineError: no model fits this machine.
    """
    if settings.engine != "llama.cpp":
        return
    folder = settings.models_folder
    if settings.model != "default":
        card = _card(settings.model)
        if card is not None and installed_path(card, folder) is None:
            _fetch(card, folder, settings, terminal)
        return
    if choose_default_installed(folder) is not None:
        return
    terminal.say("There is no model yet. Looking which one suits this machine …")
    choice = choose_default(folder, offline=settings.offline)
    terminal.say(f"The choice is {choice.reason}")
    _fetch(choice.card, folder, settings, terminal)
    write_chosen(folder, choice.card.name)


def _card(name: str) -> Card | None:
    from goliath_local.errors import NoModel

    try:
        return find_card(name)
    except NoModel:
        return None


def _fetch(card: Card, folder: Path, settings: Settings, terminal: Terminal) -> None:
    progress = Progress(terminal, card.name)
    progress.finish(fetch(card, folder, offline=settings.offline, report=progress))
