"""Random schemas over a small world of values, with every keyword, alone and put together.

The world is small so that a value often fits a schema, or just does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

KEYS = ("a", "ab", "b", "x-1")
TEXTS = ("", "a", "ab", "b1", "1", 'q"', "é", "aaaa")
NUMBERS = (-2, -1, 0, 1, 2, 3, 5, 6, 1.5, -0.5, 2.0, 10)
PATTERNS = ("^a", "b$", "[0-9]", "^(?!ab)", "^a{1,3}$", "^.?$", "a|é", "^(a|b1)*$")
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


def value(chance: Random, depth: int = 2) -> Any:
    """A value of the world."""
    kind = chance.randrange(8 if depth else 5)
    if kind == 0:
        return chance.choice((None, True, False))
    if kind < 3:
        return chance.choice(NUMBERS)
    if kind < 5:
        return chance.choice(TEXTS)
    if kind == 5:
        return [value(chance, depth - 1) for _ in range(chance.randrange(4))]
    keys = chance.sample(KEYS, chance.randrange(len(KEYS) + 1))
    return {key: value(chance, depth - 1) for key in keys}


def schema(chance: Random, depth: int = 3) -> Any:
    """A schema of the world."""
    if chance.random() < 0.06:
        return chance.random() < 0.7
    made: dict[str, Any] = {}
    if chance.random() < 0.6:
        made["type"] = chance.choice((*TYPES, "object", "array", chance.sample(TYPES, 2)))
    for _ in range(chance.choice((0, 1, 1, 2, 2, 3))):
        made |= chance.choice(_KEYWORDS)(chance, depth)
    return made


def _listed(chance: Random, depth: int) -> dict[str, Any]:
    if chance.random() < 0.4:
        return {"const": value(chance, 1)}
    return {"enum": [value(chance, 1) for _ in range(chance.randint(1, 4))]}


def _number(chance: Random, depth: int) -> dict[str, Any]:
    keywords = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    if chance.random() < 0.2:
        return {"multipleOf": chance.choice((1, 2, 3, 0.5))}
    return {chance.choice(keywords): chance.choice(NUMBERS)}


def _text(chance: Random, depth: int) -> dict[str, Any]:
    if chance.random() < 0.5:
        return {"pattern": chance.choice(PATTERNS)}
    return {chance.choice(("minLength", "maxLength")): chance.randrange(4)}


def _array(chance: Random, depth: int) -> dict[str, Any]:
    if not depth:
        return {"minItems": 1}
    made: dict[str, Any] = {}
    if chance.random() < 0.4:
        made["prefixItems"] = [schema(chance, depth - 1) for _ in range(chance.randint(1, 2))]
    if chance.random() < 0.5:
        made["items"] = schema(chance, depth - 1)
    if chance.random() < 0.3:
        made[chance.choice(("minItems", "maxItems"))] = chance.randrange(4)
    if chance.random() < 0.3:
        made["contains"] = schema(chance, depth - 1)
        if chance.random() < 0.5:
            made[chance.choice(("minContains", "maxContains"))] = chance.randrange(3)
    if chance.random() < 0.15:
        made["uniqueItems"] = True
    if chance.random() < 0.1:
        made["unevaluatedItems"] = schema(chance, 0)
    return made


def _object(chance: Random, depth: int) -> dict[str, Any]:
    if not depth:
        return {"required": [chance.choice(KEYS)]}
    made: dict[str, Any] = {}
    if chance.random() < 0.7:
        keys = chance.sample(KEYS, chance.randint(1, 3))
        made["properties"] = {key: schema(chance, depth - 1) for key in keys}
    if chance.random() < 0.4:
        made["required"] = chance.sample(KEYS, chance.randint(1, 2))
    if chance.random() < 0.25:
        pattern = chance.choice(("^a", "b", "^x-", "[0-9]$"))
        made["patternProperties"] = {pattern: schema(chance, depth - 1)}
    if chance.random() < 0.3:
        made["additionalProperties"] = schema(chance, depth - 1)
    if chance.random() < 0.15:
        made["propertyNames"] = chance.choice(({"maxLength": 1}, {"pattern": "^[abx]"}))
    return made | _rare(chance, depth)


def _rare(chance: Random, depth: int) -> dict[str, Any]:
    """What is seldom said of objects."""
    made: dict[str, Any] = {}
    if chance.random() < 0.15:
        made[chance.choice(("minProperties", "maxProperties"))] = chance.randrange(4)
    if chance.random() < 0.15:
        made["dependentRequired"] = {chance.choice(KEYS): [chance.choice(KEYS)]}
    if chance.random() < 0.1:
        made["dependentSchemas"] = {chance.choice(KEYS): schema(chance, depth - 1)}
    if chance.random() < 0.1:
        made["unevaluatedProperties"] = schema(chance, 0)
    return made


def _combined(chance: Random, depth: int) -> dict[str, Any]:
    if not depth:
        return {}
    keyword = chance.choice(("allOf", "anyOf", "oneOf", "not", "if"))
    if keyword == "not":
        return {"not": schema(chance, depth - 1)}
    if keyword == "if":
        made = {word: schema(chance, depth - 1) for word in ("if", "then", "else")}
        if chance.random() < 0.3:
            del made[chance.choice(("then", "else"))]
        return made
    return {keyword: [schema(chance, depth - 1) for _ in range(chance.randint(1, 3))]}


_KEYWORDS = (_listed, _number, _text, _array, _object, _object, _combined, _combined)
