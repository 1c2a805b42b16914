"""What an eval was made with: the hashes without which its figures mean nothing.

Edge: reads the package's prompts and asks git for the commit, where there is one.
"""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).parents[1]
_GIT_S = 10.0


def about_run(
    *, set_name: str, model: str, sha256: str | None, seed: int | None, player: str = "harness"
) -> dict[str, Any]:
    """Return the facts that are kept with every attempt.

    Args:
        set_name: which fixtures.
        model: the model's name.
        sha256: of its weights, when its card says so.
        seed: of the sampling.
        player: `harness`, or which plain loop.
    """
    return {
        "set": set_name,
        "player": player,
        "model": {"name": model, "sha256": sha256},
        "prompts": prompts_sha256(),
        "seed": seed,
        "commit": commit(),
    }


@cache
def prompts_sha256() -> str:
    """Return the hash of everything that decides what a model is told, 64 hex digits.

    That is each file of the prompts' room, and the harness's plan schema.
    """
    paths = sorted(
        path
        for path in (_PACKAGE / "prompts").rglob("*")
        if path.is_file() and path.suffix in {".py", ".md", ".json"}
    )
    digest = hashlib.sha256()
    for path in (*paths, _PACKAGE / "harness" / "plans.py"):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def commit() -> str | None:
    """Return the commit of this checkout, `+` behind it where files differ; None outside one."""
    head = _git("rev-parse", "HEAD")
    if head is None:
        return None
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return f"{head}+" if changed else head


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(_PACKAGE.parent), *words],
            capture_output=True,
            text=True,
            timeout=_GIT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
