"""From schemas to grammars, and from grammars to a matcher that reads what they allow."""

from goliath_local.errors import SchemaError
from goliath_local.grammar.compile import Spacing, compile_schema
from goliath_local.grammar.grammar import Deferred, Grammar
from goliath_local.grammar.match import Matcher

__all__ = ["Deferred", "Grammar", "Matcher", "SchemaError", "Spacing", "compile_schema"]
