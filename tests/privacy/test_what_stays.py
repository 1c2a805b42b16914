"""P4: what was asked and answered lies in the listed files alone, closed to others, and goes."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local import create_agent
from goliath_local.catalogue import find_card
from goliath_local.cli.problems import ExitCode
from goliath_local.cli.tracefile import sweep
from goliath_local.engine import EngineSettings, load_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LIST = {"json": {"why": "w", "kind": "tool", "tool": "list_tasks", "brief": "look"}}
TELL = {"json": {"why": "w", "kind": "answer", "brief": "tell"}}

LINES = (
    "run ASK",
    "run -c trip ASK",
    "run -c trip -v ASK",
    "-vv run -c trip ASK",
    "run -c trip --json ASK",
    "run -c trip --jsonl ASK",
    "run -c trip --dry-run ASK",
    "run -c trip --no-trace ASK",
    "run -c trip -T demo ASK",
    "run -c work -T demo --max-steps 0 ASK",
    "run -c work -T demo --timeout 0.001 ASK",
    "run -c work -T tasks --read-only ASK",
    "run -c work --fallback nobody:nothing ASK",
    "run -c work -m ASK ASK",
    "run -c ASK ASK",
    "run -T ASK ASK",
    "tokens ASK",
    "conversations show ASK",
    "trace show ASK",
    "--log-file log.txt run -c trip ASK",
    "chat -c trip",
    "chat -c work -T demo --steps full",
    "eval run cases.jsonl",
    "eval run cases.jsonl --json",
)
"""Twenty-four canaries. One line names a file of its own for what is said; what a chat is asked
comes through its pipe, what `eval` asks stands in the file of cases."""

LISTED = ("conversations.sqlite", "traces/", "tasks.sqlite", "log.txt", "script-", "cases.jsonl")
"""The script that plays the model holds its answers, of course."""


def canary(number: int) -> str:
    return f"CANARY{number:02}HERE"


@pytest.fixture
def wide_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """No umask, and a folder for temporary files of our own; returned."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = os.umask(0)
    yield place
    os.umask(before)


def found_in(folder: Path) -> dict[str, set[str]]:
    """Return which canaries stand in which file."""
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        inside = {canary(n) for n in range(len(LINES)) if canary(n).encode() in data}
        if inside or "CANARY" in path.name:
            found[path.relative_to(folder).as_posix()] = inside
    return found


def test_what_was_said_stays_in_the_listed_files_and_goes(
    home: Path,
    wide_open: Path,
    goliath: Callable[..., Any],
    script: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number, line in enumerate(LINES):
        replies = [LIST, TELL] if "-T" in line else []
        engine = script(*replies, {"text": f"I say {canary(number)}."}, load_s=0.01)
        words = [f"ask-{canary(number)}" if word == "ASK" else word for word in line.split()]
        case = {"id": "one", "ask": f"ask-{canary(number)}", "tools": []}
        (home.parent / "work/cases.jsonl").write_text(json.dumps(case))
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"ask-{canary(number)}\n"))
        asking = [words.index(verb) + 1 for verb in ("run", "chat") if verb in words]
        at = asking[0] if asking else 0
        goliath(*words[:at], *(["--engine", engine] if at else []), *words[at:])
    data = home / ".local/share/goliath-local"

    found = found_in(home.parent)
    strays = [name for name in found if not any(place in name for place in LISTED)]
    assert strays == []
    assert any("conversations.sqlite" in name for name in found), "something has to be kept"
    assert any("traces/" in name for name in found)
    assert list(wide_open.iterdir()) == []
    for path in [data, *data.rglob("*")]:
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path
    told = goliath("doctor", "--quick")
    assert "CANARY" not in told.out + told.err
    kept = {name for names in found_in(data).values() for name in names}
    assert {canary(20), canary(21)} <= kept, "what was said in a chat has to be kept"
    assert not {canary(22), canary(23)} & kept, "an evaluation keeps what -o names, nothing else"

    goliath("conversations", "rm", "--all")
    kept = {name for names in found_in(data).values() for name in names}
    # A run without a conversation belongs to none; its trace goes with the days.
    assert kept <= {canary(0), canary(15)}, found_in(data)
    for path in (data / "traces").iterdir():
        os.utime(path, (0, time.time() - 31 * 86_400))
    sweep(data / "traces", days=30)
    assert found_in(data) == {}


def test_a_report_of_our_own_bug_holds_no_word_of_what_was_asked(
    home: Path,
    wide_open: Path,
    goliath: Callable[..., Any],
    script: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        said = f"it broke at {canary(0)}"
        raise RuntimeError(said)

    monkeypatch.setattr("goliath_local.cli.session.facts", broken)
    engine = script({"text": "never"})
    ran = goliath("run", "--engine", engine, "-c", "trip", f"ask-{canary(0)}")
    assert ran.code == ExitCode.OUR_BUG
    logs = home / ".local/share/goliath-local/logs"
    (report,) = logs.iterdir()
    assert "broken" in report.read_text()
    assert (stat.S_IMODE(logs.stat().st_mode), stat.S_IMODE(report.stat().st_mode)) == (
        0o700,
        0o600,
    )
    assert [name for name in found_in(home.parent) if "traces/" not in name] == []
    assert list(wide_open.iterdir()) == []


@pytest.mark.model
@pytest.mark.slow
async def test_evaluated_facts_lie_closed_and_go_with_all_conversations(
    home: Path, wide_open: Path, goliath: Callable[..., Any], weights: Callable[[str], Path]
) -> None:
    card = find_card("smollm2-135m")
    states = home / ".local/share/goliath-local/states"
    settings = EngineSettings(threads=1, snapshot_dir=states)
    facts = {"note": f"The word of the day is {canary(0)}, " + "and it is raining, " * 12}
    with load_model(weights(card.name), sha256=card.sha256, settings=settings) as model:
        agent = create_agent(model=model, facts=facts, max_steps=1)
        await agent.run(f"Say hi, ask-{canary(1)}")
    heads = list(states.iterdir())
    assert len(heads) == 2, "instructions, and the facts behind them"
    assert stat.S_IMODE(states.stat().st_mode) == 0o700
    assert {stat.S_IMODE(head.stat().st_mode) for head in heads} == {0o600}
    assert found_in(home.parent) == {}, "numbers of the model, not the text"

    said = goliath("conversations", "rm", "--all")
    assert "2 evaluated prompt heads: deleted" in said.out
    assert list(states.iterdir()) == []
