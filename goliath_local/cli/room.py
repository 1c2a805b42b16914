"""Whether a model fits the memory that is free, and a trial in a child where it is close.

Edge: reads the machine, may start a child. llama.cpp ends the process when memory runs out in
the wrong moment; a child that dies of it costs nothing. Source: reliability trial F6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.errors import MachineError

if TYPE_CHECKING:
    from pathlib import Path

    from goliath_local.cli.settings import Settings

_AMPLE = 1.3
"""Free memory over what is needed from which on nobody tries first."""

_TRIAL_S = 300


def is_room_short(name: str, path: Path, *, window_tokens: int) -> bool:
    """Return whether the model fits so narrowly that it is better tried in a child first.

    Raises:
        MachineError: it does not fit at all; the message has both figures.
    """
    from goliath_local.catalogue import (
        cards,
        largest_that_fits,
        needed_bytes,
        read_gguf_header,
        read_machine,
        verify_fits,
    )

    header = read_gguf_header(path)
    available = read_machine().available_bytes
    need = needed_bytes(
        header.file_bytes, header.kv_bytes_per_token or 0, window_tokens=window_tokens
    )
    smaller = largest_that_fits(cards(), available_bytes=available)
    verify_fits(
        name,
        need_bytes=need,
        available_bytes=available,
        smaller=smaller.name if smaller else None,
    )
    return available < need * _AMPLE


def try_in_child(name: str, settings: Settings) -> None:
    """Load the model and reply once in a child process; this process lives in any case.

    Raises:
        MachineError: the child did not live through it.
    """
    from goliath_local.cli.load_probe import model_command, run_probe

    tried = run_probe(model_command(settings), timeout_s=_TRIAL_S)
    if not tried.ok:
        msg = (
            f"{name} nearly fits the free memory, so it was tried in a process of its own first, "
            f"and that failed: {tried.why}. Close programs, or use a smaller model."
        )
        raise MachineError(msg)
