"""Compiled schemas, remembered by their text, as constraints on a reply."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from goliath_local.engine.constraint import FreeText
from goliath_local.grammar import compile_schema

if TYPE_CHECKING:
    from goliath_local.engine.constraint import Constraint
    from goliath_local.model import JsonSchema

_REMEMBERED: Final = 64


class Grammars:
    """The constraints that replies start with. Used by the model's worker alone."""

    def __init__(self) -> None:
        self._by_text: OrderedDict[str, Constraint] = OrderedDict()

    def start(self, schema: JsonSchema | None) -> Constraint:
        """Return the place before the first byte of a reply.

        Raises:
            SchemaError: the schema cannot be compiled.
        """
        if schema is None:
            return FreeText()
        # Keys keep their order: it is the order in which they are generated.
        text = json.dumps(schema, ensure_ascii=False)
        found = self._by_text.get(text)
        if found is None:
            found = self._by_text[text] = compile_schema(dict(schema)).matcher()
            if len(self._by_text) > _REMEMBERED:
                self._by_text.popitem(last=False)
        self._by_text.move_to_end(text)
        return found
