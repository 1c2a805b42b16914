"""The model that is measured, the machine, and the state of the code: what a figure belongs to.

Edge: asks git and the machine.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goliath_local.bench import processor_name
from goliath_local.catalogue import locate_model, models_dir, read_gguf_header
from goliath_local.engine import default_threads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goliath_local.catalogue import GgufHeader

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One model on this machine."""

    path: Path
    name: str
    sha256: str
    threads: int
    seed: int
    variables: Mapping[str, Any] = field(default_factory=dict)

    @property
    def header(self) -> GgufHeader:
        """The file's header."""
        return read_gguf_header(self.path)

    @property
    def kv_bytes(self) -> int:
        """Size of the KV cache of a whole window."""
        window = min(4096, self.header.trained_window_tokens or 4096)
        return (self.header.kv_bytes_per_token or 0) * window


def find_subject(name: str, *, threads: int | None, seed: int) -> Subject:
    """Return the model of that name or path.

    Raises:
        NoModel: there is none.
    """
    located = locate_model(name, models_dir())
    card = located.card
    return Subject(
        path=located.path,
        name=located.name,
        sha256=card.sha256 if card else _sha256(located.path),
        threads=threads or default_threads(),
        seed=seed,
        variables=dict(card.template_variables) if card else {},
    )


def machine_name() -> str:
    """Return a short name of this processor, fit for a file's name."""
    words = re.sub(r"(?i)\(r\)|\(tm\)|processor|cpu|@.*", " ", processor_name())
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-") or "machine"


def commit() -> str:
    """Return the commit, with `+` when something was changed since; empty outside a checkout."""
    head = _git("rev-parse", "--short=12", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "goliath_local")
    return f"{head}+" if head and changed else head


def _git(*arguments: str) -> str:
    try:
        ran = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return ran.stdout.strip()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
