"""One run of the benchmark: its model, its amounts, and what sections share.

Edge: opens engines and keeps a scratch folder.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.ours import opened
from bench.recorded import RecordedTurn, read_turns, save_turns
from bench.recording import choose_fixtures, dev_set, record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.amounts import Amounts
    from bench.measures import Measure, Table
    from bench.ours import Ours
    from bench.subject import Subject
    from goliath_local.model import Request


@dataclass(kw_only=True)
class Run:
    """What all sections are given."""

    subject: Subject
    amounts: Amounts
    scratch: Path
    peers_python: str | None = None
    requests_file: Path | None = None
    tables: list[Table] = field(default_factory=list)
    _turns: tuple[RecordedTurn, ...] | None = None

    @property
    def states(self) -> Path:
        """Folder of the saved prompt states of this run."""
        return self.scratch / "states"

    @property
    def turns(self) -> tuple[RecordedTurn, ...]:
        """The recorded turns; played once, when they are first needed."""
        if self._turns is None:
            self._turns = self._read() or self._record()
        return self._turns[: self.amounts.turns]

    @property
    def was_recorded(self) -> bool:
        """True once the turns are there."""
        return self._turns is not None

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every recorded request, in order."""
        return tuple(request for turn in self.turns for request in turn.requests)

    @contextmanager
    def ours(self, *, fresh: bool = False, on_disk: bool = True) -> Iterator[Ours]:
        """Give our engine, its states in this run's folder."""
        folder = self.states if on_disk and not fresh else None
        with opened(self.subject, fresh=fresh, snapshot_dir=folder) as ours:
            yield ours

    def _read(self) -> tuple[RecordedTurn, ...] | None:
        if self.requests_file is None or not self.requests_file.exists():
            return None
        turns = read_turns(self.requests_file, model=self.subject.sha256)
        return turns if len(turns) >= self.amounts.turns else None

    def _record(self) -> tuple[RecordedTurn, ...]:
        dev = dev_set()
        fixtures = choose_fixtures(dev, self.amounts.turns)
        say(f"recording {len(fixtures)} turns")
        with self.ours() as ours:
            turns = tuple(record(ours.model, fixtures, dev))
        if self.requests_file is not None:
            save_turns(turns, self.requests_file, model=self.subject.sha256)
        return turns


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="goliath-bench-") as folder:
        yield Path(folder)


def say(text: str) -> None:
    """Tell whoever waits what is going on."""
    print(text, file=sys.stderr, flush=True)


def skipped(what: str, why: object) -> None:
    """Tell that something was left out, and why."""
    say(f"  left out: {what}: {why}")


def report(measure: Measure) -> Measure:
    """Return the measure, told on the way."""
    from bench.measures import shown

    say(f"  {shown(measure)}")
    return measure
