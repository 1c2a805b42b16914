"""Loading the native library, or a model, in a child process that may die of it.

Edge: starts a child, `load_child`, and reads one JSON line from it.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.cli.settings import Settings

_CHILD = "goliath_local.cli.load_child"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What became of the child."""

    ok: bool
    facts: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    signal: str | None = None
    """Name of the signal that ended it, such as SIGILL."""


def library_command() -> list[str]:
    """Return the command of a child that only loads the library."""
    return [sys.executable, "-m", _CHILD]


def model_command(settings: Settings) -> list[str]:
    """Return the command of a child that loads the model and replies once."""
    flags = ["--model", settings.model, "--models-dir", str(settings.models_folder)]
    flags += ["--threads", str(settings.threads)] if settings.threads else []
    flags += ["--chat-template", settings.chat_template] if settings.chat_template else []
    return [*library_command(), *flags]


def run_probe(command: Sequence[str], *, timeout_s: float = 60) -> Probed:
    """Return what became of the child; this process lives on in any case."""
    try:
        ran = subprocess.run(
            list(command),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return Probed(ok=False, why=f"it did not end within {timeout_s:g} s")
    except OSError as error:
        return Probed(ok=False, why=f"the test process could not be started: {error}")
    if ran.returncode < 0:
        name = signal.Signals(-ran.returncode).name
        return Probed(ok=False, why=f"the test process was ended by {name}", signal=name)
    return _read(ran.stdout, ran.stderr)


def _read(out: str, err: str) -> Probed:
    try:
        facts = json.loads(out.strip().rpartition("\n")[2])
    except ValueError:
        return Probed(ok=False, why=err.strip() or "the test process said nothing")
    if not isinstance(facts, dict) or "error" in facts:
        why = facts.get("error", "") if isinstance(facts, dict) else str(facts)
        return Probed(ok=False, why=str(why))
    return Probed(ok=True, facts=facts)
