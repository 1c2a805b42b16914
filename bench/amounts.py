"""How much is measured: a quick look, the usual run, or everything the targets ask for.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """Counts of one run."""

    turns: int
    """Whole turns, ours and the server's."""

    binding_turns: int
    """Of these, how many the binding replays too: it is slow."""

    agent_turns: int
    again_turns: int
    """Turns that are asked a second time, word for word."""

    starts: int
    """New processes, of each kind."""

    same_requests: int
    constraint_requests: int
    """Plans, and as many replies of three or more fields."""

    rounds: int
    """Repetitions where a median is taken."""

    decode_tokens: int
    growth_steps: tuple[int, ...]
    memory_tokens: tuple[int, ...]


QUICK = Amounts(
    turns=3,
    binding_turns=1,
    agent_turns=1,
    again_turns=1,
    starts=1,
    same_requests=6,
    constraint_requests=2,
    rounds=2,
    decode_tokens=24,
    growth_steps=(3,),
    memory_tokens=(0, 256),
)

USUAL = Amounts(
    turns=30,
    binding_turns=10,
    agent_turns=4,
    again_turns=6,
    starts=3,
    same_requests=60,
    constraint_requests=4,
    rounds=5,
    decode_tokens=96,
    growth_steps=(1, 2, 4, 8, 12),
    memory_tokens=(0, 128, 256, 512),
)

FULL = Amounts(
    turns=30,
    binding_turns=30,
    agent_turns=30,
    again_turns=30,
    starts=5,
    same_requests=200,
    constraint_requests=8,
    rounds=5,
    decode_tokens=128,
    growth_steps=tuple(range(1, 13)),
    memory_tokens=(0, 64, 128, 256, 384, 512),
)

PRESETS = {"quick": QUICK, "usual": USUAL, "full": FULL}
