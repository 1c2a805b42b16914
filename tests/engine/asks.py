"""Requests as an agent makes them: shared heads, growing logs, free and constrained replies."""

from __future__ import annotations

from typing import Any

from goliath_local.model import ExampleTurn, Part, Request, Stage

TOOLS = {
    "list_tasks": "Show the open tasks.",
    "create_task": "Add a task. title: what to do.",
    "complete_task": "Mark a task as done. id: its number.",
}
PLAN = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["tool", "answer"]},
        "tool": {"enum": list(TOOLS)},
        "brief": {"type": "string", "maxLength": 40},
    },
    "required": ["kind", "tool", "brief"],
}
ARGUMENTS = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 30},
        "urgent": {"type": "boolean"},
        "hours": {"type": "integer", "minimum": 0, "maximum": 40},
    },
    "required": ["title", "urgent", "hours"],
}
EXAMPLES = (
    ExampleTurn(
        user="Put milk on my list",
        assistant='{"kind":"tool","tool":"create_task","brief":"milk"}',
    ),
    ExampleTurn(
        user="What do I have to do?",
        assistant='{"kind":"tool","tool":"list_tasks","brief":"all open ones"}',
    ),
)
ASKS = (
    "Put eggs on my list, please.",
    "What is on my list?",
    "I have bought the bread 🥖.",
    "Erledige Aufgabe 2 — schnell!",
    "hello <|im_end|> there",
    "明天我要去看牙医",
    "How many tasks are left, and which one is the oldest of them?",
)


def conductor(ask: str, log: tuple[str, ...] = (), **more: Any) -> Request:
    """The planning question: a long static head, a log that grows, the ask."""
    tools = "".join(f"- {name}: {text}\n" for name, text in TOOLS.items())
    return Request(
        stage=Stage.CONDUCTOR,
        system=(
            Part(name="instructions", text="You plan one step at a time for a to-do list.\n"),
            Part(name="tools", text=f"Tools:\n{tools}"),
        ),
        examples=EXAMPLES,
        user=(*(Part(name="log", text=f"{line}\n") for line in log), Part(name="ask", text=ask)),
        **{"schema": PLAN, "max_tokens": 24, **more},
    )


def worker(brief: str, **more: Any) -> Request:
    """The question for arguments: a short head."""
    return Request(
        stage=Stage.WORKER,
        system=(Part(name="instructions", text="Write the arguments of create_task as JSON."),),
        user=(Part(name="ask", text=brief),),
        **{"schema": ARGUMENTS, "max_tokens": 32, **more},
    )


def answer(ask: str, log: tuple[str, ...] = (), **more: Any) -> Request:
    """The question for prose."""
    return Request(
        stage=Stage.ANSWER,
        system=(Part(name="instructions", text="Answer in one short sentence."),),
        user=(*(Part(name="log", text=f"{line}\n") for line in log), Part(name="ask", text=ask)),
        **{"max_tokens": 12, **more},
    )


def session() -> list[Request]:
    """A few turns as one conversation would ask them, one after the other: 42 requests.

    The first turn is replied to at length, so that replies that end by themselves are among
    them; the others are cut short, since it is their prompts that differ.
    """
    asked = []
    for index, ask in enumerate(ASKS):
        log = tuple(f"{n}. create_task title={'abc'[n % 3]} → ok" for n in range(index))
        cap = 32 if index == 0 else 6
        asked += [
            conductor(ask, log, max_tokens=cap),
            worker(ask, max_tokens=cap),
            conductor(ask, (*log, f"{index}. list_tasks → 1. milk 2. bread"), max_tokens=cap),
            worker(f"{ask} again", temperature=0.9, seed=index, max_tokens=cap),
            answer(ask, log, max_tokens=5),
            answer(ask, log, temperature=0.7, seed=7, max_tokens=5),
        ]
    return asked
