"""Compiles a schema to a grammar: the way in to this room.

Pure. A schema is read and normalised (`goliath_local.schema`), looked through (`survey`), written
as rules (`lower`), tidied and emitted.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from goliath_local.errors import SchemaError
from goliath_local.grammar.book import Book
from goliath_local.grammar.emit import emit
from goliath_local.grammar.grammar import Deferred, Grammar
from goliath_local.grammar.lower import Lowering
from goliath_local.grammar.read import MAX_TEXT_BYTES
from goliath_local.grammar.style import Spacing, style_of
from goliath_local.grammar.survey import Survey
from goliath_local.grammar.tidy import tidy
from goliath_local.schema import Declared, Reader, SchemaSource, declare

MAX_GBNF = 64 * 1024
"""Bytes of a grammar to decode under; one that reads a schema by the letter may be longer."""

MAX_RULES = 5000
"""Rules, before they are tidied, of a grammar to decode under."""


def compile_schema(
    schema: SchemaSource,
    *,
    closed: bool = True,
    spacing: Spacing = "compact",
    max_string: int | None = None,
) -> Grammar:
    """Return the grammar of a schema.

    Args:
        schema: a JSON Schema (mapping or bool), a pydantic model, a dataclass or a type hint.
        closed: where `additionalProperties` is absent, no extra keys are generated; False reads
            the schema by the letter, any order of keys and every spelling of a value included.
        spacing: `compact`, `pretty` (a blank after each comma and colon) or `free`.
        max_string: most characters of a string for which the schema names no lower limit.

    Raises:
        SchemaError: the schema is broken, contradictory, or too large; says where.
    """
    try:
        return _compiled(schema, closed=closed, spacing=spacing, max_string=max_string)
    except RecursionError as error:
        reason = "it, or a pattern in it, is nested or chained too deeply: split or shorten it"
        raise SchemaError("", "", reason) from error


def _compiled(
    schema: SchemaSource, *, closed: bool, spacing: Spacing, max_string: int | None
) -> Grammar:
    document, read, more = _document(schema)
    reader = Reader(document, by_letter=not closed)
    survey = Survey(reader, closed=closed, max_string=max_string)
    book = Book()
    lowering = Lowering(survey, book, style_of(spacing, book), by_letter=not closed)
    lowering.write(reader.root)
    if closed and len(book.rules) > MAX_RULES:
        reason = (
            f"its grammar has {len(book.rules):,} rules, more than {MAX_RULES:,}: split the schema"
        )
        raise SchemaError("", "", reason)
    rules = tidy(book.rules)
    text = emit(rules)
    size, most = len(text.encode(errors="replace")), MAX_GBNF if closed else MAX_TEXT_BYTES
    if size > most:
        reason = f"its grammar has {size:,} bytes, more than {most:,}: split the schema"
        raise SchemaError("", "", reason)
    return Grammar(
        gbnf=text,
        rules=rules,
        deferred=survey.deferred([*lowering.deferred, *more]),
        ignored=tuple(reader.unknown),
        declared=functools.cache(read),
    )


def _document(
    schema: SchemaSource,
) -> tuple[Any, functools.partial[Declared], tuple[Deferred, ...]]:
    """Return a source as a JSON Schema, how to make its reader, and whether that knows more."""
    if isinstance(schema, Mapping | bool):
        # Not declared yet: that checks the schema against the meta-schema, which takes its time.
        return schema, functools.partial(declare, schema), ()
    declared = declare(schema)
    more = (("", "model"),) if declared.says_more else ()
    return declared.json, functools.partial(declare, declared), more
