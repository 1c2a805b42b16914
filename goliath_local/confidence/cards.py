"""Where fitted scores lie: a few numbers beside this file, one JSON file a model.

Edge: reads the package's own data.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from goliath_local.confidence.score import read_score

if TYPE_CHECKING:
    from goliath_local.confidence.score import TurnScore


def score_of(model_sha256: str | None) -> TurnScore | None:
    """Return what was fitted for the model with this hash, None when nothing was.

    A score says nothing about other weights: shares of one model are not those of another.

    Raises:
        ConfigError: a file of the package is damaged.
    """
    return None if model_sha256 is None else _by_model().get(model_sha256)


@cache
def _by_model() -> dict[str, TurnScore]:
    folder = files("goliath_local.confidence") / "cards"
    found = [
        read_score(path.read_text(encoding="utf-8"), where=path.name)
        for path in (folder.iterdir() if folder.is_dir() else ())
        if path.name.endswith(".json")
    ]
    return {score.model_sha256: score for score in found if score.model_sha256}
