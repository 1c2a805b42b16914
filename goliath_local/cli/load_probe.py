"""Loading the native library, or a model, in a child process that may die of it.

Edge: starts a child and reads one JSON line from it. Run as a program, it is that child.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goliath_local.errors import GoliathError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.cli.settings import Settings

_ASK_TOKENS = 16
_ROOM_BYTES = 8 << 30
"""Address space beside the weights: libraries, window, graph, stacks of threads."""


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
    return [sys.executable, "-m", __name__]


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


def main(arguments: list[str]) -> None:
    """Load, reply if a model is named, and print what was found as one JSON line."""
    try:
        facts = _model_facts(arguments) if arguments else _library_facts()
    except (GoliathError, ImportError, OSError) as error:
        facts = {"error": str(error)}
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
    # What native destructors do on the way out is not what was asked.
    os._exit(0)


def _library_facts() -> dict[str, Any]:
    from goliath_local.engine.native import native_build

    return {"build": native_build()}


def _model_facts(arguments: list[str]) -> dict[str, Any]:
    import asyncio

    return asyncio.run(_replied(dict(zip(arguments[::2], arguments[1::2], strict=True))))


async def _replied(flags: dict[str, str]) -> dict[str, Any]:
    from goliath_local.cancel import CancelToken
    from goliath_local.cli.ready import find_model, load
    from goliath_local.cli.settings import load_settings
    from goliath_local.cli.terminal import open_terminal
    from goliath_local.model import Part, Request, Stage

    said = {name.removeprefix("--").replace("-", "_"): value for name, value in flags.items()}
    settings = load_settings(said, environ={})
    found = find_model(settings, let_in=True)
    if found.sha256 is None and found.path is not None:
        _limit(found.path.stat().st_size)
    ready = await load(found, settings, open_terminal(), cancel=CancelToken())
    request = Request(
        stage=Stage.ANSWER,
        system=(Part(name="instructions", text="You are brief."),),
        user=(Part(name="ask", text="Say hello."),),
        max_tokens=_ASK_TOKENS,
    )
    reply = await ready.model.generate(request)
    usage = reply.usage
    return {
        "tokens": usage.completion_tokens,
        "tokensPerS": usage.completion_tokens / usage.decode_s if usage.decode_s else 0.0,
        "threads": ready.threads,
        "loadS": ready.load_s,
    }


def _limit(file_bytes: int) -> None:
    """Bound what a file that nobody knows may make this process take, and leave no dump of it."""
    try:
        import resource
    except ImportError:
        return
    most = 3 * file_bytes + _ROOM_BYTES
    for limit, value in ((resource.RLIMIT_AS, most), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(limit)
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (bound, hard))


if __name__ == "__main__":
    main(sys.argv[1:])
