from __future__ import annotations

from typing import Any

import pytest
from mcp.types import CallToolResult, ImageContent, TextContent, Tool, ToolAnnotations

from goliath_local.errors import ConfigError, ToolServerError
from goliath_local.mcp.adopt import choose, read_result


def offer(name: str = "look", **fields: Any) -> Tool:
    return Tool(name=name, **({"input_schema": {"type": "object"}} | fields))


def adopted(**fields: Any) -> Any:
    return choose("s", [offer(**fields)], None)[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Look things up. Then more.", "Look things up."),
        ("\n\n  Look up\n\nArgs:\n  a: x", "Look up"),
        ("Look\x1b[31m up\x00", "Look [31m up"),
        ("", "look"),
        ("v1.5 is fine, is it?", "v1.5 is fine, is it?"),
    ],
)
def test_a_description_is_one_plain_line(text: str, line: str) -> None:
    assert adopted(description=text).description == line


def test_a_description_without_end_is_cut() -> None:
    line = adopted(description="never " * 1000).description
    assert len(line) < 200
    assert line.endswith("…")


@pytest.mark.parametrize(
    ("hints", "writes"),
    [
        (None, True),
        (ToolAnnotations(), True),
        (ToolAnnotations(read_only_hint=False), True),
        (ToolAnnotations(destructive_hint=False, idempotent_hint=True), True),
        (ToolAnnotations(read_only_hint=True), False),
    ],
)
def test_only_what_is_marked_read_only_is_a_read(hints: Any, writes: bool) -> None:
    assert adopted(annotations=hints).writes is writes


@pytest.mark.parametrize(
    ("name", "known_as"),
    [("a.b/c d", "a_b_c_d"), ("7up", "_7up"), ("x" * 90, "x" * 64), ("müll", "m_ll")],
)
def test_a_name_becomes_one_that_a_tool_may_have(name: str, known_as: str) -> None:
    tool = adopted(name=name)
    assert (tool.name, tool.server_name) == (known_as, name)


def test_two_tools_that_would_share_a_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="share a name"):
        choose("s", [offer("a.b"), offer("a/b")], None)


def test_a_tool_without_properties_takes_no_arguments() -> None:
    assert adopted(input_schema={"type": "object"}).parameters["properties"] == {}


def test_none_on_offer_is_none() -> None:
    assert choose("s", [], None) == ()
    with pytest.raises(ConfigError, match="It offers none"):
        choose("s", [], ["look"])


def _result(*texts: str, **fields: Any) -> CallToolResult:
    content = [TextContent(type="text", text=text) for text in texts]
    return CallToolResult(content=content, **fields)


def test_a_result_is_its_structure_else_its_text() -> None:
    assert read_result("s", "t", _result("a", "b")) == "a\nb"
    assert read_result("s", "t", _result("x", structured_content={"a": [1]})) == {"a": [1]}
    assert read_result("s", "t", _result("5", structured_content={"result": 5})) == 5
    assert read_result("s", "t", _result()) == ""


def test_a_picture_is_mentioned_and_not_shown() -> None:
    picture = ImageContent(type="image", data="AAAA", mime_type="image/png")
    shown = read_result("s", "t", CallToolResult(content=[picture]))
    assert shown == '(image, not shown: {"mime_type": "image/png"})'


def test_an_error_is_one_plain_line() -> None:
    with pytest.raises(ToolServerError, match=r"^s t: no such file\.$"):
        read_result("s", "t", _result("no such file. \x1b[31m Trace:\n...", is_error=True))
    with pytest.raises(ToolServerError, match="without a word"):
        read_result("s", "t", _result(is_error=True))
