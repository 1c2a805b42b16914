"""The child process in which a template that nobody has reviewed is rendered.

Edge: reads one job from stdin, writes one result to stdout, within the memory it sets itself. The
sandbox keeps a template from touching anything, but not from looping or filling memory; so the
parent ends this process when it takes too long. Run by `untrusted`, as a module.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from pathlib import Path
from typing import Any, Final

from goliath_local.engine.template import Setting, Shape, render_text
from goliath_local.errors import ConfigError

READY: Final = "ready\n"
MEMORY_BYTES: Final = 192 << 20
"""Beyond what the interpreter has taken by then, some 60 MiB."""


def job(template: str, shape: Shape, setting: Setting) -> str:
    """Return what the child is told, as JSON."""
    return json.dumps(
        {
            "template": template,
            "shape": {"has_system": shape.has_system, "examples": shape.examples},
            "setting": {
                "start_text": setting.start_text,
                "end_text": setting.end_text,
                "today": setting.today.isoformat(),
                "variables": dict(setting.variables),
            },
        }
    )


def run(told: str) -> dict[str, str]:
    """Return the rendered text, or why there is none."""
    read: dict[str, Any] = json.loads(told)
    setting = {**read["setting"], "today": dt.date.fromisoformat(read["setting"]["today"])}
    try:
        text = render_text(read["template"], Shape(**read["shape"]), Setting(**setting))
    except ConfigError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"memory": "it needs more memory than a template may have"}
    return {"text": text}


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:
        return
    status = Path("/proc/self/statm")
    taken = int(status.read_text().split()[0]) * resource.getpagesize() if status.exists() else 0
    if taken:
        resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY_BYTES, taken + MEMORY_BYTES))


def main() -> None:
    """Do the one job."""
    _limit_memory()
    sys.stdout.write(READY)
    sys.stdout.flush()
    json.dump(run(sys.stdin.read()), sys.stdout)


if __name__ == "__main__":
    main()
