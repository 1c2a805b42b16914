"""Declaring tools: from a function's signature and docstring, or field by field.

Pure. Every option is checked here, so that a mistake shows when a program starts and not in
the middle of a turn.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast, overload

from goliath_local.errors import SchemaError, ToolError
from goliath_local.schema import Declared, SchemaSource, declare
from goliath_local.tools.docstring import read_docstring, words_of
from goliath_local.tools.place import place_of
from goliath_local.tools.signature import read_signature, without_titles
from goliath_local.tools.tool import Execute, FormatOutput, Preview, Tool

if TYPE_CHECKING:
    from goliath_local.records import OutputMode
    from goliath_local.tools.tool import ToolContext

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""What a tool may be called."""


class ToolOptions(TypedDict, total=False):
    """What may be said of a tool besides its name, description, parameters and function."""

    writes: bool
    requires_confirmation: bool
    output_mode: OutputMode | None
    resolve_input: Execute | None
    to_model_output: FormatOutput | None
    preview: Preview | None
    requires: Iterable[str]
    idempotent: bool
    timeout_s: float | None


def define_tool(
    *,
    name: str,
    description: str,
    execute: Execute,
    parameters: SchemaSource = None,
    **options: Unpack[ToolOptions],
) -> Tool:
    """Return a checked tool.

    Args:
        name: letters, digits, `_` and `-`, at most 64, not starting with a digit.
        description: one sentence, read by the model at every planning call.
        execute: called with the validated arguments and a `ToolContext`; sync or async.
        parameters: a JSON Schema, a pydantic model, a dataclass or a type; None is no arguments.
        options: see `Tool`.

    Raises:
        ToolError: one of them is unusable; says which and why.
    """
    _verify_name(name)
    if not (description or "").strip():
        message = f"{name}: the description is blank. Say in one sentence what it does."
        raise ToolError(message)
    if not callable(cast("Any", execute)):
        message = f"{name}: execute is {execute!r}. Give the function to call."
        raise ToolError(message)
    return Tool(
        name=name,
        description=" ".join(description.split()),
        parameters=_parameters(name, parameters),
        execute=execute,
        **_verified(name, options),
    )


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **options: Unpack[ToolOptions],
) -> Callable[[Callable[..., Any]], Tool]: ...


@overload
def tool(
    function: Callable[..., Any],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **options: Unpack[ToolOptions],
) -> Tool: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **options: Unpack[ToolOptions],
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function: parameters from its type hints, description from its docstring.

    Used as `@tool`, as `@tool(writes=True)`, or as `tool(thing.method)`. A parameter `context:
    ToolContext` is given the context and is not shown to the model. A plain function runs in a
    thread of its own, an `async def` in the event loop.

    Raises:
        ToolError: the signature or an option is unusable; names file, line and parameter.
    """
    frame = inspect.currentframe()
    # Type hints written as text may name types of the function the tool is declared in.
    names = dict(frame.f_back.f_locals) if frame is not None and frame.f_back is not None else {}

    def make(function: Callable[..., Any]) -> Tool:
        return _from_function(function, name, description, names=names, options=options)

    return make if function is None else make(function)


def _from_function(
    function: Callable[..., Any],
    name: str | None,
    description: str | None,
    *,
    names: Mapping[str, Any],
    options: ToolOptions,
) -> Tool:
    if isinstance(function, type | staticmethod | classmethod) or not callable(function):
        message = f"{function!r} is no function. Decorate a function or a bound method with @tool."
        raise ToolError(message)
    place = place_of(function)
    docs = read_docstring(function)
    signature = read_signature(function, place=place, descriptions=docs.parameters, names=names)
    own_name = place.function if name is None else name
    return define_tool(
        name=own_name,
        description=description or docs.summary or words_of(own_name),
        execute=_called_by_name(function, signature.context_name),
        parameters=signature.parameters,
        **options,
    )


def _called_by_name(function: Callable[..., Any], context_name: str | None) -> Execute:
    def keywords(arguments: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        return {**arguments, **({context_name: context} if context_name else {})}

    if inspect.iscoroutinefunction(function):

        async def execute_async(arguments: Any, context: ToolContext) -> Any:
            return await function(**keywords(arguments, context))

        return execute_async

    def execute(arguments: Any, context: ToolContext) -> Any:
        return function(**keywords(arguments, context))

    return execute


def _parameters(name: str, source: SchemaSource) -> Declared:
    try:
        found = declare({"type": "object", "properties": {}} if source is None else source)
    except SchemaError as error:
        message = f"{name}: its parameters are no usable schema: {error}. Correct them there."
        raise ToolError(message) from error
    is_written = source is None or isinstance(source, Mapping | Declared)
    return found if is_written else replace(found, json=without_titles(found.json))


def _verify_name(name: object) -> None:
    if not isinstance(name, str) or NAME.fullmatch(name) is None:
        message = (
            f"A tool cannot be called {name!r}. Use letters, digits, _ and -, at most 64, "
            "the first one no digit; for example list_notes."
        )
        raise ToolError(message)


def _verified(name: str, options: ToolOptions) -> dict[str, Any]:
    """Return the options as fields of `Tool`, or say what is wrong with one."""
    known = ToolOptions.__annotations__
    for option, value in options.items():
        if option not in known:
            message = f"{name}: there is no option {option!r}. There are: {', '.join(known)}."
            raise ToolError(message)
        wrong = _CHECKS[option](value)
        if wrong:
            message = f"{name}: {option} is {value!r}. {wrong}"
            raise ToolError(message)
    fields: dict[str, Any] = dict(options)
    if "requires" in options:
        fields["requires"] = tuple(options["requires"])
    return fields


def _wrong_flag(value: object) -> str:
    return "" if isinstance(value, bool) else "Write True or False."


def _wrong_mode(value: object) -> str:
    return "" if value in (None, "summary", "content") else 'Write "summary" or "content".'


def _wrong_function(value: object) -> str:
    return "" if value is None or callable(value) else "Give a function, or leave it out."


def _wrong_names(value: object) -> str:
    listed = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    good = listed and all(isinstance(item, str) for item in value)  # type: ignore[attr-defined]  # iterable here
    return "" if good else 'Write a list of tool names, for example ["find_note"].'


def _wrong_seconds(value: object) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    good = value is None or (number and 0 < value < float("inf"))  # type: ignore[operator]  # a number here
    return "" if good else "Write a number of seconds above 0, or leave it out."


_CHECKS: Mapping[str, Callable[[object], str]] = {
    "writes": _wrong_flag,
    "requires_confirmation": _wrong_flag,
    "output_mode": _wrong_mode,
    "resolve_input": _wrong_function,
    "to_model_output": _wrong_function,
    "preview": _wrong_function,
    "requires": _wrong_names,
    "idempotent": _wrong_flag,
    "timeout_s": _wrong_seconds,
}
"""What is wrong with an option's value, in words; empty when nothing is."""
