"""Whether a cache changes the answer: the same greedy request, cold and warm, on each engine.

Edge. Cold: nothing of earlier prompts is reused. Warm: the same question again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.answers import Failed
from bench.measures import Measure
from bench.peer_binding import Binding
from bench.peer_server import Server
from bench.recorded import varied
from bench.run import skipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from bench.run import Run
    from goliath_local.model import Request

SECTION = "sameness"


def measure(run: Run) -> Iterator[Measure]:
    """Yield how many replies differ on each engine."""
    requests = varied(run.requests, run.amounts.same_requests)
    yield _measure("ours", requests, _ours_differ(run, requests))
    for start in (Binding, Server):
        found = _peer_differs(start, run, requests)
        if found is not None:
            asked, differing = found
            yield _measure(start.__name__.lower(), requests[:asked], differing)


def _measure(who: str, requests: Sequence[Request], differing: int) -> Measure:
    return Measure(
        section=SECTION,
        name=f"replies that differ, cold and warm: {who}",
        unit="count",
        samples=(differing,),
        note=f"of {len(requests)} requests",
    )


def _ours_differ(run: Run, requests: Sequence[Request]) -> int:
    with run.ours(fresh=True, on_disk=False) as ours:
        cold = [ours.ask(request).text for request in requests]
    with run.ours(on_disk=False) as ours:
        warm = []
        for request in requests:
            ours.ask(request)
            warm.append(ours.ask(request).text)
    return sum(one != other for one, other in zip(cold, warm, strict=True))


def _peer_differs(
    start: Callable[..., Any], run: Run, requests: Sequence[Request]
) -> tuple[int, int] | None:
    """Return how many were asked and how many differ; None when it cannot be asked."""
    try:
        peer = start(run.subject)
    except (Failed, ImportError) as error:
        skipped(start.__name__, error)
        return None
    asked = differing = 0
    try:
        for request in requests:
            try:
                cold, warm = peer.ask(request, cold=True), peer.ask(request)
            except Failed as error:
                skipped(f"a request on the {peer.name}", error)
                continue
            asked += 1
            differing += cold.text != warm.text
    finally:
        peer.close()
    return asked, differing
