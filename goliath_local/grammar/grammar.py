"""A compiled schema: its GBNF, its rules, and what is left to check after decoding.

Pure. The matcher does the reading; `check` asks `jsonschema` or the model itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from goliath_local.grammar.match import Matcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from goliath_local.grammar.rules import Rules
    from goliath_local.schema import Declared

Deferred: TypeAlias = tuple[str, str]
"""A JSON pointer into the schema, and the keyword there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """What a schema allows, as a grammar."""

    gbnf: str
    """Loads in llama.cpp as it is."""

    rules: Rules
    deferred: tuple[Deferred, ...]
    """Keywords the grammar allows too much for; `check` looks at them after decoding."""

    ignored: tuple[Deferred, ...] = ()
    """Keywords that JSON Schema does not know, and that therefore change nothing."""

    declared: Callable[[], Declared]
    """The schema with its reader; made on first use, since most grammars never need it."""

    def matcher(self) -> Matcher:
        """Return the state before the first byte."""
        return Matcher.start(self.rules)

    def accepts(self, text: str) -> bool:
        """Return whether the text, whole, is a sentence of the grammar."""
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return False  # a lone surrogate is no text
        state = self.matcher().advance(data)
        return state is not None and state.is_complete

    def check(self, value: Any) -> None:
        """Verify what the grammar could not: the deferred keywords, or the model itself.

        Raises:
            InvalidValue: the value does not fit; says where.
        """
        if self.deferred:
            self.declared().read(value)
