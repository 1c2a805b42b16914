"""The tests' model, loaded once for all files of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from goliath_local.engine import LocalModel

TINY = "smollm2-135m"


@pytest.fixture(autouse=True)
def _patient_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a loopback server answer the probe on a busy machine, too."""
    from goliath_local.engine import probe

    monkeypatch.setattr(probe, "PROBE_TIMEOUT_S", 60.0)


@pytest.fixture(scope="session")
def tiny(weights: Callable[[str], Path]) -> Iterator[LocalModel]:
    """The 135M model, as evals load it."""
    from goliath_local.catalogue import find_card
    from goliath_local.engine import EngineSettings, load_model

    card = find_card(TINY)
    settings = EngineSettings(deterministic=True)
    with load_model(weights(TINY), name=TINY, sha256=card.sha256, settings=settings) as model:
        yield model
