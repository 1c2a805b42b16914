"""The child process in which the native library, or a model, is loaded first.

Edge: loads, replies if a model is named, and prints what it found as one JSON line. Run by
`load_probe`, as a module.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from goliath_local.errors import GoliathError

_ASK_TOKENS = 16
_ROOM_BYTES = 8 << 30
"""Address space beside the weights: libraries, window, graph, stacks of threads."""


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
