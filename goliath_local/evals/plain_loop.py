"""The plain loop that the harness is measured against: what anyone would write first.

Edge: drives a model and runs tools. All tools stand in the prompt, results come back as user
turns, until the model answers or the steps are used up. No stages, no judge, no examples.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goliath_local.cancel import CancelToken
from goliath_local.errors import ContextFull, InvalidValue
from goliath_local.evals.plain_forms import JsonForm
from goliath_local.evals.score import TurnOutcome
from goliath_local.model import ExampleTurn
from goliath_local.records import Reason, StepRecord
from goliath_local.schema import dump
from goliath_local.tools import ResultBudget, ToolContext, check_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.evals.plain_forms import Form, Said, Wish
    from goliath_local.model import Model
    from goliath_local.tools import Tool

MAX_STEPS = 5
HANDED_OVER = "Somebody else takes care of this."


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainLoop:
    """A conversation with the plain loop."""

    model: Model
    tools: tuple[Tool, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    form: Form = field(default_factory=JsonForm)
    history: tuple[ExampleTurn, ...] = ()
    evaluated_tokens: int = 0

    async def run(self, ask: str) -> tuple[TurnOutcome, PlainLoop]:
        """Play one ask; return how it went and the loop with the turn in its history."""
        steps: list[StepRecord] = []
        loop, user = self, ask
        for _ in range(MAX_STEPS):
            request = self.form.request(self.tools, self.facts, history=loop.history, user=user)
            try:
                reply = await self.model.generate(request)
            except ContextFull:
                return _handed_over(steps, Reason.CONTEXT_BUDGET), self
            said = self.form.read(reply)
            loop = loop._after(user, reply.text, tokens=reply.usage.evaluated_tokens)
            if not said.calls:
                return _ended(said, steps, is_cut=reply.finish == "length"), loop
            done = [await self._step(len(steps) + n, wish) for n, wish in enumerate(said.calls)]
            steps += done
            user = self.form.told([(step.tool or "", step.result or "") for step in done])
        return _handed_over(steps, Reason.TOO_MANY_STEPS), loop

    def _after(self, user: str, assistant: str, *, tokens: int) -> PlainLoop:
        turn = ExampleTurn(user=user, assistant=assistant)
        return replace(
            self,
            history=(*self.history, turn),
            evaluated_tokens=self.evaluated_tokens + tokens,
        )

    async def _step(self, index: int, wish: Wish) -> StepRecord:
        tool = next((tool for tool in self.tools if tool.name == wish.tool), None)
        record = StepRecord(
            index=index, kind="tool", brief="", tool=wish.tool, input=dict(wish.arguments)
        )
        if tool is None:
            text = f"There is no tool {wish.tool}."
            return replace(record, result=text, failed=True, skipped=True)
        record = replace(record, writes=tool.writes)
        try:
            output = tool.execute(check_arguments(tool, dict(wish.arguments)), _context())
            if inspect.isawaitable(output):
                output = await output
        except InvalidValue as error:
            # The call never reached the tool.
            return replace(record, result=str(error), failed=True, skipped=True)
        except Exception as error:  # noqa: BLE001 - a tool's refusal is the model's to read
            return replace(record, result=f"failed: {error}", failed=True)
        return replace(record, result=json.dumps(dump(output), ensure_ascii=False))


def _ended(said: Said, steps: Sequence[StepRecord], *, is_cut: bool) -> TurnOutcome:
    if said.hands_over:
        return _handed_over(steps, Reason.CONDUCTOR_ASKED)
    return TurnOutcome(text=said.answer, handled_by="device", steps=tuple(steps), is_cut=is_cut)


def _handed_over(steps: Sequence[StepRecord], reason: Reason) -> TurnOutcome:
    return TurnOutcome(
        text=HANDED_OVER, handled_by="cloud", steps=tuple(steps), reasons=(reason.value,)
    )


def _context() -> ToolContext:
    return ToolContext(
        conversation_id=None,
        context=None,
        cancel=CancelToken(),
        result_budget=ResultBudget(max_tokens=800, count_tokens=len),
        steps=(),
        recent=(),
    )
