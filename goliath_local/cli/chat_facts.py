"""What a chat says of itself: first line, resumed conversation, figures, the next prompt's bill.

Pure, but for `next_bill`, which asks the tokenizer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.cli.outcome import MEANINGS
from goliath_local.cli.probe import bill, bill_lines, first_request
from goliath_local.cli.session import facts
from goliath_local.cli.talk import ago
from goliath_local.cli.version import own_version
from goliath_local.cli.visible import clipped_line

if TYPE_CHECKING:
    from goliath_local.cli.ready import Ready
    from goliath_local.cli.session import Parts
    from goliath_local.cli.show import Tally
    from goliath_local.cli.talk import Chosen
    from goliath_local.harness import RunResult
    from goliath_local.memory import Memory
    from goliath_local.records import MemoryState

_COLUMNS = 70


def headline(parts: Parts) -> str:
    """Return the first line of a chat."""
    ready = parts.ready
    pieces = [f"goliath-local {own_version()}", ready.label, f"window {ready.window:,}"]
    if ready.threads:
        pieces.append(f"{ready.threads} thread{'' if ready.threads == 1 else 's'}")
    asking = sum(tool.writes or tool.requires_confirmation for tool in parts.tools)
    verb = "asks" if asking == 1 else "ask"
    ask_first = f" ({asking} {verb} first)" if asking else ""
    return " · ".join([*pieces, f"tools: {len(parts.tools)}{ask_first}"])


def resumed(chosen: Chosen, state: MemoryState, *, now_s: float) -> list[str]:
    """Return which conversation goes on, and what was said last in it."""
    when = ago(now_s - (chosen.saved_at or now_s))
    lines = [f"Resuming {chosen.id}, last used {when}. /new begins another."]
    for exchange in state.recent[-1:]:
        lines.append(f"  you>  {clipped_line(exchange.ask, _COLUMNS)}")
        lines.append(f"        {clipped_line(exchange.answer, _COLUMNS)}")
    return lines


def handed_over(result: RunResult, fallback: str | None) -> list[str]:
    """Return who answered in place of this device and why, as lines; none when nobody did."""
    if result.handled_by == "device":
        return []
    why = f", since {MEANINGS[result.reason].words}" if result.reason is not None else ""
    return [f"Answered by {fallback or 'the fallback'}{why}."]


def figures(tally: Tally) -> list[str]:
    """Return what a turn cost, as lines."""
    speed = f"{tally.tokens_per_s:.1f} tok/s" if tally.tokens_per_s else "not timed"
    prompt = f"{tally.prompt_tokens:>7,} tokens, {tally.evaluated_tokens:,} evaluated"
    reply = f"{tally.completion_tokens:>7,} tokens, {tally.forced_tokens:,} forced, {speed}"
    lines = [f"prompts {prompt}", f"replies {reply}"]
    if tally.confidence is not None:
        lines.append(f"right   {tally.confidence:>6.0%} likely, as turns like this one went")
    return lines


def model_lines(ready: Ready) -> list[str]:
    """Return what is known of the model, as lines."""
    return [
        ready.label,
        f"sha256 {ready.sha256 or 'not pinned'}",
        f"window {ready.window:,} tokens, loaded in {ready.load_s:.1f} s",
    ]


async def next_bill(parts: Parts, memory: Memory) -> list[str]:
    """Return what the next prompt costs before the ask, as lines."""
    request = await first_request(
        "",
        parts.tools,
        model=parts.ready.model,
        window=parts.ready.window,
        max_steps=parts.settings.max_steps,
        facts=facts,
        memory=memory,
    )
    return bill_lines(bill(parts.ready.model, request), window=parts.ready.window)
