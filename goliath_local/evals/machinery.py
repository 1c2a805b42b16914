"""Whether every part of a turn runs on real weights, whatever the model says.

Edge: drives the agent. Four little arrangements make every class of event happen with any model,
however bad: plans are replaced by a hook, one reply is blanked, one memory cannot save. All
stages ask the model, and what it writes goes through every check.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, get_args

from goliath_local.agent import create_agent
from goliath_local.evals.scene import watched
from goliath_local.events import Event
from goliath_local.extensions import Extension
from goliath_local.memory import in_memory
from goliath_local.model import CountingModel
from goliath_local.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from goliath_local.model import Capabilities, Model, PromptTokens, Reply, Request
    from goliath_local.records import MemoryState
    from goliath_local.tools import Tool

EVENTS: tuple[str, ...] = tuple(
    sorted(
        str(part.default)
        for kind in get_args(Event)
        for part in fields(kind)
        if part.name == "type"
    )
)
"""Every class of event that a trace can hold."""

MOST_TOKENS = 48
"""Of a reply in prose."""

MOST_TITLE = 40
"""Characters of the one text argument."""

_ASKS = ("Good morning!", "What is on my list?", "Thank you.", "Anything else?", "Bye.")
_NO_ROOM = "no room on the disk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machinery:
    """What happened."""

    events: Counter[str] = field(default_factory=Counter)
    invalid: list[str] = field(default_factory=list)
    """Arguments that reached a tool without fitting its schema."""

    crashes: list[str] = field(default_factory=list)

    @property
    def missing(self) -> tuple[str, ...]:
        """Classes of events that did not happen."""
        return tuple(name for name in EVENTS if not self.events[name])


async def run_machinery(model: Model) -> Machinery:
    """Play the arrangements and return what happened; a turn that raises is noted."""
    found = Machinery()
    for arrange in (_all_tools, _long_talk, _stumble, _hand_over):
        try:
            await arrange(model, found)
        except Exception as error:  # noqa: BLE001 - that a turn raises is what is looked for
            found.crashes.append(f"{arrange.__name__[1:]}: {type(error).__name__}: {error}")
    return found


async def _all_tools(model: Model, found: Machinery) -> None:
    plans = iter(["list_tasks", "create_task", "tidy_up", None])
    agent = _agent(model, found, plans, memory=lambda _id: _FullDisk())
    _count(found, await agent.run("Put eggs on my list and tidy it up."))


async def _long_talk(model: Model, found: Machinery) -> None:
    """Answer until an exchange falls off and the scribe has to fold it."""
    agent = _agent(model, found, iter([None] * len(_ASKS)))
    for ask in _ASKS:
        _count(found, await agent.run(ask))


async def _stumble(model: Model, found: Machinery) -> None:
    agent = _agent(model, found, iter([None]), loses_first=True)
    _count(found, await agent.run("Good morning!"))


async def _hand_over(model: Model, found: Machinery) -> None:
    agent = _agent(model, found, iter(["list_tasks"] * 2), max_steps=1)
    _count(found, await agent.run("What is on my list?"))


def _agent(
    model: Model,
    found: Machinery,
    plans: Iterator[str | None],
    *,
    loses_first: bool = False,
    **options: Any,
) -> Any:
    def steer(data: Any) -> dict[str, Any] | None:
        name = next(plans, None)
        if name is None:
            return {"plan": {"kind": "answer", "brief": "answer the user"}}
        return {"plan": {"kind": "tool", "tool": name, "brief": data.plan.brief}}

    return create_agent(
        model=_terse(model, loses_first=loses_first),
        tools=[watched(tool, found.invalid.append) for tool in _tools()],
        confirm=lambda _request: True,
        fallback=lambda _request, **_more: {"text": "handed over"},
        extensions=[Extension(name="steer", after_plan=steer)],
        **options,
    )


def _count(found: Machinery, result: Any) -> None:
    found.events.update(event.type for event in result.trace)


def _tools() -> Sequence[Tool]:
    tasks = ["buy milk", "call mom"]

    def create(arguments: Any, _context: Any) -> str:
        tasks.append(arguments["title"])
        return "added"

    title = {"type": "string", "description": "what is to be done", "maxLength": MOST_TITLE}
    when = {"type": "string", "enum": ["today", "tomorrow", "later"]}
    return (
        _tool("list_tasks", "The user's open tasks.", lambda _args, _context: list(tasks)),
        _tool(
            "create_task",
            "Put a new task on the list.",
            create,
            writes=True,
            parameters={
                "type": "object",
                "properties": {"title": title, "when": when},
                "required": ["title", "when"],
                "additionalProperties": False,
            },
        ),
        _tool("tidy_up", "Sort the list.", lambda _args, _context: "sorted", writes=True),
    )


def _tool(name: str, about: str, execute: Callable[..., Any], **options: Any) -> Tool:
    return define_tool(name=name, description=about, execute=execute, **options)


class _FullDisk:
    """A memory that cannot be saved."""

    async def load(self) -> MemoryState:
        return await in_memory().load()

    async def save(self, state: MemoryState) -> None:
        del state
        raise OSError(_NO_ROOM)


class _Terse:
    """A model that is let say little in prose, since what it says is worth nothing here.

    Its first reply is lost where that is wanted, so that a retry follows.
    """

    def __init__(self, model: Model, *, loses_first: bool = False) -> None:
        self._model, self._loses_next = model, loses_first

    async def generate(self, request: Request) -> Reply:
        if request.schema is None:
            request = replace(request, max_tokens=min(MOST_TOKENS, request.max_tokens))
        reply = await self._model.generate(request)
        if self._loses_next:
            self._loses_next = False
            return replace(reply, text="")
        return reply


class _TerseCounting(_Terse):
    """The same for a model that counts, which is asked otherwise."""

    def __init__(self, model: CountingModel, *, loses_first: bool = False) -> None:
        super().__init__(model, loses_first=loses_first)
        self._counting = model

    def capabilities(self) -> Capabilities:
        return self._counting.capabilities()

    def count_text(self, text: str) -> int:
        return self._counting.count_text(text)

    def count_request(self, request: Request) -> PromptTokens:
        return self._counting.count_request(request)


def _terse(model: Model, *, loses_first: bool = False) -> Model:
    if isinstance(model, CountingModel):
        return _TerseCounting(model, loses_first=loses_first)
    return _Terse(model, loses_first=loses_first)
