"""Grammars and schemas that a user names on the command line, and texts tried on them.

Edge: reads files, standard input and the user's own modules. What is wrong is told with the file
and the line and column, or the JSON pointer, in it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goliath_local.cli.sources import load_attribute
from goliath_local.cli.visible import is_hidden, visible_line
from goliath_local.errors import ConfigError, GrammarError, InvalidValue, SchemaError
from goliath_local.grammar import Matcher, compile_schema, read_gbnf
from goliath_local.grammar import sample as draw
from goliath_local.typed_paths import typed_path

if TYPE_CHECKING:
    from random import Random

    from goliath_local.grammar import Grammar, Rules, Spacing

MAX_FILE_BYTES = 16 * 1024 * 1024
_DRAWS_A_SAMPLE = 50
"""How often to try for a text that passes the checks after decoding as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a user named: rules, and the schema's grammar they come from."""

    rules: Rules
    grammar: Grammar | None
    """None for GBNF."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A text drawn from a grammar."""

    text: str
    is_valid: bool
    """False when it fails the checks after decoding."""


def compiled(
    name: str,
    *,
    closed: bool = True,
    spacing: Spacing = "compact",
    max_string: int | None = None,
) -> Grammar:
    """Return the grammar of a schema file, of a `module:Model`, or of standard input.

    Raises:
        ConfigError: there is no such schema, or it cannot be compiled; says where.
    """
    if _is_attribute(name):
        return _compile(name, load_attribute(name, flag="SCHEMA"), closed, spacing, max_string)
    return _compile(name, _json(name, _read(name)), closed, spacing, max_string)


def verify_schema(name: str, schema: Any) -> None:
    """Raise unless answers can be written to the schema, before a model is loaded for them.

    Raises:
        ConfigError: it cannot be compiled; says where.
    """
    _compile(name, schema, True, "compact", None)


def read_source(name: str, *, closed: bool = True) -> Found:
    """Return what a GBNF file or a schema says; a text that is not JSON is taken for GBNF.

    Raises:
        ConfigError: it is unsound; says where.
    """
    if _is_attribute(name):
        grammar = compiled(name, closed=closed)
        return Found(rules=grammar.rules, grammar=grammar)
    text = _read(name)
    if _is_schema(name, text):
        grammar = _compile(name, _json(name, text), closed, "compact", None)
        return Found(rules=grammar.rules, grammar=grammar)
    try:
        return Found(rules=read_gbnf(text), grammar=None)
    except GrammarError as error:
        msg = f"{_title(name)}: {error}."
        raise ConfigError(msg) from error


def read_text(text: str) -> str:
    """Return a text from the command line; - is standard input."""
    return _read(text) if text == "-" else text


def verify_text(found: Found, text: str) -> None:
    """Raise `InvalidValue` unless the text fits; blanks between the tokens of JSON are free."""
    fault = _fault(found, text)
    if fault and text.endswith("\n"):
        text = text[:-1]
        fault = _fault(found, text)
    if fault:
        raise InvalidValue("TEXT", fault)
    if found.grammar is not None:
        found.grammar.check(json.loads(text))


def samples(found: Found, chance: Random, number: int) -> list[Sample]:
    """Return texts of the grammar, as far as possible such that pass all checks."""
    return [_sample(found, chance) for _ in range(number)]


def printable(text: str) -> str:
    """Return a text for the terminal; what cannot be seen is escaped as JSON does it."""
    hidden = (char != "\n" and is_hidden(char) for char in text)
    pairs = zip(text, hidden, strict=True)
    return "".join(json.dumps(char)[1:-1] if unseen else char for char, unseen in pairs)


def _sample(found: Found, chance: Random) -> Sample:
    text = ""
    for _ in range(_DRAWS_A_SAMPLE):
        text = draw(found.rules, chance)
        if found.grammar is None or _passes(found.grammar, text):
            return Sample(text=text, is_valid=True)
    return Sample(text=text, is_valid=False)


def _passes(grammar: Grammar, text: str) -> bool:
    try:
        grammar.check(json.loads(text))
    except (InvalidValue, RecursionError):
        return False
    return True


def _fault(found: Found, text: str) -> str:
    """Return why a text is not a sentence; empty when it is one."""
    state = Matcher.start(found.rules)
    free = _blanks_between_tokens(text) if found.grammar is not None else frozenset()
    for index, char in enumerate(text):
        after = state.advance(char.encode(errors="surrogatepass"))
        if after is None and index not in free:
            line, column = text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)
            shown = visible_line(text[index : index + 20])
            return f"line {line}, column {column}: {shown!r} is refused; {_expected(state)}"
        state = after or state
    return "" if state.is_complete else f"it ends too early; {_expected(state)}"


def _expected(state: Matcher) -> str:
    if not state.allowed_mask:
        return "the text ends before that"
    ending = visible_line(state.shortest_ending().decode(errors="replace"))
    clipped = ending if len(ending) <= 60 else ending[:59] + "…"
    return f"it could go on with {clipped!r}" if ending else "it may end here"


def _blanks_between_tokens(text: str) -> frozenset[int]:
    """Return the indices of the blanks of a JSON text that are not in a string."""
    out: set[int] = set()
    is_inside = is_escaped = False
    for index, char in enumerate(text):
        if not is_inside and char in " \t\r\n":
            out.add(index)
        if char == '"' and not is_escaped:
            is_inside = not is_inside
        is_escaped = is_inside and char == "\\" and not is_escaped
    return frozenset(out)


def _compile(
    name: str, schema: Any, closed: bool, spacing: Spacing, max_string: int | None
) -> Grammar:
    try:
        return compile_schema(schema, closed=closed, spacing=spacing, max_string=max_string)
    except SchemaError as error:
        msg = f"{_title(name)}#{error.pointer}: {error.reason}."
        raise ConfigError(msg) from error


def _json(name: str, text: str) -> Any:
    try:
        schema = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{_title(name)}: line {error.lineno}, column {error.colno}"
        msg = f"{where}: not JSON: {error.msg}. Give a JSON Schema, or module:Model."
        raise ConfigError(msg) from error
    except RecursionError as error:
        msg = f"{_title(name)}: nested too deep for JSON. Give a flatter schema."
        raise ConfigError(msg) from error
    if not isinstance(schema, dict | bool):
        msg = f"{_title(name)}#: a schema is an object, true or false, not this."
        raise ConfigError(msg)
    return schema


def _is_attribute(name: str) -> bool:
    return ":" in name and not Path(name).is_file()


def _is_schema(name: str, text: str) -> bool:
    if name.endswith((".json", ".gbnf")):
        return name.endswith(".json")
    return text.lstrip()[:1] == "{" or text.strip() in ("true", "false")


def _title(name: str) -> str:
    return "standard input" if name == "-" else Path(name).name


def _read(name: str) -> str:
    try:
        data = _bytes(name)
        text = data.decode()
    except UnicodeDecodeError as error:
        msg = f"{_title(name)}: byte {error.start} is not UTF-8. Save the file as UTF-8."
        raise ConfigError(msg) from error
    except OSError as error:
        msg = (
            f"{name} cannot be read: {error.strerror}. Give a file, module:Model, or - for stdin."
        )
        raise ConfigError(msg) from error
    if len(data) > MAX_FILE_BYTES:
        msg = f"{_title(name)} is larger than {MAX_FILE_BYTES >> 20} MiB. Give a smaller file."
        raise ConfigError(msg)
    return text


def _bytes(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    with typed_path(name).open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)
