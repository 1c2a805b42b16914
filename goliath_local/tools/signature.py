"""A function's parameters as a schema: type hints, defaults and descriptions.

Pure. What a model cannot fill is refused when the tool is declared, with file, line, function
and parameter, and with what to write instead.
"""

from __future__ import annotations

import inspect
import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model
from pydantic import ValidationError as PydanticError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from goliath_local.errors import InvalidValue, SchemaError
from goliath_local.schema import Declared, declare
from goliath_local.tools.tool import ToolContext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goliath_local.tools.place import Place

CONTEXT = "context"
_NAMED = {"properties", "$defs"}
"""Keywords whose keys are the application's names."""

_VALUES = {"default", "enum", "const", "examples"}
"""Keywords that hold values, not schemas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """How a function is called with a model's arguments."""

    parameters: Declared
    """Reads a JSON object into keyword arguments."""

    context_name: str | None
    """The parameter that gets the `ToolContext`, if there is one."""


def read_signature(
    function: Callable[..., Any],
    *,
    place: Place,
    descriptions: Mapping[str, str],
    names: Mapping[str, Any],
) -> Signature:
    """Return the function's parameters as a schema.

    Args:
        function: what is called.
        place: where it is, for messages.
        descriptions: what is known of each parameter.
        names: what type hints written as text may refer to, besides the function's module.

    Raises:
        ToolError: a parameter cannot be filled by a model; names it.
    """
    fields: dict[str, Any] = {}
    context_name = None
    for parameter in inspect.signature(function).parameters.values():
        _verify_kind(parameter, place)
        hint = _hint(function, parameter, place=place, names=names)
        if _is_context(parameter.name, hint):
            context_name = parameter.name
            continue
        _verify_type(parameter.name, hint, place)
        # Fields are numbered: a parameter may be called `copy` or `json`, a field may not.
        fields[f"f{len(fields)}"] = (
            hint,
            _field(parameter, hint, descriptions.get(parameter.name)),
        )
    return Signature(parameters=_declared(fields, place), context_name=context_name)


def _verify_kind(parameter: inspect.Parameter, place: Place) -> None:
    refused = {
        inspect.Parameter.VAR_POSITIONAL: ("collects positional arguments", "*"),
        inspect.Parameter.VAR_KEYWORD: ("collects keyword arguments", "**"),
        inspect.Parameter.POSITIONAL_ONLY: ("can only be passed by position", ""),
    }
    if parameter.kind not in refused:
        return
    what, stars = refused[parameter.kind]
    advice = (
        "Remove the / from the signature"
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY
        else "Name each parameter the model may fill, for example text: str"
    )
    raise place.error(stars + parameter.name, f"{what}. {advice}")


def _hint(
    function: Callable[..., Any],
    parameter: inspect.Parameter,
    *,
    place: Place,
    names: Mapping[str, Any],
) -> Any:
    name, hint = parameter.name, parameter.annotation
    if hint is inspect.Parameter.empty:
        if name in {"self", "cls"}:
            advice = f"Decorate the bound method: tool(thing.{place.function})"
            raise place.error(name, f"is never filled by a model. {advice}")
        raise place.error(name, f"has no type hint. Write for example {name}: str")
    if not isinstance(hint, str):
        return hint
    if name == CONTEXT and hint.rpartition(".")[2].strip(" '\"") == ToolContext.__name__:
        return ToolContext
    scope = {**getattr(inspect.unwrap(function), "__globals__", {}), **names}
    try:
        return eval(hint, scope)  # noqa: S307 - a type hint of the program's own source
    except Exception as error:
        advice = "Import the type outside of TYPE_CHECKING"
        what = f"has the type hint {hint!r}, which cannot be read here: {error}. {advice}"
        raise place.error(name, what) from error


def _is_context(name: str, hint: Any) -> bool:
    return name == CONTEXT and hint is ToolContext


def _verify_type(name: str, hint: Any, place: Place) -> None:
    try:
        declare(hint)
    except (SchemaError, PydanticUserError, PydanticSchemaGenerationError) as error:
        shown = getattr(hint, "__name__", str(hint))
        kinds = "text, numbers, bool, dates, enums, Literal, lists, dataclasses, pydantic models"
        what = f"is a {shown}, and a model cannot write one. Use one of: {kinds}"
        raise place.error(name, what) from error


def _field(parameter: inspect.Parameter, hint: Any, described: str | None) -> Any:
    options: dict[str, Any] = {"alias": parameter.name}
    description = described or _described(hint)
    if description:
        options["description"] = description
    if parameter.default is inspect.Parameter.empty:
        return Field(**options)
    default = parameter.default
    if _has_json(hint, default):
        return Field(default=default, **options)
    # A default that JSON cannot show is filled in all the same, only not shown to the model.
    return Field(default_factory=lambda: default, **options)


def _described(hint: Any) -> str | None:
    """Return the text in `Annotated[str, "what it is"]`."""
    if get_origin(hint) is not Annotated:
        return None
    return next((note for note in get_args(hint)[1:] if isinstance(note, str)), None)


def _has_json(hint: Any, default: Any) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            json.dumps(TypeAdapter(hint).dump_python(default, mode="json"), allow_nan=False)
    except Exception:  # noqa: BLE001 - whatever stops it, the default is then not shown
        return False
    return True


def _declared(fields: Mapping[str, Any], place: Place) -> Declared:
    model: type[BaseModel] = create_model(
        place.function, __config__=ConfigDict(protected_namespaces=()), **dict(fields)
    )
    schema = without_titles(model.model_json_schema())
    schema.setdefault("properties", {})

    def read(value: Any) -> dict[str, Any]:
        try:
            filled = model.model_validate(value)
        except PydanticError as error:
            first = error.errors(include_url=False)[0]
            raise InvalidValue(_pointer(first["loc"]), str(first["msg"])) from error
        return {
            str(info.alias): getattr(filled, name) for name, info in model.model_fields.items()
        }

    return Declared(json=schema, read=read, source=model)


def without_titles(schema: Any, *, names: bool = False) -> Any:
    """Return the schema without the titles that pydantic makes up; they only cost tokens.

    Args:
        schema: a schema, or something inside one.
        names: True for a mapping whose keys are the application's names, such as `properties`.
    """
    if isinstance(schema, list):
        return [without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: item
        if not names and key in _VALUES
        else without_titles(item, names=not names and key in _NAMED)
        for key, item in schema.items()
        if names or key != "title" or not isinstance(item, str)
    }


def _pointer(path: tuple[int | str, ...]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
