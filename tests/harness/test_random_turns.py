"""Turns in which everything around the harness does as it likes.

A state machine over conversations: the model plans, fills in and answers at random or fails in
every way it can; tools return, raise and cancel; somebody approves, declines, raises or cancels;
the fallback, the memory and an extension misbehave. What has to hold is checked after each turn.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from goliath_local.agent import create_agent
from goliath_local.cancel import CancelToken
from goliath_local.errors import (
    ContextFull,
    ExtensionError,
    FallbackError,
    InvalidOutput,
    ModelRefused,
    ModelUnavailable,
    RunCancelled,
)
from goliath_local.extensions import Deny, Skip, Stop
from goliath_local.memory import in_memory
from goliath_local.model import Choice, Reply, Stage
from goliath_local.tools import define_tool
from tests.levers import many

WORDS = ["basil", "fern"]
WRITES = ("write", "wipe")
STATUSES = {"completed", "failed", "skipped", "cached"}


class AppError(Exception):
    """Something the application's own code raises."""


class World:
    """Everything around one agent; each turn draws from its own data."""

    def __init__(self, *, confirms, falls_back, extended):
        self.chance = None
        self.memories = {}
        self.agent = create_agent(
            model=self,
            tools=self._tools(),
            memory=self._memory,
            confirm=self.confirm if confirms else None,
            fallback=self.fall_back if falls_back else None,
            extensions=[self._extension()] if extended else [],
            max_steps=4,
            min_confidence=0.2,
        )
        self.confirms = confirms

    def begin(self, chance):
        self.chance = chance
        self.token = CancelToken()
        self.ran, self.approved, self.finished, self.failures = [], [], [], []
        self.handed_over = 0

    def draw(self, options):
        return self.chance.choice(options)

    # the model

    async def generate(self, request):
        self._maybe_cancel(20)
        failure = self.draw([None] * 60 + ["error", "refused", "full", "gone", "invalid"])
        if failure is not None:
            raise {
                "error": RuntimeError("no"),
                "refused": ModelRefused("no"),
                "full": ContextFull(needed_tokens=2, limit_tokens=1, window_tokens=3),
                "gone": ModelUnavailable("no"),
                "invalid": InvalidOutput("no"),
            }[failure]
        if request.stage is Stage.CONDUCTOR:
            return self._plan()
        if request.stage is Stage.WORKER:
            return Reply(text=self._arguments())
        return Reply(text=self.draw(["Fine.", " It is done. ", "", "Goal: plants"]))

    def _plan(self):
        kind = self.draw(["tool"] * 8 + ["answer", "answer", "escalate", "garbage"])
        if kind == "garbage":
            return Reply(text=self.draw(["", "no", "{", "[]", '{"kind":"tool","brief":"x"}']))
        plan = {"kind": kind, "brief": self.draw(["do it", ""])}
        if kind == "tool":
            plan["tool"] = self.draw(["look", "find", "write", "wipe", "use", "fly"])
        share = self.draw([1.0] * 20 + [0.9, 0.5, 0.1])
        choice = Choice(path="/kind", value=kind, share=share)
        return Reply(text=json.dumps(plan), choices=(choice,))

    def _arguments(self):
        word = self.draw(WORDS)
        return self.draw(
            [json.dumps({"word": word})] * 8
            + ["{}", "", json.dumps({"word": 3}), json.dumps({"word": "", "missing": "word"})]
        )

    # the application

    def _tools(self):
        word = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
        nothing = {"type": "object", "properties": {}}

        def made(name, parameters, **options):
            async def execute(arguments, _context):
                self.ran.append((name, json.dumps(arguments, sort_keys=True)))
                self._maybe_cancel(20)
                said = self.draw(["ok", "ok", "ok", "raise", "thing", "long"])
                if said == "raise":
                    raise AppError("the tool broke")
                return {"ok": {"ok": True}, "thing": object(), "long": "x" * 3000}[said]

            return define_tool(
                name=name,
                description=f"{name}.",
                parameters=parameters,
                execute=execute,
                **options,
            )

        return [
            made("look", nothing),
            made("find", word, output_mode="content"),
            made("write", word, writes=True),
            made("wipe", nothing, writes=True, requires_confirmation=True),
            made("use", word, requires=("find",), resolve_input=self._resolve),
        ]

    def _resolve(self, arguments, _context):
        return {"word": arguments["word"].upper()}

    def confirm(self, request):
        self._maybe_cancel(10)
        said = self.draw([True, True, True, False, None, {"approved": True}, "yes", "raise"])
        if said == "raise":
            raise AppError("nobody is there")
        if said is True or isinstance(said, dict):
            self.approved.append((request.tool, json.dumps(request.input, sort_keys=True)))
        return said

    def fall_back(self, request):
        self.handed_over += 1
        said = self.draw(["from afar", {"text": "from afar"}, "", None, "raise"])
        if said == "raise":
            raise AppError("no network")
        return said

    def _memory(self, conversation_id):
        memory = self.memories.setdefault(conversation_id, in_memory())

        async def save(state):
            if self.draw([False] * 8 + [True]):
                raise AppError("disk full")
            await memory.save(state)

        return SimpleNamespace(load=memory.load, save=save)

    def _extension(self):
        def sometimes(decision):
            return lambda _data: self.draw([None] * 19 + [decision])

        def before_answer(data):
            changed = {"text": data.text + " Bye."}
            return self.draw([None, None, changed, changed, Stop("stopped"), {"text": " "}])

        return SimpleNamespace(
            name="moody",
            before_run=sometimes(Stop("stopped", "mood")),
            before_plan=sometimes({"tools": ["look", "write"]}),
            before_tool=sometimes(Deny("mood")),
            after_tool=sometimes({"result": "y" * 900}),
            after_answer=before_answer,
            before_remember=sometimes(Skip),
            on_error=self.fail_seen,
            on_finish=lambda data: self.finished.append(data.outcome.status),
        )

    def fail_seen(self, data):
        self.failures.append(data)

    def _maybe_cancel(self, odds):
        if self.draw([False] * 3 * odds + [True]):
            self.token.cancel("by the user")


class Turns(RuleBasedStateMachine):
    """One agent, several conversations, turn after turn."""

    @initialize(confirms=st.booleans(), falls_back=st.booleans(), extended=st.booleans())
    def start(self, confirms, falls_back, extended):
        self.world = World(confirms=confirms, falls_back=falls_back, extended=extended)
        self.extended = extended

    @rule(
        chance=st.randoms(use_true_random=True),
        conversation_id=st.sampled_from([None, "one"]),
        before=st.sampled_from([None, None, None, "trust again", "forget"]),
    )
    def turn(self, chance, conversation_id, before):
        world = self.world
        world.begin(chance)
        if before == "trust again":
            world.agent.reset_session_fallback(conversation_id)
        elif before == "forget":
            world.agent.forget(conversation_id)
        events = []
        try:
            result = asyncio.run(
                world.agent.run(
                    "Water the basil",
                    conversation_id=conversation_id,
                    cancel=world.token,
                    on_event=events.append,
                )
            )
        except (RunCancelled, AppError, FallbackError) as error:
            self.check_rejected(error)
        except ExtensionError as error:
            self.check_rejected(error)
            self.check_is_the_moody_ones_fault(error)
        else:
            assert [event.type for event in events] == [event.type for event in result.trace]
            self.check_returned(result)
            self.check_said(result, conversation_id)
        self.check_writes()

    def check_writes(self):
        """No write is executed twice, or without a yes to exactly it."""
        writes = Counter(call for call in self.world.ran if call[0] in WRITES)
        assert all(times == 1 for times in writes.values())
        if self.world.confirms:
            assert writes.keys() <= set(self.world.approved)
        else:
            assert "wipe" not in {name for name, _ in writes}

    def check_rejected(self, error):
        """What ran is on record, and the end is told exactly once."""
        if not self.extended:
            return
        aborted = isinstance(error, RunCancelled)
        assert self.world.finished == ["aborted" if aborted else "error"]
        [data] = self.world.failures
        assert data.error is error
        ran = Counter(name for name, _ in self.world.ran)
        recorded = Counter(s.tool for s in data.steps if not (s.skipped or s.cached))
        assert ran <= recorded

    def check_is_the_moody_ones_fault(self, error):
        assert (error.extension, error.phase) == ("moody", "after_answer")

    def check_returned(self, result):
        """The records are complete, and what ran is exactly what they say."""
        steps = result.steps
        assert [step.index for step in steps] == list(range(len(steps)))
        assert len(steps) <= 4
        tools = [step for step in steps if step.kind == "tool"]
        for step in tools:
            assert step.status in STATUSES
            assert step.result
            assert not step.result.startswith(("(started", "(ran"))
            assert step.skipped == (step.skip_reason is not None)
            assert step.input is not None
        executed = Counter(s.tool for s in tools if s.status in {"completed", "failed"})
        assert executed == Counter(name for name, _ in self.world.ran)
        if result.stopped is None:
            assert len([e for e in result.trace if e.type == "tool"]) == len(tools)
        assert (result.handled_by == "cloud") == (self.world.handed_over == 1)
        assert not (result.best_effort and self.world.handed_over)
        if self.extended:
            assert self.world.finished == ["stopped" if result.stopped else "completed"]

    def check_said(self, result, conversation_id):
        """The text is the same in all places."""
        said = [event.text for event in result.trace if event.type == "answer"]
        closing = [step.text for step in result.steps if step.kind == "answer"]
        saved = [event for event in result.trace if event.type == "remember"]
        assert len(said) <= 1
        assert len(closing) <= 1
        assert set(said) | set(closing) <= {result.text}
        if result.stopped:
            assert said == []
            assert saved == []
        else:
            assert bool(said) == bool(result.text.strip())
        if saved:
            state = asyncio.run(self.world.memories[conversation_id].load())
            assert state.recent[-1].answer == result.text
            assert state.recent[-1].best_effort == result.best_effort
            assert len(state.recent) <= 3
            assert state.summary == saved[0].summary


def _run(examples, steps):
    run_state_machine_as_test(
        Turns,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_random_turns_keep_every_promise():
    _run(15, 8)


@pytest.mark.slow
@pytest.mark.timeout(1800)  # all of them together
def test_ten_thousand_random_turns_keep_every_promise():
    _run(many(1_250), 8)
