"""Compiles a schema to a grammar: the way in to this room.

Pure. A first, plain lowering: types, bounds of lengths and integers, enums, objects in order,
arrays, unions and references; what it does not know yet it reports as deferred.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from goliath_local.errors import SchemaError
from goliath_local.grammar.emit import emit
from goliath_local.grammar.grammar import Grammar
from goliath_local.grammar.rules import Alt, Chars, Expr, Ref, Repeat, Rules, Seq, Text
from goliath_local.schema import SchemaSource, declare

if TYPE_CHECKING:
    from goliath_local.schema import Declared

Spacing = Literal["compact", "pretty", "free"]

_HEX = Chars(((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)))
_SHARED: dict[str, Expr] = {
    "char": Alt(
        (
            Chars(((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)), negated=True),
            Seq(
                (
                    Text("\\"),
                    Alt(
                        (
                            Chars(tuple((ord(c), ord(c)) for c in '"/\\bfnrt')),
                            Seq((Text("u"), Repeat(_HEX, 4, 4))),
                        )
                    ),
                )
            ),
        )
    ),
    "string": Seq((Text('"'), Repeat(Ref("char"), 0, None), Text('"'))),
    "integer": Seq(
        (
            Repeat(Text("-"), 0, 1),
            Alt((Text("0"), Seq((Chars(((0x31, 0x39),)), Repeat(Chars(((0x30, 0x39),)), 0, 18))))),
        )
    ),
    "number": Seq(
        (Ref("integer"), Repeat(Seq((Text("."), Repeat(Chars(((0x30, 0x39),)), 1, 18))), 0, 1))
    ),
    "boolean": Alt((Text("true"), Text("false"))),
    "null": Text("null"),
    "object": Seq(
        (
            Text("{"),
            Repeat(
                Seq(
                    (
                        Ref("string"),
                        Text(":"),
                        Ref("value"),
                        Repeat(Seq((Text(","), Ref("string"), Text(":"), Ref("value"))), 0, None),
                    )
                ),
                0,
                1,
            ),
            Text("}"),
        )
    ),
    "array": Seq(
        (
            Text("["),
            Repeat(Seq((Ref("value"), Repeat(Seq((Text(","), Ref("value"))), 0, None))), 0, 1),
            Text("]"),
        )
    ),
    "value": Alt(
        tuple(Ref(n) for n in ("object", "array", "string", "number", "boolean", "null"))
    ),
}


def compile_schema(
    schema: SchemaSource,
    *,
    closed: bool = True,
    spacing: Spacing = "compact",
    max_string: int | None = None,
) -> Grammar:
    """Return the grammar of a schema.

    Raises:
        SchemaError: the schema is wrong, contradictory, or asks for what no grammar can hold.
    """
    declared = declare(schema)
    lowering = _Lowering(declared.json, max_string)
    rules = dict(_SHARED)
    rules["root"] = lowering.lower(declared.json, "")
    rules.update(lowering.rules)
    wanted = Rules(rules)
    return Grammar(
        gbnf=emit(wanted),
        rules=wanted,
        deferred=tuple(lowering.deferred),
        declared=functools.partial(_same, declared),
    )


def _same(declared: Declared) -> Declared:
    return declared


class _Lowering:
    def __init__(self, document: Mapping[str, Any], max_string: int | None) -> None:
        self.document, self.max_string = document, max_string
        self.rules: dict[str, Expr] = {}
        self.names: dict[str, str] = {}
        self.deferred: list[tuple[str, str]] = []

    def lower(self, s: Any, at: str) -> Expr:
        if s is True or s == {}:
            return Ref("value")
        if s is False:
            raise SchemaError(at, "", "nothing fits this schema")
        if "$ref" in s:
            return self.ref(s["$ref"], at)
        if "const" in s:
            return Text(json.dumps(s["const"], ensure_ascii=False, separators=(",", ":")))
        if "enum" in s:
            return Alt(
                tuple(
                    Text(json.dumps(v, ensure_ascii=False, separators=(",", ":")))
                    for v in s["enum"]
                )
            )
        for key in ("anyOf", "oneOf"):
            if key in s:
                return Alt(tuple(self.lower(o, f"{at}/{key}/{i}") for i, o in enumerate(s[key])))
        kind = s.get("type", "object" if "properties" in s else None)
        if isinstance(kind, list):
            return Alt(tuple(self.lower({**s, "type": k}, at) for k in kind))
        if kind is None:
            return Ref("value")
        return getattr(self, f"_{kind}", lambda *_: Ref(kind))(s, at)

    def ref(self, ref: str, at: str) -> Expr:
        if ref not in self.names:
            self.names[ref] = name = f"r{len(self.names)}-" + "".join(
                c for c in ref.rsplit("/", 1)[-1].lower() if c.isalnum()
            )
            found: Any = self.document
            for part in ref.lstrip("#").split("/")[1:]:
                found = found[int(part)] if isinstance(found, list) else found.get(part)
                if found is None:
                    raise SchemaError(f"{at}/$ref", "$ref", f"{ref} is nowhere in this schema")
            self.rules[name] = self.lower(found, ref.lstrip("#"))
        return Ref(self.names[ref])

    def _string(self, s: Any, at: str) -> Expr:
        low, high = s.get("minLength", 0), s.get("maxLength", self.max_string)
        self.deferred += [(at, k) for k in ("pattern", "format") if k in s]
        if high is not None and high > 2000:
            k = 1000
            q = (high - low - (k - 1)) // k
            self.rules["block"] = Repeat(Ref("char"), k, k)
            return Seq(
                (
                    Text('"'),
                    Repeat(Ref("char"), low, low),
                    Repeat(Ref("block"), 0, q),
                    Repeat(Ref("char"), 0, high - low - q * k),
                    Text('"'),
                )
            )
        return Seq((Text('"'), Repeat(Ref("char"), low, high), Text('"')))

    def _integer(self, s: Any, at: str) -> Expr:
        low, high = s.get("minimum"), s.get("maximum")
        if low is not None and high is not None and 0 <= high - low <= 1000:
            return Alt(tuple(Text(str(n)) for n in range(low, high + 1)))
        self.deferred += [(at, k) for k in ("minimum", "maximum", "multipleOf") if k in s]
        return Ref("integer")

    def _array(self, s: Any, at: str) -> Expr:
        item = self.lower(s.get("items", True), f"{at}/items")
        low, high = s.get("minItems", 0), s.get("maxItems")
        if high == 0:
            return Text("[]")
        more = Repeat(Seq((Text(","), item)), max(low - 1, 0), None if high is None else high - 1)
        inner: Expr = Seq((item, more))
        return Seq((Text("["), inner if low else Repeat(inner, 0, 1), Text("]")))

    def _object(self, s: Any, at: str) -> Expr:
        if "properties" not in s:
            return Ref("object")
        members = [
            (
                key in s.get("required", ()),
                Seq(
                    (
                        Text(json.dumps(key, ensure_ascii=False) + ":"),
                        self.lower(sub, f"{at}/properties/{key}"),
                    )
                ),
            )
            for key, sub in s["properties"].items()
        ]
        here = f"o{len(self.rules)}"
        self.rules[here] = Text("")
        end: Expr = Text("}")
        first, later = end, end
        for i in range(len(members) - 1, -1, -1):
            needed, member = members[i]
            first = Seq((member, later)) if needed else Alt((Seq((member, later)), first))
            later = (
                Seq((Text(","), member, later))
                if needed
                else Alt((Seq((Text(","), member, later)), later))
            )
            self.rules[f"{here}-f{i}"], self.rules[f"{here}-l{i}"] = first, later
            first, later = Ref(f"{here}-f{i}"), Ref(f"{here}-l{i}")
        del self.rules[here]
        return Seq((Text("{"), first))
