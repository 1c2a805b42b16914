"""How well do asks fit their tools, and does that tell the ones that need none?

`python -m evals.fits [SET …] [--model NAME]`: the first asks of the sets, each weighed behind
every tool of its set (docs/decisions/0027). Says the area under ROC by kind, and the lowest fits.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

from goliath_local.catalogue import locate_model, models_dir
from goliath_local.errors import GoliathError
from goliath_local.evals.loading import load_for_eval
from goliath_local.evals.reliability import area_under_roc
from goliath_local.evals.scene import open_scene
from goliath_local.evals.sets import read_set
from goliath_local.harness.fitting import in_short, scoring_of
from goliath_local.prompts import render


async def best_fit(model, fixture, toolsets) -> tuple[str, float]:
    """Return the tool that the first ask fits best, and by how many nats more than any."""
    tools = open_scene(fixture, toolsets).tools
    descriptions = [render("guided.fitting-any"), *map(in_short, tools)]
    anything, *nats = await model.score(scoring_of(fixture.turns[0].ask, descriptions))
    best = max(range(len(tools)), key=lambda index: nats[index])
    return tools[best].name, nats[best] - anything


async def weigh(model, names) -> list[tuple[float, str, bool, str, str]]:
    """Return fit, kind, whether a tool is expected, id and best tool of each fixture."""
    found = []
    for name in names:
        chosen = read_set(name)
        for fixture in chosen.fixtures:
            tool, nats = await best_fit(model, fixture, chosen.toolsets)
            needs_tool = all(fixture.turns[0].sequences)
            found.append((nats, fixture.kind, needs_tool, fixture.id, tool))
            print(f"{nats:6.1f}  {fixture.id:34} {tool}", file=sys.stderr)
    return found


def show(found) -> None:
    """Print the areas."""
    fitting = [nats for nats, _, needs_tool, _, _ in found if needs_tool]
    print(
        f"{len(fitting)} asks with a tool, lowest fits {sorted(round(x, 1) for x in fitting)[:5]}"
    )
    for kind in sorted({kind for _, kind, needs_tool, _, _ in found if not needs_tool}):
        lost = [nats for nats, its, needs_tool, _, _ in found if its == kind and not needs_tool]
        area = area_under_roc(
            [-nats for nats in (*lost, *fitting)], [True] * len(lost) + [False] * len(fitting)
        )
        print(f"{kind:16} {len(lost):3} without a tool, area under ROC {area:.3f}")


def main() -> int:
    """Weigh the sets."""
    parser = argparse.ArgumentParser(prog="python -m evals.fits", description=__doc__)
    parser.add_argument("sets", nargs="*", default=["dev", "second"])
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    args = parser.parse_args()
    with load_for_eval(locate_model(args.model, models_dir())) as model:
        show(asyncio.run(weigh(model, args.sets)))
    return 0


if __name__ == "__main__":
    try:
        code = main()
    except GoliathError as error:
        sys.exit(f"{error}")
    sys.exit(code)
