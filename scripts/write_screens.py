"""Drive the chat in a real terminal and write what a person sees to docs/screens.md.

    python scripts/write_screens.py            # write the page
    python scripts/write_screens.py --check    # exit code 1 when the page is behind

The model is scripted, everything else is real: a pseudo-terminal (pexpect) and a terminal emulator
behind it (pyte). Seconds, speeds, counts of tokens and names are made even, the rest is as shown.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pexpect
import pyte

PAGE = Path(__file__).parents[1] / "docs" / "screens.md"
COLUMNS, ROWS = 84, 60
PATIENCE_S = 120

HEAD = """# Screens

What `chat` looks like, written by `scripts/write_screens.py` in a real terminal with a scripted
model; a test says when this page is behind. Seconds, speeds, counts and names are made even.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One screen: what is typed, and what has to appear before the next thing is typed."""

    title: str
    about: str
    replies: list[dict[str, Any]]
    acts: list[tuple[str, str]]
    """Keys, and the text that is waited for after them."""

    flags: list[str] = field(default_factory=list)
    pace: dict[str, float] = field(default_factory=dict)


def plan(tool: str, why: str, *choices: tuple[str, str, float, str, float]) -> dict[str, Any]:
    """Return a scripted plan with its shares."""
    reply = {"why": why, "kind": "tool", "tool": tool, "brief": why}
    names = ("path", "value", "share", "runner_up", "runner_up_share")
    return {"json": reply, "choices": [dict(zip(names, one, strict=True)) for one in choices]}


DONE = {"json": {"why": "the list is there", "kind": "answer", "brief": "say it"}}
OVER = {"json": {"why": "it needs the tax rules", "kind": "escalate", "brief": "do the taxes"}}
MILK = plan(
    "create_task",
    "milk is not on the list",
    ("/kind", "tool", 0.93, "answer", 0.06),
    ("/tool", "create_task", 0.81, "complete_task", 0.15),
)
LOOK = plan("list_tasks", "the list says it", ("/kind", "tool", 0.88, "answer", 0.12))

SCENES = (
    Scene(
        title="A turn with a yes",
        about="The box shows the call as it would run and what would change. `w` says why; "
        "anything but a clear yes is a no. `/why` tells the choices and their shares.",
        replies=[
            MILK,
            {"json": {"title": "milk", "missing": ""}},
            LOOK,
            DONE,
            {"text": "Your list has bread, the dentist, the plants and milk."},
        ],
        acts=[
            ("put milk on my list and tell me what is on it\r", "[w] why ?"),
            ("y\r", "2 steps"),
            ("/why\r", "3 answer"),
        ],
    ),
    Scene(
        title="A no, and an answer that is broken off",
        about="A declined call is told to the model. Ctrl-C stops an answer; what had come is "
        "kept, marked as partial.",
        replies=[
            MILK,
            {"json": {"title": "milk", "missing": ""}},
            DONE,
            {"text": "As you wish: nothing was added."},
            DONE,
            {
                "text": "Once upon a time there was a very long answer that went on and on.",
                "piece_s": 600,  # it waits there for Ctrl-C
            },
        ],
        acts=[
            ("put milk on my list\r", "[w] why ?"),
            ("n\r", "1 step"),
            ("tell me a story\r", "Once upon"),
            ("\x03", "(interrupted)"),
            ("/memory\r", "(partial)"),
        ],
        flags=["--new"],
        pace={"piece_s": 0.05, "piece_chars": 12},
    ),
    Scene(
        title="A turn that was handed over",
        about="With a fallback the chat says beforehand where the rest would go, and afterwards "
        "who answered and why.",
        replies=[OVER],
        acts=[("do my taxes\r", "· cloud")],
        flags=["--new", "--fallback", "helper.py:finish"],
    ),
    Scene(
        title="Another conversation",
        about="A chat resumes the last conversation by itself. `/conversations` lists them, "
        "`/resume` goes on with one, `/undo` forgets the last exchange.",
        replies=[{"text": "One."}],
        acts=[
            ("/conversations\r", "Go on with one"),
            ("/resume 2\r", "Going on with"),
            ("/undo\r", "Forgotten"),
        ],
    ),
    Scene(
        title="Far too much text",
        about="A large paste is one message, shown as a mark. It is counted and refused, "
        "never cut.",
        replies=[{"text": "never"}],
        acts=[
            ("\x1b[200~" + "word " * 20_000 + "\x1b[201~", "[paste 1"),
            ("\r", "does not fit"),
        ],
        flags=["--new"],
    ),
)


def main() -> int:
    """Write or check the page; return the exit code."""
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{PAGE.name} is behind. Write it anew: python {sys.argv[0]}\n")
    return 1


def page() -> str:
    """Return the page, all screens played one after the other in one home."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "helper.py").write_text(
            "def finish(request):\n    return {'text': 'Here is how the form is filled in.'}\n"
        )
        blocks = [_block(scene, home) for scene in SCENES]
    return "\n".join([HEAD, *blocks])


def _block(scene: Scene, home: Path) -> str:
    screen = _even(_played(scene, home))
    return f"## {scene.title}\n\n{scene.about}\n\n```text\n{screen}\n```\n"


def _played(scene: Scene, home: Path) -> str:
    script = home / "script.json"
    script.write_text(json.dumps({"replies": scene.replies, **scene.pace}))
    command = ["-m", "goliath_local", "chat", "--engine", f"fake:{script}", "-T", "demo"]
    child = pexpect.spawn(
        sys.executable,
        [*command, *scene.flags],
        cwd=str(home),
        env=_environment(home),
        dimensions=(ROWS, COLUMNS),
    )
    emulator = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(emulator)
    _wait(child, stream, emulator, "you>", last=True)
    for keys, wanted in scene.acts:
        child.send(keys)
        _wait(child, stream, emulator, wanted)
        prompts = "?" if wanted.endswith("?") else "you>"
        _wait(child, stream, emulator, prompts, last=wanted != "Once upon")
    child.close(force=True)
    return "\n".join(line.rstrip() for line in emulator.display).rstrip()


def _environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "PYTHONPATH"}}
    own = {"HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    return kept | own | {"PROMPT_TOOLKIT_NO_CPR": "1", "GOLIATH_DATA_DIR": str(home / "data")}


def _wait(child: Any, stream: Any, emulator: Any, wanted: str, *, last: bool = False) -> None:
    """Read until the text is on the screen; with `last`, until the last line holds it."""
    end = time.monotonic() + PATIENCE_S
    while True:
        lines = [line.rstrip() for line in emulator.display if line.strip()]
        if any(wanted in line for line in lines) if not last else wanted in "".join(lines[-1:]):
            return
        if time.monotonic() > end:
            shown = "\n".join(lines)
            message = f"{wanted!r} did not come. The screen:\n{shown}"
            raise SystemExit(message)
        try:
            stream.feed(child.read_nonblocking(1 << 16, timeout=0.2))
        except pexpect.TIMEOUT:
            continue


# Prompts are counted with the date in them, and their texts change; the widths stay.
_COUNTED = (
    r"((?:ctx|is|instructions|task|tools|facts|schema|counter|ask|template) )(\d[\d,]*\d|\d)\b"
)
_SAMPLES = {1: "8", 2: "60", 3: "180", 5: "1,180", 6: "29,190"}


def _even(screen: str) -> str:
    """Return the screen with all that depends on the day or the machine made even."""
    screen = re.sub(r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "01KB3Q7Z9V5T2M8N4R6W1X0YAC", screen)
    screen = re.sub(r"\d+\.\d s\b", "0.4 s", screen)
    screen = re.sub(r" · \d+\.\d tok/s", " · 24.0 tok/s", screen)
    screen = re.sub(_COUNTED, lambda it: it[1] + _SAMPLES.get(len(it[2]), it[2]), screen)
    screen = re.sub(r"last used \d+ \w+ ago", "last used just now", screen)
    return re.sub(r"\d+ \w+ ago *", lambda it: "just now".ljust(len(it.group())), screen)


if __name__ == "__main__":
    sys.exit(main())
