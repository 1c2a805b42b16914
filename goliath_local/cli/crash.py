"""A report of an error that is our bug, for whoever mends it.

Edge: writes one file. The traceback names code and types only; values of variables, prompts and
answers stay out of it.
"""

from __future__ import annotations

import time
import traceback
from typing import TYPE_CHECKING

from goliath_local.cli.places import find_places, make_file

if TYPE_CHECKING:
    from pathlib import Path

_KEPT = 10
"""Reports that stay; older ones go."""


def write_report(error: BaseException) -> Path | None:
    """Write where the error happened; return the file, or None when nothing can be written."""
    try:
        folder = find_places().logs
        path = make_file(folder / f"crash-{time.strftime('%Y%m%d-%H%M%S')}.txt")
        path.write_text(_where(error), encoding="utf-8")
        for old in sorted(folder.glob("crash-*.txt"))[:-_KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        return None
    return path


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return "\n".join([type(error).__name__, *places, ""])
