from __future__ import annotations

import datetime as dt
import enum
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from goliath_local.errors import ConfigError, ToolError
from goliath_local.schema import declare
from goliath_local.tools import ToolContext, define_tool, tool, tools_by_name

if TYPE_CHECKING:
    from pathlib import Path


def google(title: str, count: int = 1) -> str:
    """Put something on the list.

    Longer words that nobody needs.

    Args:
        title (str): What to buy,
            over two lines.
        count (int, optional): How many. Defaults to 1.

    Returns:
        str: the list.
    """
    return title * count


def numpy(title: str, count: int = 1) -> str:
    """Put something on the list.

    Parameters
    ----------
    title : str
        What to buy,
        over two lines.
    count : int, optional
        How many. Defaults to 1.
    """
    return title * count


def rest(title: str, count: int = 1) -> str:
    """Put something on the list.

    :param title: What to buy,
        over two lines.
    :type title: str
    :param int count: How many. Defaults to 1.
    :returns: the list
    """
    return title * count


class Shop:
    def method(self, title: str, count: int = 1) -> str:
        """Put something on the list.

        Args:
            title: What to buy, over two lines.
            count: How many. Defaults to 1.
        """
        return title * count


async def later(title: str, count: int = 1) -> str:
    """Put something on the list.

    Args:
        title: What to buy, over two lines.
        count: How many. Defaults to 1.
    """
    return title * count


EXPECTED = {
    "properties": {
        "title": {"description": "What to buy, over two lines.", "type": "string"},
        "count": {
            "default": 1,
            "description": "How many. Defaults to 1.",
            "type": "integer",
        },
    },
    "required": ["title"],
    "type": "object",
}


@pytest.mark.parametrize("function", [google, numpy, rest, Shop().method, later])
def test_every_docstring_style_gives_the_same_schema(function: Any) -> None:
    made = tool(function)
    assert made.parameters.json == EXPECTED
    assert list(made.parameters.properties) == ["title", "count"]
    assert made.description == "Put something on the list."
    assert made.name == function.__name__


def test_a_docstring_without_sections_is_the_description() -> None:
    @tool
    def add_note(text: str) -> None:
        """Write down a note
        that is kept.

        More about it.
        """

    assert add_note.description == "Write down a note that is kept."
    assert add_note.parameters.properties == {"text": {"type": "string"}}


def test_without_a_docstring_the_name_is_the_description() -> None:
    @tool
    def add_note(text: str) -> None: ...

    assert add_note.description == "Add note."


def test_a_function_without_parameters_has_an_empty_schema() -> None:
    @tool
    def list_notes() -> None: ...

    assert list_notes.parameters.json == {"properties": {}, "type": "object"}


class Mood(enum.Enum):
    CALM = "calm"
    LOUD = "loud"


@dataclass
class Place:
    city: str
    zip_code: int = 0


class Pot(BaseModel):
    size: int = Field(ge=1, description="In centimetres.")


def test_rich_types_become_schemas_and_come_back_as_python_values() -> None:
    seen: dict[str, Any] = {}

    @tool
    def plant(
        day: dt.date,
        mood: Mood,
        kind: Literal["herb", "tree"],
        where: Place,
        pot: Pot,
        tags: list[str],
        height: Annotated[float | None, "In metres."] = None,
        label: Annotated[str, Field(max_length=5)] = "none",
    ) -> None: ...

    properties = plant.parameters.properties
    assert properties["day"] == {"format": "date", "type": "string"}
    assert properties["kind"] == {"enum": ["herb", "tree"], "type": "string"}
    assert properties["height"]["description"] == "In metres."
    assert properties["label"] == {"default": "none", "maxLength": 5, "type": "string"}
    assert "title" not in str(plant.parameters.json)
    seen = plant.parameters.read(
        {
            "day": "2026-03-01",
            "mood": "loud",
            "kind": "tree",
            "where": {"city": "Oslo"},
            "pot": {"size": 3},
            "tags": ["a"],
        }
    )
    assert seen == {
        "day": dt.date(2026, 3, 1),
        "mood": Mood.LOUD,
        "kind": "tree",
        "where": Place("Oslo"),
        "pot": Pot(size=3),
        "tags": ["a"],
        "height": None,
        "label": "none",
    }


def test_a_default_makes_a_parameter_optional_and_fills_it() -> None:
    @tool
    def find(day: dt.date = dt.date(2026, 3, 1), mood: Mood = Mood.CALM) -> None: ...

    assert "required" not in find.parameters.json
    assert find.parameters.properties["day"]["default"] == "2026-03-01"
    assert find.parameters.read({}) == {"day": dt.date(2026, 3, 1), "mood": Mood.CALM}


def test_a_default_that_json_cannot_show_is_filled_in_all_the_same() -> None:
    nothing = object()

    @tool
    def find(text: str = nothing) -> None: ...  # type: ignore[assignment]  # a sentinel, as people write it

    assert find.parameters.properties["text"] == {"type": "string"}
    assert find.parameters.read({})["text"] is nothing


def test_a_mutable_default_is_not_shared_between_calls() -> None:
    @tool
    def find(tags: list[str] = []) -> None: ...  # noqa: B006 - as people write it

    find.parameters.read({})["tags"].append("x")
    assert find.parameters.read({})["tags"] == []


def test_parameters_may_have_names_that_pydantic_uses_itself() -> None:
    @tool
    def find(copy: str, json: int, model_config: bool, schema: str, title: str) -> None:
        """Find.

        Args:
            title: of the book
        """

    assert list(find.parameters.properties) == ["copy", "json", "model_config", "schema", "title"]
    assert find.parameters.properties["title"] == {"description": "of the book", "type": "string"}
    values = {"copy": "a", "json": 1, "model_config": True, "schema": "s", "title": "t"}
    assert find.parameters.read(values) == values


def test_a_default_keeps_its_own_titles() -> None:
    @tool
    def find(book: dict[str, str] = {"title": "Emma"}) -> None: ...  # noqa: B006 - as people write it

    assert find.parameters.properties["book"]["default"] == {"title": "Emma"}


def test_the_context_is_not_shown_to_the_model() -> None:
    @tool
    def find(text: str, context: ToolContext) -> None: ...

    assert list(find.parameters.properties) == ["text"]


def test_a_parameter_called_context_that_is_a_text_is_an_ordinary_one() -> None:
    @tool
    def find(context: str) -> None: ...

    assert list(find.parameters.properties) == ["context"]


MODULE = """from __future__ import annotations
from typing import TYPE_CHECKING
from goliath_local import tools
if TYPE_CHECKING:
    from decimal import Decimal
    from goliath_local.tools import ToolContext

# line 8
class Thing: ...

@tools.tool(
    writes=True,
)
def NAME(PARAMETERS):
    pass
"""

REFUSED = [
    ("text: str, when", 'parameter "when" has no type hint. Write for example when: str'),
    ("when=3", 'parameter "when" has no type hint. Write for example when: str'),
    ("*args: int", 'parameter "*args" collects positional arguments. Name each parameter'),
    ("text: str, **more", 'parameter "**more" collects keyword arguments. Name each parameter'),
    ("text: str, /", 'parameter "text" can only be passed by position. Remove the /'),
    ("self, text: str", 'parameter "self" is never filled by a model. Decorate the bound method'),
    (
        "price: Decimal",
        "parameter \"price\" has the type hint 'Decimal', which cannot be read here",
    ),
    ("thing: Thing", 'parameter "thing" is a Thing, and a model cannot write one'),
]


@pytest.mark.parametrize(("parameters", "message"), REFUSED)
def test_an_unusable_parameter_is_refused_with_its_place(
    tmp_path: Path, parameters: str, message: str
) -> None:
    path = tmp_path / "mytools.py"
    source = MODULE.replace("NAME", "add_note").replace("PARAMETERS", parameters)
    path.write_text(source, encoding="utf-8")
    with pytest.raises(ToolError) as caught:
        exec(compile(source, path, "exec"), {"__name__": "mytools"})
    assert str(caught.value).startswith(f"mytools.py:14 add_note: {message}")


def test_a_context_hint_that_only_type_checkers_see_is_understood(tmp_path: Path) -> None:
    source = MODULE.replace("NAME", "f").replace("PARAMETERS", "x: int, context: ToolContext")
    names: dict[str, Any] = {"__name__": "mytools"}
    exec(compile(source, tmp_path / "mytools.py", "exec"), names)
    assert list(names["f"].parameters.properties) == ["x"]


def test_types_of_the_surrounding_function_are_found() -> None:
    class Local(BaseModel):
        size: int

    @tool
    def find(thing: Local) -> None: ...

    assert find.parameters.read({"thing": {"size": 2}}) == {"thing": Local(size=2)}


def test_a_class_is_no_tool() -> None:
    with pytest.raises(ToolError, match="is no function"):
        tool(Shop)


def test_a_partial_is_a_tool_once_it_has_a_name() -> None:
    made = tool(functools.partial(google, count=2), name="buy_two")
    assert made.name == "buy_two"
    assert list(made.parameters.properties) == ["title", "count"]


def test_a_decorated_function_keeps_its_own_signature() -> None:
    def loud(function: Any) -> Any:
        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return inner

    assert tool(loud(google)).parameters.json == EXPECTED


def test_the_options_end_up_on_the_tool() -> None:
    @tool(
        name="add",
        description="Adds  a\nnote.",
        writes=True,
        requires_confirmation=True,
        output_mode="content",
        requires=["find"],
        idempotent=False,
        timeout_s=3,
    )
    def add_note(text: str) -> None: ...

    assert (add_note.name, add_note.description) == ("add", "Adds a note.")
    assert add_note.writes
    assert add_note.requires_confirmation
    assert (add_note.output_mode, add_note.requires) == ("content", ("find",))
    assert (add_note.idempotent, add_note.timeout_s) == (False, 3)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("writes", 1),
        ("requires_confirmation", "yes"),
        ("output_mode", "full"),
        ("resolve_input", "f"),
        ("to_model_output", 3),
        ("requires", "find_note"),
        ("requires", [1]),
        ("idempotent", None),
        ("timeout_s", 0),
        ("timeout_s", float("nan")),
        ("timeout_s", float("inf")),
        ("timeout_s", True),
        ("colour", "blue"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_name(option: str, value: Any) -> None:
    with pytest.raises(ToolError, match=option):
        define_tool(name="f", description="F.", execute=lambda *_: None, **{option: value})


@pytest.mark.parametrize("name", ["", "1a", "a b", "ä", "a" * 65, "a.b", None, "a\n"])
def test_a_name_that_cannot_be_is_refused(name: Any) -> None:
    with pytest.raises(ToolError, match="cannot be called"):
        define_tool(name=name, description="F.", execute=lambda *_: None)


@pytest.mark.parametrize("description", ["", "  ", None])
def test_a_blank_description_is_refused(description: Any) -> None:
    with pytest.raises(ToolError, match="description is blank"):
        define_tool(name="f", description=description, execute=lambda *_: None)


def test_parameters_that_are_no_schema_are_refused() -> None:
    with pytest.raises(ToolError, match="f: its parameters are no usable schema"):
        define_tool(
            name="f", description="F.", execute=lambda *_: None, parameters={"type": "wrong"}
        )


@pytest.mark.parametrize(
    "parameters",
    [{"type": "object", "properties": {"size": {"type": "integer"}}}, Pot, declare(Pot)],
)
def test_parameters_may_be_a_schema_a_model_or_declared(parameters: Any) -> None:
    made = define_tool(name="f", description="F.", execute=lambda *_: None, parameters=parameters)
    assert list(made.parameters.properties) == ["size"]


def test_the_titles_that_pydantic_makes_up_are_not_shown_to_the_model() -> None:
    made = define_tool(name="f", description="F.", execute=print, parameters=Pot)
    assert "title" not in str(made.parameters.json)
    written = {"type": "object", "title": "Mine", "properties": {}}
    made = define_tool(name="f", description="F.", execute=print, parameters=written)
    assert made.parameters.json["title"] == "Mine"


def named(name: str, **options: Any) -> Any:
    return define_tool(name=name, description="F.", execute=lambda *_: None, **options)


def test_tools_are_keyed_by_their_own_names() -> None:
    assert list(tools_by_name({"x": named("a"), "y": named("b")})) == ["a", "b"]
    assert list(tools_by_name([named("b"), named("a")])) == ["b", "a"]
    assert tools_by_name(None) == {}


def test_two_tools_with_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="Two tools are called 'a'"):
        tools_by_name([named("a"), named("a")])


def test_a_prerequisite_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="a requires 'b', and there is no such tool"):
        tools_by_name([named("a", requires=["b"])])


def test_a_plain_function_is_refused_as_a_tool() -> None:
    with pytest.raises(ConfigError, match="is no tool"):
        tools_by_name([google])  # type: ignore[list-item]  # what people write
