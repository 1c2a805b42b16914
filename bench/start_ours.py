"""A new process of ours: it loads, replays one turn, and tells what it took and held.

Edge. Run as a program: `python -m bench.start_ours REQUESTS.json`, whose JSON has `path`, `name`,
`sha256`, `threads`, `seed`, `variables`, `states` (a folder, or null) and `requests`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def main() -> None:
    """Load, replay, tell."""
    started = time.perf_counter()
    asked = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    from bench.ours import opened
    from bench.recorded import read_request
    from bench.subject import Subject

    names = ("name", "sha256", "threads", "seed", "variables")
    subject = Subject(path=Path(asked["path"]), **{name: asked[name] for name in names})
    states = Path(asked["states"]) if asked["states"] else None
    with opened(subject, snapshot_dir=states) as ours:
        load_s = time.perf_counter() - started
        answers = [ours.ask(read_request(request)) for request in asked["requests"]]
        _tell(
            {
                "load_s": load_s,
                "evaluated_tokens": sum(answer.evaluated_tokens for answer in answers),
                "first_prompt_s": answers[0].prompt_s,
                **_memory(),
            }
        )


def _memory() -> dict[str, int]:
    """Return peak and present memory in bytes, file pages and our own apart where told."""
    found = {}
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name in {"VmHWM", "RssAnon", "RssFile"}:
            found[name] = int(value.split()[0]) * 1024
    return found


def _tell(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
