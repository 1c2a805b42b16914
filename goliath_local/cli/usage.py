"""What was wrong with a command line, in words that say what to type instead.

Pure. The parser's own sentences name the place and not the cure; one function a kind of mistake
reads the facts off its error and words them anew.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_UNKNOWN_COMMAND = re.compile(r"No such command '(.*?)'\..*", re.DOTALL)
_TOO_MANY = re.compile(r"Got unexpected extra argument\(s\) \((.*)\)", re.DOTALL)
_NO_VALUE = re.compile(r"Option '?(-[^' ]*)'? requires (?:an|\d+) arguments?", re.DOTALL)
_AT_LEAST = re.compile(r"greater than or equal to (\d+)")


def usage_words(error: Any, program: str) -> str:
    """Return what was wrong and what helps, for an error of the command line's parser."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else program
    text = str(error.format_message())
    told = next((words for read in _KINDS if (words := read(error, text, where))), text)
    if "See: " in told or told.startswith("Usage: "):
        return told
    return f"{told or 'Something is missing.'}\nSee: {where} --help"


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return ` Did you mean "…"?` for the known name that is near, else an empty text."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f' Did you mean "{close[0]}"?' if close else ""


def _flag(error: Any, _text: str, where: str) -> str:
    name = getattr(error, "option_name", None)
    if name is None or not hasattr(error, "possibilities"):
        return ""
    known = [opt for parameter in error.ctx.command.params for opt in parameter.opts]
    long_ones = [opt for opt in known if opt.startswith("--")]
    return f'{where} has no flag "{name}".{nearest(name, long_ones, cutoff=0.7)}'


def _value(error: Any, text: str, _where: str) -> str:
    found = _NO_VALUE.search(text)
    if found:
        return f"{found.group(1)} needs a value after it."
    parameter = getattr(error, "param", None)
    if parameter is None or "Invalid value" not in text:
        return ""
    name = parameter.opts[-1] if parameter.opts else parameter.name
    return f"{name}: give {_form(parameter, str(error.message))}."


def _form(parameter: Any, message: str) -> str:
    least = _AT_LEAST.search(message)
    if least:
        return f"a whole number, {least.group(1)} or more"
    if "integer" in message:
        return "a whole number"
    if "number" in message:
        return "a number"
    words = (parameter.metavar or "").split("|")
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else message


def _command(error: Any, text: str, where: str) -> str:
    found = _UNKNOWN_COMMAND.fullmatch(text)
    if not found:
        return ""
    known = list(getattr(error.ctx.command, "commands", {}))
    there = f" There are: {', '.join(known)}." if known else ""
    return f'{where} has no command "{found.group(1)}".{nearest(found.group(1), known)}{there}'


def _too_many(error: Any, text: str, where: str) -> str:
    found = _TOO_MANY.fullmatch(text)
    if not found:
        return ""
    words = found.group(1)
    if error.ctx.info_name == "run":
        return (
            f'"{words}" stands outside the ask. Put the whole ask in quotes: '
            f'{where} "What is on my list?"'
        )
    return f'{where} does not know what to do with "{words}". Leave it out.'


def _missing(error: Any, text: str, _where: str) -> str:
    parameter = getattr(error, "param", None)
    if parameter is None or not text.startswith("Missing "):
        return ""
    name = parameter.metavar or str(parameter.name).upper()
    return f"{name.strip('[]')} is missing: {parameter.help or 'give one'}"


_KINDS: tuple[Callable[[Any, str, str], str], ...] = (
    _flag,
    _value,
    _command,
    _too_many,
    _missing,
)
