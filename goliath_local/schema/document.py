"""A schema document: its places, and what the references in it point to.

Pure. A place is a subschema with its JSON pointer; each is made once. References stay inside the
document, but for the meta-schemas of JSON Schema itself, which are always known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote, urldefrag, urljoin

from jsonschema.validators import Draft202012Validator, validator_for

from goliath_local.errors import SchemaError
from goliath_local.schema.keywords import SILENT, escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 200
"""Values inside one another in a schema document."""

MAX_SIZE = 200_000
"""Values in a schema document."""

# In these a "$ref" or an "$id" is data.
_DATA = frozenset({"enum", "const", "default", "examples", "example"})
_NEWEST_DRAFT = 2020


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """A schema that references can name: the document, or a part with an `$id`."""

    uri: str
    root: Any
    pointer: str
    draft: int
    """Year of the specification for 2019 and later, its number before."""

    anchors: dict[str, tuple[Any, str]]
    dynamic: set[str]


_Waiting: TypeAlias = "tuple[Any, str, Resource, int]"


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A subschema where it stands."""

    number: int
    schema: Any
    pointer: str
    resource: Resource
    negated: bool = False
    """Stands for everything the subschema does not hold."""

    blame: tuple[str, str] = ("", "")
    """Of a negated place: pointer and keyword that made it so."""


class Document:
    """All places of one schema. Grows while it is read."""

    def __init__(self, schema: Any) -> None:
        self._by_uri: dict[str, Resource] = {}
        self._by_schema: dict[int, Resource] = {}
        self._places: dict[tuple[str, int], Place] = {}
        self._negations: dict[int, Place] = {}
        self._contents: dict[Any, int] = {}
        self._content_of: dict[int, tuple[Any, int]] = {}
        self._by_number: list[Place] = []
        self.root = self._add(schema, "", "")

    def _add(self, schema: Any, uri: str, pointer: str) -> Place:
        """Register a document with all that can be named in it."""
        resource = self._resource(schema, uri, pointer, draft_of(schema))
        self._by_schema[id(schema)] = resource
        waiting: list[_Waiting] = [(schema, pointer, resource, 0)]
        size = 0
        while waiting:
            value, at, resource, depth = waiting.pop()
            size += 1
            if depth > MAX_DEPTH:
                raise SchemaError(at, "", f"nested deeper than {MAX_DEPTH}: flatten the schema")
            if size > MAX_SIZE:
                raise SchemaError("", "", f"more than {MAX_SIZE:,} values: split the schema")
            if isinstance(value, Mapping):
                resource = self._named(value, at, resource)
                waiting += _inside(value, at, resource, depth)
            else:
                waiting += [
                    (inner, f"{at}/{number}", resource, depth + 1)
                    for number, inner in enumerate(value if _is_list(value) else ())
                    if isinstance(inner, Mapping | list | tuple)
                ]
        return self.place(schema, pointer, self._by_schema[id(schema)])

    def _named(self, schema: Mapping[str, Any], at: str, resource: Resource) -> Resource:
        """Register what the `$id` and the anchors of a subschema name."""
        own = schema.get("$id" if resource.draft > 4 else "id")
        # Up to draft 7 nothing beside a $ref counts.
        if isinstance(own, str) and not (resource.draft < 2019 and "$ref" in schema):
            base = urldefrag(_joined(resource.uri, own))[0]
            if own.startswith("#"):
                resource.anchors.setdefault(own[1:], (schema, at))
            elif schema is resource.root:
                self._by_uri.setdefault(base, resource)
            else:
                resource = self._resource(schema, base, at, draft_of(schema, resource.draft))
                self._by_schema[id(schema)] = resource
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = schema.get(keyword)
            if isinstance(anchor, str):
                resource.anchors[anchor] = (schema, at)
                if keyword == "$dynamicAnchor":
                    resource.dynamic.add(anchor)
        return resource

    def _resource(self, schema: Any, uri: str, pointer: str, draft: int) -> Resource:
        if isinstance(schema, Mapping) and not pointer:
            own = schema.get("$id" if draft > 4 else "id")
            if isinstance(own, str) and not own.startswith("#"):
                uri = urldefrag(_joined(uri, own))[0]
        found = Resource(uri, schema, pointer, draft, {}, set())
        self._by_uri.setdefault(uri, found)
        return found

    def place(self, schema: Any, pointer: str, resource: Resource) -> Place:
        """Return the place of a subschema; made once for each."""
        key = (pointer, id(schema))
        found = self._places.get(key)
        if found is None:
            if not isinstance(schema, Mapping | bool):
                shown = type(schema).__name__
                raise SchemaError(pointer, "", f"a schema is an object or a bool, not {shown}")
            resource = self._by_schema.get(id(schema), resource)
            found = Place(len(self._by_number), schema, pointer, resource)
            self._places[key] = found
            self._by_number.append(found)
        return found

    def below(self, place: Place, *keys: str | int) -> Place:
        """Return the place some keys further down."""
        schema, pointer, resource = place.schema, place.pointer, place.resource
        for key in keys:
            schema = schema[key]
            pointer = f"{pointer}/{escaped(str(key))}"
            resource = self._by_schema.get(id(schema), resource)
        return self.place(schema, pointer, resource)

    def invented(self, schema: Any, pointer: str, resource: Resource) -> Place:
        """Return a place for a schema that stands nowhere, such as the meaning of an enum value.

        The pointer is where its meaning comes from; the place is always a new one.
        """
        found = Place(len(self._by_number), schema, pointer, resource)
        self._by_number.append(found)
        return found

    def negation(self, place: Place, blame: tuple[str, str]) -> Place:
        """Return the place of everything that another does not hold."""
        found = self._negations.get(place.number)
        if found is None:
            found = Place(
                len(self._by_number), place.schema, place.pointer, place.resource, True, blame
            )
            self._negations[place.number] = found
            self._by_number.append(found)
        return found

    def numbered(self, number: int) -> Place:
        """Return the place with that number."""
        return self._by_number[number]

    def content(self, place: Place) -> tuple[int, bool]:
        """Return what is equal for places that say the same, wherever they stand."""
        return self._content(place.schema, place.resource), place.negated

    def _content(self, value: Any, resource: Resource) -> int:
        known = self._content_of.get(id(value))
        if known is not None:
            return known[1]
        key: Any
        if isinstance(value, Mapping):
            parts = [(k, self._content(v, resource)) for k, v in value.items() if k not in SILENT]
            key = ("{", id(resource), *parts)
        elif isinstance(value, list | tuple):
            key = ("[", *(self._content(v, resource) for v in value))
        else:
            key = (type(value), value)
        found = self._contents.setdefault(key, len(self._contents))
        if isinstance(value, Mapping | list | tuple):
            self._content_of[id(value)] = (value, found)
        return found

    def target(self, place: Place, keyword: str = "$ref") -> Place:
        """Return the place a reference points to.

        Raises:
            SchemaError: there is none.
        """
        ref = place.schema[keyword]
        uri, fragment = urldefrag(_joined(place.resource.uri, ref))
        resource = self._by_uri.get(uri) or self._standard(uri)
        where = place.pointer
        if resource is None:
            raise SchemaError(
                where,
                keyword,
                f"{keyword} {ref} is outside this document: put its schema under $defs",
            )
        if not fragment or fragment.startswith("/"):
            return self._walked(resource, fragment, ref, where)
        found = resource.anchors.get(unquote(fragment))
        if found is None:
            raise SchemaError(where, keyword, f"{keyword} {ref} names an anchor that is nowhere")
        return self.place(found[0], found[1], resource)

    def _walked(self, resource: Resource, fragment: str, ref: str, where: str) -> Place:
        value, pointer = resource.root, resource.pointer
        for token in fragment.split("/")[1:]:
            key = unquote(token).replace("~1", "/").replace("~0", "~")
            inner = _item(value, key)
            if inner is None:
                reason = f"$ref {ref} points to nothing: there is no {key!r}"
                raise SchemaError(where, "$ref", reason)
            value, pointer = inner, f"{pointer}/{escaped(key)}"
            resource = self._by_schema.get(id(value), resource)
        return self.place(value, pointer, resource)

    def _standard(self, uri: str) -> Resource | None:
        unknown = Draft202012Validator
        known = validator_for({"$schema": uri}, default=unknown)
        if known is unknown and uri != unknown.META_SCHEMA["$id"]:
            return None
        self._add(known.META_SCHEMA, uri, uri)
        return self._by_uri.get(uri)

    @property
    def is_alone(self) -> bool:
        """True when there is but one resource."""
        return len(set(self._by_uri.values())) <= 1

    def is_lone_anchor(self, name: str) -> bool:
        """Return whether at most one dynamic anchor bears the name, so that it is a plain one."""
        return sum(name in resource.dynamic for resource in set(self._by_uri.values())) <= 1


def draft_of(schema: Any, inherited: int = _NEWEST_DRAFT) -> int:
    """Return the draft that a schema names: 3, 4, 6, 7, 2019 or 2020."""
    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    if not isinstance(named, str):
        return inherited
    for draft in (3, 4, 6, 7):
        if f"draft-0{draft}" in named:
            return draft
    return 2019 if "2019-09" in named else _NEWEST_DRAFT


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _inside(
    schema: Mapping[str, Any], at: str, resource: Resource, depth: int
) -> Iterator[_Waiting]:
    """Yield the containers right inside a subschema; what is data is only measured."""
    for key, inner in schema.items():
        if not isinstance(key, str):
            raise SchemaError(at, "", f"{key!r} is no name: keys must be strings")
        below = f"{at}/{escaped(key)}"
        if key in _DATA:
            _verify_depth(inner, below, depth)
        elif isinstance(inner, Mapping | list | tuple):
            yield inner, below, resource, depth + 1


def _joined(base: str, uri: str) -> str:
    # urljoin knows no relative URNs.
    return urldefrag(base)[0] + uri if uri.startswith("#") else urljoin(base, uri)


def _item(value: Any, key: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(key)
    if isinstance(value, list | tuple) and key.isdecimal() and int(key) < len(value):
        return value[int(key)]
    return None


def _verify_depth(value: Any, at: str, depth: int) -> None:
    """Raise when data in a schema is nested too deep."""
    waiting = [(value, depth)]
    while waiting:
        inner, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise SchemaError(at, "", f"nested deeper than {MAX_DEPTH}: flatten the schema")
        if isinstance(inner, Mapping):
            waiting += [(value, depth + 1) for value in inner.values()]
        elif isinstance(inner, list | tuple):
            waiting += [(value, depth + 1) for value in inner]
