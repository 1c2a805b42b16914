"""Worked examples for every stage of a model whose replies are decoded here.

Pure, over the package's own file. An example turn has the form of the real one: schema, facts,
log and ask in the same places. Only the menu of a planning example is short: the names of its
tools, since whole menus of other tools led a small model to take those.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from goliath_local.model import ExampleTurn
from goliath_local.prompts.compare import comparisons, exception_rule, named_rows, standouts
from goliath_local.prompts.known import known_already
from goliath_local.prompts.log import changes_made, exchange_parts, log_line
from goliath_local.prompts.menu import fact_lines, schema_lines
from goliath_local.prompts.render import render
from goliath_local.records import Exchange, StepRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from goliath_local.records import Want

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@cache
def plan_turns(
    max_steps: int, *, most_tokens: int, count: Callable[[str], int]
) -> tuple[ExampleTurn, ...]:
    """Return the planning examples, whole ones as far as the tokens go.

    Each step of each is a turn of its own.
    """
    kept: list[ExampleTurn] = []
    left = most_tokens
    for example in _file()["plans"]:
        turns = [
            ExampleTurn(
                user=_plan_user(example, index, max_steps=max_steps),
                assistant=_compact(_plan(step)),
            )
            for index, step in enumerate(example["steps"])
        ]
        left -= sum(count(turn.user) + count(turn.assistant) for turn in turns)
        if left < 0:
            break
        kept += turns
    return tuple(kept)


@cache
def argument_turns() -> tuple[ExampleTurn, ...]:
    """Return the examples of filling in arguments."""
    return tuple(
        ExampleTurn(user=_argument_user(example), assistant=_compact(example["reply"]))
        for example in _file()["arguments"]
    )


@cache
def answer_turns() -> tuple[ExampleTurn, ...]:
    """Return the examples of answering in prose."""
    return tuple(
        ExampleTurn(user=_answer_user(example), assistant=example["reply"])
        for example in _file()["answers"]
    )


def done_just_now(records: Iterable[StepRecord], *, latest: int | None = None) -> str:
    """Return the sentence that names the changes of this turn, empty if there are none.

    Args:
        records: the turn's steps.
        latest: name so many of the last ones; the log tells all.
    """
    return changes_made(records, text="guided.done", with_brief=True, latest=latest)


def seen_by_code(ask: str, records: Sequence[StepRecord], *, is_conditional: bool) -> str:
    """Return what code sees in the last lookup: the entries named, how the numbers compare.

    Args:
        ask: what is wanted.
        records: the turn's steps.
        is_conditional: the ask is for a change that depends on something.
    """
    reads = [step for step in records if step.status == "completed" and not step.writes]
    if not reads:
        return ""
    result = reads[-1].result or ""
    lines = [named_rows(ask, result) or standouts(result)]
    if is_conditional:
        lines += [comparisons(ask, [result]), exception_rule(ask)]
    return "\n".join(filter(None, lines))


def draft_lines(brief: str, why: str, *, done: Sequence[StepRecord], want: Want | None) -> str:
    """Return what the answer stage is told of the turn besides its log.

    What was changed, or that nothing was; what was planned to be said only where there is no
    result: a small model reads results better for an answer than for a plan, and one that has
    just changed something plans to say that it was so before.
    """
    changes = done_just_now(done)
    if changes:
        return changes
    reason = [render("guided.reason", why=why)] if why else []
    if want in {"change", "change-if"}:
        return "\n".join([*reason, render("guided.unchanged")])
    if any(step.status == "completed" for step in done):
        return ""
    return "\n".join([*reason, render("guided.draft", brief=brief)])


@cache
def example_dates() -> frozenset[str]:
    """Return the dates of the examples, which a small model copies where it knows none."""
    return frozenset(_DATE.findall(json.dumps(dict(_file()))))


@cache
def _file() -> Mapping[str, Any]:
    source = files("goliath_local.prompts") / "texts" / "guided.json"
    found: Mapping[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    return found


def _plan_user(example: Mapping[str, Any], index: int, *, max_steps: int) -> str:
    done = _records(example["steps"][:index])
    recent = [Exchange(ask=a, answer=b, at=0) for a, b in example.get("recent", ())]
    facts = example.get("facts", {})
    is_conditional = example["steps"][0]["want"] == "change-if"
    return _joined(
        render("conductor.example-tools", names=", ".join(example["tools"])),
        fact_lines(facts),
        _recent(recent),
        _log(done),
        seen_by_code(example["ask"], done, is_conditional=is_conditional),
        done_just_now(done),
        known_already(example["ask"], facts, recent) if not index else "",
        render("conductor.counter", number=index + 1, max_steps=max_steps),
        render("shared.ask", ask=example["ask"]) + "\n" + render("conductor.choose"),
    )


def _argument_user(example: Mapping[str, Any]) -> str:
    return _joined(
        fact_lines(example.get("facts", {})),
        render("worker.schema", lines=schema_lines(example["schema"]), tool=example["tool"]),
        _log(_records(example.get("steps", ()))),
        render("guided.order", brief=example["order"])
        + "\n"
        + render("shared.ask", ask=example["ask"]),
    )


def _answer_user(example: Mapping[str, Any]) -> str:
    done = _records(example["steps"])
    return _joined(
        _log(done),
        seen_by_code(example["ask"], done, is_conditional=example.get("want") == "change-if"),
        _joined_lines(
            draft_lines(example["draft"], example["reason"], done=done, want=example.get("want")),
            render("shared.ask", ask=example["ask"]),
        ),
    )


def _recent(exchanges: Iterable[Exchange]) -> str:
    spoken = ["\n".join(exchange_parts(exchange)) for exchange in exchanges]
    return "\n".join([render("shared.recent"), *spoken]) if spoken else ""


def _log(records: Sequence[StepRecord]) -> str:
    return "\n".join([render("shared.log"), *map(log_line, records)]) if records else ""


def _records(steps: Iterable[Mapping[str, Any]]) -> list[StepRecord]:
    return [_record(index, step) for index, step in enumerate(steps)]


def _record(index: int, step: Mapping[str, Any]) -> StepRecord:
    missing = step.get("missing")
    return StepRecord(
        index=index,
        kind="tool",
        brief=step.get("brief", ""),
        tool=step["tool"],
        input=step.get("input", {}),
        result=render("results.missing", names=missing) if missing else step["result"],
        writes=step.get("writes", False),
        skipped=bool(missing),
    )


def _plan(step: Mapping[str, Any]) -> dict[str, str]:
    kind = next(kind for kind in ("tool", "answer", "escalate") if kind in step)
    plan = {
        "want": step.get("want"),
        "why": step.get("why"),
        "kind": kind,
        "tool": step.get("names", step.get("tool")),
        "brief": step["brief"] if kind == "tool" else step[kind],
    }
    if step.get("want"):
        plan["tool"] = plan.pop("tool")
    return {key: value for key, value in plan.items() if value is not None}


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _joined_lines(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
