"""A kept attempt as lines a person reads: what was wrong, the steps, prompts and replies.

Pure.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goliath_local.evals.results import Kept

_ONE_LINE = 160


def kept_lines(kept: Kept, *, with_prompts: bool) -> Iterator[str]:
    """Yield the attempt line by line.

    Args:
        kept: the attempt.
        with_prompts: every prompt in full; else only what the model replied.
    """
    word = "PASS" if kept.passed else "FAIL"
    yield f"{word}  {kept.id}  run {kept.run}  {kept.verdict}  {kept.ms / 1000:.1f} s"
    yield from (f"  wrong   {text}" for text in kept.problems)
    yield from (f"  INVALID {text}" for text in kept.raw.get("invalidCalls", ()))
    for turn in kept.raw.get("turns", ()):
        yield from _turn_lines(turn)
    for number, call in enumerate(kept.raw.get("calls", ()), start=1):
        yield from _call_lines(number, call, with_prompts=with_prompts)


def about_lines(about: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a record was made with, line by line."""
    model = about.get("model") or {}
    yield f"set      {about.get('set')}, played by {about.get('player')}"
    yield f"model    {model.get('name')}  sha256 {_short(model.get('sha256'))}"
    yield f"prompts  {_short(about.get('prompts'))}"
    yield f"seed     {about.get('seed')}  commit {_short(about.get('commit'))}"


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return in what two records were made differently: a name and both values, each."""
    rows = [
        ("set", before.get("set"), after.get("set")),
        ("player", before.get("player"), after.get("player")),
        ("model", _model(before), _model(after)),
        ("prompts", _short(before.get("prompts")), _short(after.get("prompts"))),
        ("seed", before.get("seed"), after.get("seed")),
        ("commit", _short(before.get("commit")), _short(after.get("commit"))),
    ]
    return [f"{name}: {old} → {new}" for name, old, new in rows if old != new]


def _turn_lines(turn: Mapping[str, Any]) -> Iterator[str]:
    if "ask" in turn:
        yield f"  ask     {_clipped(turn['ask'])}"
    for step in turn.get("steps", ()):
        if step.get("kind") == "tool":
            yield f"  step {step['index'] + 1}  {step.get('tool')}  {_arguments(step)}".rstrip()
            yield f"          → {_status(step)}{_clipped(step.get('result') or '')}"
    reasons = ", ".join(turn.get("reasons", ()))
    yield f"  answer  {_clipped(turn.get('text', ''))}"
    yield f"  ended   {turn.get('handledBy')}{f' ({reasons})' if reasons else ''}"


def _call_lines(number: int, call: Mapping[str, Any], *, with_prompts: bool) -> Iterator[str]:
    usage = call.get("usage") or {}
    yield (
        f"  call {number}  {call['stage']}  {call.get('seconds', 0):.2f} s  prompt "
        f"{usage.get('prompt_tokens', 0):,} tokens, {usage.get('evaluated_tokens', 0):,} evaluated"
    )
    if with_prompts:
        yield from _prompt_lines(call)
    for choice in call.get("choices") or ():
        yield f"    choice  {choice['path']} = {choice['value']}  {choice['share']:.0%}"
    said = call.get("text")
    yield f"    reply   {said}" if said is not None else f"    error   {call.get('error')}"


def _prompt_lines(call: Mapping[str, Any]) -> Iterator[str]:
    yield "    [system]"
    yield call["system"]
    for user, assistant in call.get("examples", ()):
        yield "    [example]"
        yield f"{user}\n→ {assistant}"
    yield "    [user]"
    yield call["user"]


def _arguments(step: Mapping[str, Any]) -> str:
    pairs = (step.get("input") or {}).items()
    return _clipped(" ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in pairs))


def _status(step: Mapping[str, Any]) -> str:
    for word in ("skipped", "cached", "failed"):
        if step.get(word):
            return f"{word}: "
    return ""


def _clipped(text: str) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= _ONE_LINE else f"{line[: _ONE_LINE - 1]}…"


def _model(about: Mapping[str, Any]) -> str:
    model = about.get("model") or {}
    return f"{model.get('name')} {_short(model.get('sha256'))}"


def _short(text: object) -> str:
    return f"{text[:12]}{'+' if text.endswith('+') else ''}" if isinstance(text, str) else "—"
