"""JSON Schema and output models: read, checked, and told apart."""

from goliath_local.schema.declare import Declared, SchemaSource, declare, dump
from goliath_local.schema.keywords import KEYWORDS, Form, Keyword, Support
from goliath_local.schema.narrowed import narrowed
from goliath_local.schema.number_texts import number_automaton
from goliath_local.schema.numbers import NumberSet
from goliath_local.schema.reading import Reader
from goliath_local.schema.shapes import (
    ArrayShape,
    Contained,
    Deferred,
    Goal,
    ItemFacet,
    KeyFacet,
    ObjectShape,
    SomeKey,
    Values,
    everything,
    goal_of_key,
    is_nothing,
    joined,
)

__all__ = [
    "KEYWORDS",
    "ArrayShape",
    "Contained",
    "Declared",
    "Deferred",
    "Form",
    "Goal",
    "ItemFacet",
    "KeyFacet",
    "Keyword",
    "NumberSet",
    "ObjectShape",
    "Reader",
    "SchemaSource",
    "SomeKey",
    "Support",
    "Values",
    "declare",
    "dump",
    "everything",
    "goal_of_key",
    "is_nothing",
    "joined",
    "narrowed",
    "number_automaton",
]
