"""Whole turns: ours against the binding and the server, the very same requests.

Edge. Three states of the caches are told apart:
* heads new: our recording, no state is known of anything;
* heads warm: every instruction, tool list and example was evaluated before, the asks are new: what
  a user waits for. Server and we are measured so, turn after turn side by side;
* asked again: word for word the same turn a second time, which favours whoever keeps most.
Ours is the whole turn with harness and tools; the others replay its requests without either.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.answers import Failed
from bench.measures import Measure, Table
from bench.peer_binding import Binding
from bench.peer_server import Server
from bench.recorded import heads
from bench.recording import dev_set, record
from bench.run import say, skipped
from goliath_local.bench import ratio

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.answers import Answer, Peer
    from bench.ours import Ours
    from bench.recorded import RecordedTurn
    from bench.run import Run

SECTION = "turns"
GROUPS = 5


@dataclass(slots=True)
class Line:
    """One turn on one engine."""

    fixture: str
    engine: str
    state: str
    steps: int
    requests: int
    seconds: float
    evaluated_tokens: int
    completion_tokens: int
    prompt_s: float = 0.0
    decode_s: float = 0.0

    def row(self) -> dict[str, object]:
        """Return the line with units in its names."""
        return {
            "fixture": self.fixture,
            "engine": self.engine,
            "state": self.state,
            "steps": self.steps,
            "requests": self.requests,
            "turn_s": round(self.seconds, 4),
            "evaluated_tokens": self.evaluated_tokens,
            "completion_tokens": self.completion_tokens,
            "prompt_s": round(self.prompt_s, 4),
            "decode_s": round(self.decode_s, 4),
        }


@dataclass(slots=True)
class Lines:
    """All of them, by engine and state."""

    found: list[Line] = field(default_factory=list)

    def seconds(self, engine: str, state: str) -> dict[str, float]:
        """Return the seconds of each fixture."""
        return {
            line.fixture: line.seconds
            for line in self.found
            if line.engine == engine and line.state == state
        }


def measure(run: Run) -> Iterator[Measure]:
    """Yield the figures of whole turns."""
    lines = Lines([_recorded(turn) for turn in run.turns])
    with run.ours() as ours:
        asyncio.run(ours.model.prewarm(heads(run.requests)))
        _side_by_side(run, ours, lines)
    run.tables.append(Table(name="turns", rows=tuple(line.row() for line in lines.found)))
    yield from figures(lines)


def figures(lines: Lines) -> Iterator[Measure]:
    """Yield seconds of each kind, and the ratios that the bars are about."""
    for engine, state in dict.fromkeys((line.engine, line.state) for line in lines.found):
        seconds = tuple(lines.seconds(engine, state).values())
        name = f"whole turn, {state}: {engine}"
        yield Measure(section=SECTION, name=name, unit="s", samples=seconds)
    ours = lines.seconds("ours", "heads warm")
    for engine, state, name in (
        ("binding", "its own cache", "whole turns: binding over ours"),
        ("server", "heads warm", "whole turns, heads warm: server over ours"),
    ):
        ratios = group_ratios(lines.seconds(engine, state), ours)
        if ratios:
            note = f"median of {len(ratios)} groups of turns"
            yield Measure(section=SECTION, name=name, unit="ratio", samples=ratios, note=note)
    again = group_ratios(
        lines.seconds("server", "asked again"), lines.seconds("ours", "asked again")
    )
    if again:
        name = "whole turns, asked again word for word: server over ours"
        yield Measure(section=SECTION, name=name, unit="ratio", samples=again)
    yield from _at_equal_speed(lines)


def group_ratios(
    theirs: dict[str, float], ours: dict[str, float], *, groups: int = GROUPS
) -> tuple[float, ...]:
    """Return their seconds over ours in each of up to five groups of turns both have."""
    both = [name for name in theirs if name in ours]
    count = min(groups, len(both))
    found = []
    for at in range(count):
        names = both[at::count]
        found.append(ratio(sum(theirs[n] for n in names), sum(ours[n] for n in names)))
    return tuple(found)


def _at_equal_speed(lines: Lines) -> Iterator[Measure]:
    """Yield what the server's turns would take at our own build's speed.

    Its wheel is built for any processor, our binding for this one: the same work, priced at our
    own seconds a token, tells the design from the compiler.
    """
    ours = [line for line in lines.found if (line.engine, line.state) == ("ours", "heads warm")]
    theirs = {
        line.fixture: line
        for line in lines.found
        if (line.engine, line.state) == ("server", "heads warm")
    }
    pairs = [(line, theirs[line.fixture]) for line in ours if line.fixture in theirs]
    evaluated = sum(line.evaluated_tokens for line, _ in pairs)
    completed = sum(line.completion_tokens for line, _ in pairs)
    if not evaluated or not completed:
        return
    prompt_s = sum(line.prompt_s for line, _ in pairs) / evaluated
    decode_s = sum(line.decode_s for line, _ in pairs) / completed
    priced = sum(
        their.evaluated_tokens * prompt_s + their.completion_tokens * decode_s
        for _, their in pairs
    )
    yield Measure(
        section=SECTION,
        name="whole turns, heads warm: server over ours, at our seconds a token",
        unit="ratio",
        samples=(ratio(priced, sum(line.seconds for line, _ in pairs)),),
        note="the server's tokens at our build's speed",
    )


def _side_by_side(run: Run, ours: Ours, lines: Lines) -> None:
    server, binding = _server(run), _binding(run)
    try:
        dev = dev_set()
        by_id = {fixture.id: fixture for fixture in dev.fixtures}
        for number, turn in enumerate(run.turns):
            say(f"  turn {number + 1} of {len(run.turns)}: {turn.fixture}")
            (played,) = record(ours.model, [by_id[turn.fixture]], dev)
            lines.found.append(_played(played, turn, state="heads warm"))
            _replay(server, turn, "heads warm", lines)
            if _is_chosen(number, len(run.turns), run.amounts.binding_turns):
                _replay(binding, turn, "its own cache", lines)
            if _is_chosen(number, len(run.turns), run.amounts.again_turns):
                (played,) = record(ours.model, [by_id[turn.fixture]], dev)
                lines.found.append(_played(played, turn, state="asked again"))
                _replay(server, turn, "asked again", lines)
    finally:
        for peer in (server, binding):
            if peer is not None:
                peer.close()


def _is_chosen(number: int, total: int, wanted: int) -> bool:
    """Return whether this one is among so many, evenly spaced."""
    return wanted > 0 and number * wanted // total != (number - 1) * wanted // total


def _server(run: Run) -> Server | None:
    try:
        server = Server(run.subject)
    except (Failed, ImportError) as error:
        skipped("the server", error)
        return None
    say(f"  server: {server.build}")
    for request in heads(run.requests):
        server.ask(request)
    return server


def _binding(run: Run) -> Binding | None:
    if not run.amounts.binding_turns:
        return None
    try:
        return Binding(run.subject)
    except Failed as error:
        skipped("the binding", error)
        return None


def _replay(peer: Peer | None, turn: RecordedTurn, state: str, lines: Lines) -> None:
    if peer is None:
        return
    try:
        answers = [peer.ask(request) for request in turn.requests]
    except Failed as error:
        skipped(f"{turn.fixture} on the {peer.name}", error)
        return
    lines.found.append(
        _line(
            turn,
            engine=peer.name,
            state=state,
            seconds=sum(answer.seconds for answer in answers),
            answers=answers,
        )
    )


def _line(
    turn: RecordedTurn, *, engine: str, state: str, seconds: float, answers: Sequence[Answer]
) -> Line:
    return Line(
        fixture=turn.fixture,
        engine=engine,
        state=state,
        steps=turn.steps,
        requests=len(answers),
        seconds=seconds,
        evaluated_tokens=sum(answer.evaluated_tokens for answer in answers),
        completion_tokens=sum(answer.completion_tokens for answer in answers),
        prompt_s=sum(answer.prompt_s for answer in answers),
        decode_s=sum(answer.decode_s for answer in answers),
    )


def _recorded(turn: RecordedTurn) -> Line:
    return Line(
        fixture=turn.fixture,
        engine="ours",
        state="heads new",
        steps=turn.steps,
        requests=len(turn.requests),
        seconds=turn.seconds,
        evaluated_tokens=turn.evaluated_tokens,
        completion_tokens=turn.completion_tokens,
        prompt_s=turn.prompt_s,
        decode_s=turn.decode_s,
    )


def _played(played: RecordedTurn, turn: RecordedTurn, *, state: str) -> Line:
    if played.requests != turn.requests:
        skipped(f"sameness of {turn.fixture}", "our harness asked otherwise than it was recorded")
    line = _recorded(played)
    line.state = state
    return line
