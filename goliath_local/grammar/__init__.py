"""From schemas to grammars, and from grammars to a matcher that reads what they allow."""

from goliath_local.errors import GrammarError, SchemaError
from goliath_local.grammar.compile import compile_schema
from goliath_local.grammar.grammar import Deferred, Grammar
from goliath_local.grammar.match import Matcher
from goliath_local.grammar.read import read_gbnf
from goliath_local.grammar.rules import Rules
from goliath_local.grammar.sample import sample
from goliath_local.grammar.style import Spacing

__all__ = [
    "Deferred",
    "Grammar",
    "GrammarError",
    "Matcher",
    "Rules",
    "SchemaError",
    "Spacing",
    "compile_schema",
    "read_gbnf",
    "sample",
]
