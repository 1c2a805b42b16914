"""Does an answer tell what it is about? If not, the model is told once; then code adds it.

Pure, but for what is added to a streamed answer.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from goliath_local.budget import clip
from goliath_local.harness.guided import claims_now
from goliath_local.harness.outcome import Rejected
from goliath_local.prompts import (
    Finding,
    answer_language,
    entry_meant,
    finding,
    is_english,
    is_english_instead,
    is_mark,
    opens_with_condition,
    render,
    stems_of,
    untold,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.harness.state import Turn
    from goliath_local.prompts import Claim
    from goliath_local.records import StepRecord

_LEAST_REPEATED = 12
"""Characters from which on an answer is told to repeat the ask; `ok` is an answer."""

_SAME = 0.92
"""From this likeness on an answer without a change is the ask in other endings."""

_ASKING = stems_of("which what should would could like want please need shall")
"""Words of any question."""

_MOST_DESCRIPTION = 60
"""Characters up to which a value that is asked for is also described."""

_SAYS_DONE = re.compile(
    r"(?i)^[\s*_]*(?:(?:okay|ok|sure|done|alright|great|yes)\W+)*"
    r"(?:I(?:['\u2019]ve| have)?|(?:it|your \w+) has been)"
    r"(?: just| now| already)* (?:added|booked|cancel{1,2}ed|created|deleted|dimmed|locked|logged|"
    r"marked|ordered|paid|recorded|removed|reported|saved|scheduled|sent|set|switched|texted|"
    r"transferred|unlocked|updated|(?:wrote|written) to)\b(?! (?:nothing|not|no|off|out)\b)"
)
"""How an answer says in English that something was done."""

_FOR_WORDS = re.compile(
    r"(?i)[\"\u201c\u201e\u00ab]|(?<!\w)['\u2018]\w|\b(?:translat\w*|say|draft|rewrite|rephrase|"
    r"sentences?|lines?|words?|phrases?|story|poem|song|joke|diary|text for)\b|\bwrite (?!to\b)"
)
"""What asks for a text: that may say of anything that it was done."""

Said: TypeAlias = tuple[str, Any]
"""The text, and for a structured answer the validated value."""


def verified(turn: Turn, said: Said, why: str) -> Said | Rejected:
    """Return the answer, unless it repeats the ask or leaves out what it is about."""
    text, lacking = said[0], _lacking(turn)
    if lacking and not _asks_for(turn, lacking, text):
        return _leaves_out(_asking_for(turn, lacking))
    if _says_it_was_done(turn, text):
        hint = render("guided.not-done")
        return Rejected(problem="the answer tells a change that was not made", hint=hint)
    unsound = _in_another_language(turn, text) or _repeated(turn, text, why)
    if unsound is not None:
        return unsound
    values = _left_out(turn, text)
    if values:
        name = "guided.which" if turn.alike else "guided.say"
        return _leaves_out(render(name, values=", ".join(values)))
    found = _unsaid_finding(turn, text)
    if found is not None:
        return _leaves_out(render("guided.found", entry=found.in_words()))
    return _with_more(turn, said, _also(turn, text))


def is_in_english_instead(turn: Turn, text: str) -> bool:
    """Return whether an answer is in English, though the ask is plainly in another language."""
    language = answer_language(turn.ask)
    return language is not None and is_english_instead(text, language)


def is_the_ask(turn: Turn, text: str) -> bool:
    """Return whether an answer is nothing but the ask once more.

    After a change other endings make a difference: "added" is not "add".
    """
    return _repeats(text, turn.ask, almost=not _has_changed(turn))


def _in_another_language(turn: Turn, text: str) -> Rejected | None:
    if not is_in_english_instead(turn, text):
        return None
    hint = render("guided.language", language=answer_language(turn.ask) or "")
    return Rejected(problem="the answer is in another language than the ask", hint=hint)


def _repeated(turn: Turn, text: str, why: str) -> Rejected | None:
    if not _says_the_ask(turn, text):
        return None
    hint = render("guided.repeats")
    if why and not _has_changed(turn):
        hint = render("guided.repeats-unchanged", why=why)
    return Rejected(problem="the answer repeats the ask", hint=hint)


def _says_the_ask(turn: Turn, text: str) -> bool:
    """Return whether an answer is the ask once more, or its condition as if it were still open."""
    is_open = turn.want == "change-if" and not _has_changed(turn) and opens_with_condition(text)
    return is_open or is_the_ask(turn, text)


def plain_answer(turn: Turn, why: str) -> str:
    """Return the answer that needs no model: a comparison by which a change was left undone.

    Told so, the model was seen to promise the change all the same. Empty where it is not that.
    """
    claim = _deciding(turn, why)
    if claim is None:
        return ""
    language = answer_language(turn.ask)
    if language is not None:
        return _undone(language, claim.signs)
    text = render("guided.left", finding=claim.finding)
    return text[0].upper() + text[1:]


def undone(turn: Turn, text: str, why: str) -> str:
    """Return what code tells of a change left undone, in the language of the ask.

    With the entry that was found, or the plan's reason where that is not one.

    Empty where it need not: the ask is in English, a change was tried, or `text`, the model's own
    answer, is more than the ask once more.
    """
    language = answer_language(turn.ask)
    is_left = turn.want in {"change", "change-if"} and not any(step.writes for step in turn.steps)
    if language is None or not is_left or turn.alike:
        return ""
    if _is_question(text) or not _repeats(text, turn.ask, almost=True):
        return ""
    return _undone(language, entry_meant(turn.ask, turn.steps) or why)


def _undone(language: str, found: str) -> str:
    """Return in that language that nothing was done, with what was found."""
    text = render(f"guided.undone-{language.lower()}")
    return f"{text} ({found})" if found else text


def completed(turn: Turn, said: Said) -> Said:
    """Return the second answer, with what it is about behind it if that is still untold."""
    text = said[0]
    if _says_it_was_done(turn, text):
        return _with_more(turn, said, render("guided.not-done-said"))
    values, lacking, found = _left_out(turn, text), _lacking(turn), _unsaid_finding(turn, text)
    if values:
        more = render("guided.about", values=", ".join(values))
    elif lacking and not _asks_for(turn, lacking, text):
        more = render("guided.asking", names=", ".join(lacking))
    elif found is not None:
        more = render("guided.found-too", entry=found.in_words())
    else:
        more = _also(turn, text)
    return _with_more(turn, said, more)


def _also(turn: Turn, text: str) -> str:
    """Return what else was found, where an answer tells some of it only; empty if nothing."""
    entries = "; ".join(entry.in_words() for entry in untold(turn.ask, text, turn.steps))
    return render("guided.also", entries=entries) if entries else ""


def _with_more(turn: Turn, said: Said, more: str) -> Said:
    if not more:
        return said
    if turn.options.on_text is not None:
        turn.options.on_text(f" {more}")
    return f"{said[0]} {more}", said[1]


def _leaves_out(hint: str) -> Rejected:
    return Rejected(problem="the answer leaves out what it is about", hint=hint)


def _left_out(turn: Turn, text: str) -> tuple[str, ...]:
    if turn.alike:
        told = all(name.casefold() in text.casefold() for name in turn.alike)
        return () if told else turn.alike
    return _words_of_change(text, turn.steps, ask=turn.ask)


def _lacking(turn: Turn) -> dict[str, str]:
    """Return the values which only the user knows, for want of which a change was not made.

    Their names, and what each is described as behind it.
    """
    last = turn.steps[-1] if turn.steps else None
    if last is None or not last.writes or last.skip_reason != "missing" or turn.alike:
        return {}
    given = last.input if isinstance(last.input, dict) else {}
    schema = turn.settings.tools[last.tool or ""].parameters.json
    nodes = schema.get("properties", {})
    lacking = [name for name in schema.get("required", ()) if name not in given]
    return {_spelled(name): _with_meaning(name, nodes.get(name)) for name in lacking}


def _asking_for(turn: Turn, lacking: Mapping[str, str]) -> str:
    """Return the hint to ask for the values; an English description draws it into English."""
    language = answer_language(turn.ask)
    if language is None and is_english(turn.ask):
        return render("guided.ask-for", names=", ".join(lacking.values()))
    hint = render("guided.ask-for", names=", ".join(lacking))
    return f"{hint} {render('guided.ask-in', language=language)}" if language else hint


def _spelled(name: str) -> str:
    return name.replace("_", " ")


def _with_meaning(name: str, node: object) -> str:
    text = node.get("description") if isinstance(node, dict) else None
    is_told = isinstance(text, str) and len(text) <= _MOST_DESCRIPTION
    return f"{_spelled(name)}: {text}" if is_told else _spelled(name)


def _asks_for(turn: Turn, lacking: Mapping[str, str], text: str) -> bool:
    """Return whether an answer is a question, and not only for values that were given."""
    given = turn.steps[-1].input
    names = stems_of(" ".join(map(_spelled, given))) if isinstance(given, dict) else set()
    said = stems_of(text) - _ASKING
    is_of_given = bool(said & names) and said <= names | stems_of(turn.ask)
    return _is_question(text) and (
        not is_of_given or bool(said & stems_of(" ".join(lacking.values())))
    )


def _unsaid_finding(turn: Turn, text: str) -> Finding | None:
    """Return what the last step found, where a turn without a change tells nothing of it."""
    if turn.alike or _has_changed(turn):
        return None
    found = finding(turn.ask, turn.steps)
    return found if found is not None and not found.is_told(text) else None


def _deciding(turn: Turn, why: str) -> Claim | None:
    """Return the comparison by which a change was left undone."""
    told = (claim for claim in claims_now(turn) if claim.text == why and not claim.acts)
    return next(told, None)


def _says_it_was_done(turn: Turn, text: str) -> bool:
    """Return whether an answer that no tool was called for says that something was done.

    Later in a talk it may speak of what was done before, a text that was asked for of anything.
    """
    if turn.want != "talk" or turn.steps or turn.view.recent or _FOR_WORDS.search(turn.ask):
        return False
    could_change = any(tool.writes for tool in turn.settings.tools.values())
    return could_change and _SAYS_DONE.match(text) is not None


def _has_changed(turn: Turn) -> bool:
    return any(step.writes and step.status == "completed" for step in turn.steps)


def _is_question(text: str) -> bool:
    return any(mark in text for mark in "?\uff1f")


def _repeats(text: str, ask: str, *, almost: bool) -> bool:
    """Return whether the answer is nothing but words of the ask, in their order.

    Args:
        text: the answer.
        ask: what was asked.
        almost: other endings of the words make no difference.
    """
    said, asked = (" ".join(re.findall(r"\w+", each.casefold())) for each in (text, ask))
    if len(said) < _LEAST_REPEATED:
        return False
    return said in asked or (almost and _likeness(said, asked) >= _SAME)


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def _words_of_change(text: str, steps: Sequence[StepRecord], *, ask: str) -> tuple[str, ...]:
    """Return what the last change was about in the words of the ask, when none of it is told.

    All that it was made with, where the answer is only the ask once more.
    """
    last = steps[-1] if steps else None
    if last is None or not last.writes or last.status != "completed":
        return ()
    values = last.input.values() if isinstance(last.input, dict) else ()
    if _repeats(text, ask, almost=False):
        return _made_with(last.input, text)
    asked = [
        v for v in values if isinstance(v, str) and len(v) > 2 and v.casefold() in ask.casefold()
    ]
    told = any(value.casefold() in text.casefold() for value in asked)
    return () if told else tuple(asked)


def _made_with(arguments: object, text: str) -> tuple[str, ...]:
    """Return the values of a call that the text does not tell, clipped; ids and switches apart."""
    values = [
        clip(str(value), _MOST_DESCRIPTION)
        for name, value in (arguments if isinstance(arguments, dict) else {}).items()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
        if not is_mark(name) and str(value).strip()
    ]
    return tuple(value for value in values if value.casefold() not in text.casefold())
