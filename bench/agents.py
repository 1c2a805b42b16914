"""Whole turns of another agent library over llama.cpp's server, on our asks and tools.

Edge. It plans with its own prompts and the server's tool calling, so the requests are not ours;
the asks, the tools and what they return are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.answers import Failed
from bench.child import Child
from bench.measures import Measure
from bench.peer_server import KEY, Server
from bench.recording import choose_fixtures, dev_set
from bench.run import skipped
from bench.subject import ROOT
from goliath_local.evals.simulator import RefusedCall, Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench.run import Run
    from goliath_local.evals import Fixture

SECTION = "agents"


def measure(run: Run) -> Iterator[Measure]:
    """Yield the seconds of its turns beside ours of the same asks."""
    if run.peers_python is None:
        skipped("the agent library", "give --peers PYTHON; see the top of bench/peer_agent.py")
        return
    try:
        played = list(_played(run))
    except (Failed, ImportError, OSError) as error:
        skipped("the agent library", error)
        return
    seconds = tuple(done["seconds"] for _, done in played)
    ours = {turn.fixture: turn.seconds for turn in run.turns}
    both = [(done["seconds"], ours[name]) for name, done in played if name in ours]
    failed = sum(1 for _, done in played if done["why"])
    note = f"{len(played)} turns, {failed} of them failed"
    name = "whole turn over the server: pydantic-ai"
    yield Measure(section=SECTION, name=name, unit="s", samples=seconds, note=note)
    if both:
        name = "whole turns: pydantic-ai over ours with new heads"
        ratios = tuple(theirs / mine for theirs, mine in both)
        yield Measure(section=SECTION, name=name, unit="ratio", samples=ratios)


def _played(run: Run) -> Iterator[tuple[str, Mapping[str, Any]]]:
    dev = dev_set()
    fixtures = choose_fixtures(dev, run.amounts.turns)
    step = max(len(fixtures) // max(run.amounts.agent_turns, 1), 1)
    server = Server(run.subject, window_tokens=8192)
    try:
        with Child([str(run.peers_python), str(ROOT / "bench" / "peer_agent.py")]) as child:
            child.say({"address": server.address, "key": KEY})
            child.hear()
            for fixture in fixtures[::step][: run.amounts.agent_turns]:
                store = Store(dev.toolsets[fixture.toolset])
                yield fixture.id, _turn(child, fixture, store)
    finally:
        server.close()


def _turn(child: Child, fixture: Fixture, store: Store) -> Mapping[str, Any]:
    facts = "".join(f"\n{name}: {value}" for name, value in (fixture.facts or {}).items())
    child.say(
        {
            "ask": fixture.turns[0].ask,
            "instructions": f"You help one user with the tools you have. Be brief.{facts}",
            "tools": [
                {name: spec[name] for name in ("name", "description", "parameters")}
                for spec in store.specs.values()
            ],
        }
    )
    while True:
        told = child.hear()
        if "done" in told:
            done: Mapping[str, Any] = told["done"]
            return done
        call = told["call"]
        try:
            result = store.call(call["tool"], dict(call["arguments"]))
        except (RefusedCall, KeyError, TypeError, ValueError) as error:
            result = f"failed: {error}"
        child.say({"result": result})
