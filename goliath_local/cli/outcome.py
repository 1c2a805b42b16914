"""What a finished turn means for whoever asked: an exit code, and a sentence where it needs one.

Pure. One table says what each reason for a hand-over means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.cli.problems import ExitCode
from goliath_local.records import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.events import EscalateEvent, Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What a reason means in words, what helps, and its exit code when nobody finished."""

    words: str
    cure: str
    code: ExitCode = ExitCode.NOT_FINISHED


_BETTER_ASK = "Say it in one sentence, or split it."
_BETTER_MODEL = "A larger model may do it (-m NAME), or a fallback (--fallback)."
_SHORTER = "Shorten or split it."

MEANINGS: dict[Reason, Meaning] = {
    Reason.NO_MODEL: Meaning(
        words="there is no model",
        cure="Get one: goliath-local models pull default",
        code=ExitCode.NOT_READY,
    ),
    Reason.MODEL_UNAVAILABLE: Meaning(
        words="the model cannot run",
        cure="See why: goliath-local doctor",
        code=ExitCode.NOT_READY,
    ),
    Reason.TOO_MANY_STEPS: Meaning(
        words="it took too many steps", cure="Allow more with --max-steps, or split the ask."
    ),
    Reason.REPEATED_TOOL_CALL: Meaning(
        words="the same call came again and again", cure=_BETTER_ASK
    ),
    Reason.EMPTY_ANSWER: Meaning(words="the answer stayed empty", cure=_BETTER_ASK),
    Reason.ANSWER_INVALID: Meaning(
        words="the answer did not match the schema",
        cure="Make the schema smaller. " + _BETTER_MODEL,
    ),
    Reason.PLAN_INVALID: Meaning(words="no usable plan came", cure=_BETTER_MODEL),
    Reason.CONDUCTOR_ASKED: Meaning(
        words="the model asked for help", cure=_BETTER_ASK + " " + _BETTER_MODEL
    ),
    Reason.TOOL_ARGS_INVALID: Meaning(
        words="the arguments of a call could not be used", cure=_BETTER_ASK
    ),
    Reason.TOOL_ERROR: Meaning(
        words="a tool failed twice", cure="Try the tool by itself; its error is above."
    ),
    Reason.GUARDRAIL: Meaning(words="the model declined", cure="Ask for something else."),
    Reason.CONTEXT_BUDGET: Meaning(
        words="it does not fit the window", cure=_SHORTER, code=ExitCode.DID_NOT_FIT
    ),
    Reason.TOOL_PREREQUISITE_MISSING: Meaning(
        words="a step came before the one it needs", cure=_BETTER_ASK
    ),
    Reason.MODEL_ERROR: Meaning(words="the model failed", cure="See why: goliath-local doctor"),
    Reason.LOW_CONFIDENCE: Meaning(words="the model was not sure", cure=_BETTER_ASK),
}


def reason_words(reason: Reason) -> str:
    """Return the reason as a person would say it, with its name."""
    return f"{MEANINGS[reason].words} ({reason.value})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What is known of a finished turn when its outcome is read."""

    text: str
    handled_by: str
    best_effort: bool
    events: Sequence[Event]
    needed_yes: Sequence[str] = ()
    """Tools that would have needed a yes while nobody could give one."""

    was_cut: bool = False
    """The answer ended because its cap was reached."""

    shortened: Sequence[str] = ()
    strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An exit code, and what to say on stderr."""

    code: ExitCode = ExitCode.DONE
    note: str = ""
    cure: str = ""
    """What helps, for somebody who has read already what happened."""

    reason: Reason | None = None
    was_shown: bool = False
    """The events of the turn have told already what happened."""

    @property
    def left_to_say(self) -> str:
        """What somebody who saw the turn still has to be told."""
        return self.cure if self.was_shown else self.note


def read_outcome(ended: Ended) -> Outcome:
    """Return what the turn means for the shell."""
    escalation = _last_escalation(ended.events)
    reason = escalation.reason if escalation else None
    if ended.needed_yes:
        return Outcome(
            code=ExitCode.NEEDED_A_YES, note=_no_terminal(ended.needed_yes), reason=reason
        )
    if escalation and ended.handled_by == "device" and (ended.best_effort or not ended.text):
        return _not_finished(escalation)
    if ended.was_cut:
        note = "The answer was cut, since its length limit was reached. Ask for something shorter."
        return Outcome(code=ExitCode.DID_NOT_FIT, note=note, reason=reason)
    if ended.strict and ended.shortened:
        note = (
            f"Something was shortened to fit (--strict): {', '.join(ended.shortened)}. {_SHORTER}"
        )
        return Outcome(code=ExitCode.DID_NOT_FIT, note=note, reason=reason)
    return Outcome(reason=reason)


def _last_escalation(events: Sequence[Event]) -> EscalateEvent | None:
    found = [event for event in events if event.type == "escalate"]
    return found[-1] if found else None


def _not_finished(escalation: EscalateEvent) -> Outcome:
    meaning = MEANINGS[escalation.reason]
    why = f": {escalation.error.rstrip('.')}" if escalation.error else ""
    cure = "" if escalation.error and meaning.cure in escalation.error else f" {meaning.cure}"
    note = f"Not finished, since {meaning.words}{why}.{cure}"
    return Outcome(
        code=meaning.code,
        note=note,
        cure=cure.strip(),
        reason=escalation.reason,
        was_shown=True,
    )


def _no_terminal(tools: Sequence[str]) -> str:
    names = list(dict.fromkeys(tools))
    verb = "needs" if len(names) == 1 else "need"
    flags = " ".join(f"--allow {name}" for name in names)
    return f"{', '.join(names)} {verb} a yes and there is no terminal. Allow it with {flags}"
