"""One ask from the command line to the exit code.

Edge. Loading and the turn share one cancellation token, which Ctrl-C, `--timeout` and signals
cancel; whatever the phase, control is back within a second.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.cancel import CancelToken
from goliath_local.cli.asks import read_ask
from goliath_local.cli.confirm import Confirm
from goliath_local.cli.outcome import Ended, read_outcome
from goliath_local.cli.problems import ExitCode, Interrupted, TimedOut, read_problem
from goliath_local.cli.ready import find_model, load
from goliath_local.cli.session import Asked, Parts, Session
from goliath_local.cli.shortened import shortened_results
from goliath_local.cli.show import TurnView
from goliath_local.cli.signals import listening, terminable
from goliath_local.cli.sources import load_fallback, load_schema, load_tools
from goliath_local.errors import ConfigError, RunCancelled
from goliath_local.memory import sqlite_memory
from goliath_local.records import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.cli.outcome import Outcome
    from goliath_local.cli.ready import Found, Ready
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal
    from goliath_local.events import Event
    from goliath_local.harness import RunResult
    from goliath_local.tools import Tool

_TIME_IS_UP = "time is up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a `run` was told that is not a setting."""

    words: str | None
    files: Sequence[str] = ()
    schema: str | None = None
    jsonl: bool = False
    conversation_id: str | None = None
    strict: bool = False
    dry_run: bool = False
    pull: bool = False


def _schema(name: str) -> Any:
    from goliath_local.cli.grammars import verify_schema

    schema = load_schema(name)
    verify_schema(name, schema)
    return schema


def run_job(job: Job, settings: Settings, terminal: Terminal) -> int:
    """Run one ask and return the exit code."""
    if job.conversation_id is not None and not job.conversation_id.strip():
        raise ConfigError("--conversation is blank. Give it a name, or leave it out.")
    if job.jsonl and settings.json:
        raise ConfigError("--json is one document, --jsonl one event a line. Give one of them.")
    settings = dataclasses.replace(settings, seed=settings.seed or 0)
    tools = usable_tools(settings)
    schema = _schema(job.schema) if job.schema else None
    fallback = load_fallback(settings.fallback)
    ask = read_ask(job.words, job.files, terminal)
    if job.pull:
        from goliath_local.cli.first_model import pull_if_missing

        pull_if_missing(settings, terminal)
    found = find_model(settings)
    plan = _Plan(
        job=job,
        settings=settings,
        ask=ask,
        tools=tools,
        schema=schema,
        fallback=fallback,
        found=found,
    )
    return asyncio.run(_Running(plan, terminal).run())


def usable_tools(settings: Settings) -> tuple[Tool, ...]:
    """Return the tools that the settings name and allow."""
    tools = load_tools(settings.tools, settings.places)
    names = {tool.name for tool in tools}
    for name in settings.allow:
        if name not in names:
            msg = f"--allow {name}: there is no such tool. There are: {', '.join(names) or 'none'}"
            raise ConfigError(msg)
    return tuple(tool for tool in tools if not (settings.read_only and tool.writes))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """Everything that was checked before anything slow begins."""

    job: Job
    settings: Settings
    ask: str
    tools: tuple[Tool, ...]
    schema: Any
    fallback: Any
    found: Found


class _Running:
    """One ask on its way."""

    def __init__(self, plan: _Plan, terminal: Terminal) -> None:
        self._plan, self._terminal = plan, terminal
        self._cancel = CancelToken()
        settings = plan.settings
        self._shows = terminal.err_is_tty and not (settings.json or plan.job.jsonl)
        self._confirm = Confirm(
            terminal,
            allowed=frozenset(settings.allow),
            allow_all=settings.yes,
            on_ask=lambda request: self._view.show_call(request.input or {}),
            tools=plan.tools,
        )
        self._view = TurnView(
            terminal,
            steps=settings.steps if self._shows else "off",
            streaming=terminal.out_is_tty and not (settings.json or plan.job.jsonl),
            window=plan.found.window,
            notes=self._shows,
        )

    async def run(self) -> int:
        """Load, ask, show; return the exit code."""
        timeout_s = self._plan.settings.timeout
        if timeout_s is not None:
            loop = asyncio.get_running_loop()
            loop.call_later(timeout_s, self._cancel.cancel, _TIME_IS_UP)
        with terminable(), listening(self._interrupt):
            try:
                return await self._loaded_and_asked()
            except RunCancelled as error:
                raise self._named(error) from error

    def _interrupt(self) -> None:
        self._confirm.interrupt()
        self._cancel.cancel("Ctrl-C")

    def _named(self, error: RunCancelled) -> Exception:
        if error.reason == _TIME_IS_UP and self._plan.settings.timeout is not None:
            return TimedOut(self._plan.settings.timeout)
        self._view.interrupted()
        return Interrupted("Interrupted. What was done is done; nothing else will be.")

    async def _loaded_and_asked(self) -> int:
        plan = self._plan
        if self._shows:
            self._terminal.status(f"  loading {plan.found.label}")
        ready = await load(plan.found, plan.settings, self._terminal, cancel=self._cancel)
        self._terminal.clear_status()
        try:
            return await self._asked(ready)
        finally:
            ready.close()

    async def _asked(self, ready: Ready) -> int:
        plan = self._plan
        parts = Parts(
            settings=plan.settings,
            ready=ready,
            tools=plan.tools,
            memory=sqlite_memory(plan.settings.places.conversations)
            if plan.job.conversation_id
            else None,
            fallback=plan.fallback,
            confirm=self._confirm,
        )
        if plan.job.dry_run:
            from goliath_local.cli.probe import show_first_prompt

            await show_first_prompt(parts, plan.ask, self._terminal, as_json=plan.settings.json)
            return ExitCode.DONE
        session = Session(parts)
        asked = Asked(
            text=plan.ask,
            cancel=self._cancel,
            conversation_id=plan.job.conversation_id,
            output_schema=plan.schema,
        )
        self._view.restart()
        result = await session.turn(asked, self._view, on_event=self._event)
        return self._told(result, session, ready)

    def _event(self, event: Event) -> None:
        if self._plan.job.jsonl:
            self._terminal.document({"type": event.type, **to_json(event)})

    def _told(self, result: RunResult, session: Session, ready: Ready) -> int:
        cut = shortened_results(result.steps)
        outcome = read_outcome(
            Ended(
                text=result.text,
                handled_by=result.handled_by,
                best_effort=result.best_effort,
                events=result.trace,
                needed_yes=self._confirm.unanswered,
                was_cut=self._view.tally.was_cut,
                shortened=[*self._view.tally.shortened, *(f"result of {c.tool}" for c in cut)],
                strict=self._plan.job.strict,
            )
        )
        self._show(result, outcome, session, ready)
        if not self._plan.settings.json:
            for one in cut:
                self._terminal.say(one.words)
        if session.trace_error is not None:
            self._terminal.complain(
                f"The trace was not written: {read_problem(session.trace_error).message}"
            )
        told = outcome.left_to_say if self._shows else outcome.note
        if told:
            self._terminal.complain(told)
        return outcome.code

    def _show(self, result: RunResult, outcome: Outcome, session: Session, ready: Ready) -> None:
        if self._plan.settings.json or self._plan.job.jsonl:
            document = result_json(result, outcome, view=self._view, ready=ready)
            document |= {"seed": self._plan.settings.seed, "trace": session.trace_id}
            first = {"type": "result"} if self._plan.job.jsonl else {}
            self._terminal.document(first | document)
            return
        self._view.answer(result.text)
        if self._shows:
            self._view.close(place=result.handled_by)


def result_json(
    result: RunResult, outcome: Outcome, *, view: TurnView, ready: Ready
) -> dict[str, Any]:
    """Return the document of `run --json`, save for seed and trace."""
    tally = view.tally
    document: dict[str, Any] = {
        "ok": outcome.code == ExitCode.DONE,
        "text": result.text,
        "output": _json_output(result.output),
        "handled_by": result.handled_by,
        "reason": result.reason.value if result.reason else None,
        "best_effort": result.best_effort,
        "steps": [_step_json(step) for step in result.steps],
        "usage": {
            "prompt_tokens": tally.prompt_tokens,
            "evaluated_tokens": tally.evaluated_tokens,
            "completion_tokens": tally.completion_tokens,
            "forced_tokens": tally.forced_tokens,
            "window": tally.window,
        },
        "time": {
            "load_s": round(ready.load_s, 3),
            "first_token_s": _rounded(tally.first_token_s),
            "total_s": round(time.monotonic() - tally.started_s, 3),
            "tok_s": _rounded(tally.tokens_per_s),
        },
        "model": {"name": ready.name, "sha256": ready.sha256},
    }
    if outcome.note:
        document["error"] = {"code": int(outcome.code), "message": outcome.note}
    return document


def _json_output(output: Any) -> Any:
    from goliath_local.schema import dump

    return None if output is None else dump(output)


def _step_json(step: Any) -> dict[str, Any]:
    if step.kind == "answer":
        return {"index": step.index, "kind": "answer", "text": step.text, "status": step.status}
    return {
        "index": step.index,
        "kind": step.kind,
        "tool": step.tool,
        "input": step.input,
        "result": step.result,
        "status": step.status,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
