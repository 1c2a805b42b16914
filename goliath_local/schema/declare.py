"""What an application may hand us as a schema, and how its values are read.

Pure. A pydantic model, a dataclass or any type hint is read by pydantic, transforms included; a
JSON Schema by `jsonschema` (draft 2020-12 unless `$schema` says otherwise), formats asserted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from jsonschema.exceptions import SchemaError as BadSchema
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from pydantic import BaseModel, PydanticSchemaGenerationError, PydanticUserError, TypeAdapter
from pydantic import ValidationError as PydanticError

from goliath_local.errors import InvalidValue, SchemaError
from goliath_local.schema.models import Schemas, says_more

SchemaSource: TypeAlias = Any
"""A JSON Schema (mapping or bool), a pydantic model, a dataclass or a type hint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A schema together with the way its values are read."""

    json: Mapping[str, Any]
    """The JSON Schema; keys of `properties` in declared order."""

    read: Callable[[Any], Any]
    """JSON value → validated value, transforms run once. Raises `InvalidValue`."""

    source: SchemaSource

    says_more: bool = False
    """Whether `read` refuses values that the JSON Schema lets pass."""

    @property
    def is_object(self) -> bool:
        """True when values are objects with named properties."""
        return self.json.get("type") == "object" or "properties" in self.json

    @property
    def properties(self) -> Mapping[str, Any]:
        """The declared properties, in order; empty when there are none."""
        found = self.json.get("properties", {})
        return found if isinstance(found, Mapping) else {}


def declare(source: SchemaSource) -> Declared:
    """Return the source as a schema with its reader.

    Raises:
        SchemaError: it is neither a schema nor a type that has one.
    """
    if isinstance(source, Declared):
        return source
    if isinstance(source, bool):
        return declare({} if source else {"not": {}})
    if isinstance(source, Mapping):
        return _from_json_schema(source)
    return _from_type(source)


def _from_json_schema(schema: Mapping[str, Any]) -> Declared:
    validator_class = validator_for(schema)
    try:
        validator_class.check_schema(dict(schema))
    except BadSchema as error:
        pointer = _pointer(error.absolute_path)
        keyword = str(error.absolute_path[-1]) if error.absolute_path else ""
        raise SchemaError(pointer, keyword, error.message) from error
    # Not FormatChecker(): that one reads `time` as draft 3 did, without an offset.
    validator = validator_class(schema, format_checker=validator_class.FORMAT_CHECKER)

    def read(value: Any) -> Any:
        error = best_match(validator.iter_errors(value))
        if error is not None:
            raise InvalidValue(_pointer(error.absolute_path), error.message)
        return value

    return Declared(json=schema, read=read, source=schema)


def _from_type(hint: Any) -> Declared:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
        schema = adapter.json_schema(schema_generator=Schemas)
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError) as error:
        name = getattr(hint, "__name__", hint)
        reason = f"{name} is neither a JSON Schema nor a type that has one: {error}"
        raise SchemaError("", "", reason) from error

    def read(value: Any) -> Any:
        try:
            return adapter.validate_python(value, strict=False)
        except PydanticError as error:
            first = error.errors(include_url=False)[0]
            raise InvalidValue(_pointer(first["loc"]), str(first["msg"])) from error

    more = says_more(adapter.core_schema)
    return Declared(json=schema, read=read, source=hint, says_more=more)


def dump(value: Any) -> Any:
    """Return the JSON form of a validated value: models, dataclasses, dates, enums."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    return TypeAdapter(Any).dump_python(value, mode="json")


def _pointer(path: Any) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
