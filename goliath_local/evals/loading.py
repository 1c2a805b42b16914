"""Loads a model for an eval: the deterministic profile, and room for every prompt head.

Edge. Prompt heads differ by tool set and facts; with room for all of them each is evaluated once
in a whole run instead of once a fixture. Replies do not depend on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.catalogue import needed_bytes, read_gguf_header, read_machine
from goliath_local.engine import EngineSettings, load_model

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from goliath_local.catalogue import Located
    from goliath_local.engine import LocalModel

_MOST_BYTES = 6 << 30
"""All heads of the dev set take about 2 GB at 28 KiB a token."""


def load_for_eval(located: Located, *, seed: int = 0) -> LocalModel:
    """Return the model, ready to be played with.

    Raises:
        BadModelFile: it is not a sound GGUF.
        MachineError: memory does not suffice.
    """
    card = located.card
    return load_model(
        located.path,
        name=located.name,
        sha256=card.sha256 if card else None,
        settings=EngineSettings(
            deterministic=True,
            seed=seed,
            template_variables=template_variables(located),
            snapshot_memory_bytes=room_for_heads(located.path),
        ),
    )


def template_variables(located: Located) -> Mapping[str, Any]:
    """Return what the model's card hands to its chat template."""
    return dict(located.card.template_variables) if located.card else {}


def room_for_heads(path: Path) -> int:
    """Return the bytes that saved prompt heads of this model may take here and now."""
    header = read_gguf_header(path)
    needed = needed_bytes(header.file_bytes, header.kv_bytes_per_token or 0)
    return room_beside(needed, available_bytes=read_machine().available_bytes)


def room_beside(needed_bytes: int, *, available_bytes: int) -> int:
    """Return half of what a model of that need leaves free, within bounds. Pure."""
    return max(0, min(_MOST_BYTES, (available_bytes - needed_bytes) // 2))
