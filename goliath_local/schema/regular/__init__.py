"""Regular languages of texts: expressions, patterns, formats and decimals as automata."""

from goliath_local.schema.regular.algebra import Algebra, Kind, Language, is_run
from goliath_local.schema.regular.automaton import Automaton, Tail
from goliath_local.schema.regular.charsets import (
    ANYTHING,
    CharSet,
    chars,
    common,
    holds,
    others,
    united,
    without,
)
from goliath_local.schema.regular.decimals import Decimals, is_manageable
from goliath_local.schema.regular.determinise import (
    MAX_STATES,
    TooManyStates,
    determinise,
    of_texts,
)
from goliath_local.schema.regular.formats import PATTERNS, compile_format, format_tree
from goliath_local.schema.regular.pattern import compile_pattern, plain_language
from goliath_local.schema.regular.syntax import BadPattern, Beyond

__all__ = [
    "ANYTHING",
    "MAX_STATES",
    "PATTERNS",
    "Algebra",
    "Automaton",
    "BadPattern",
    "Beyond",
    "CharSet",
    "Decimals",
    "Kind",
    "Language",
    "Tail",
    "TooManyStates",
    "chars",
    "common",
    "compile_format",
    "compile_pattern",
    "determinise",
    "format_tree",
    "holds",
    "is_manageable",
    "is_run",
    "of_texts",
    "others",
    "plain_language",
    "united",
    "without",
]
