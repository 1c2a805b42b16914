"""What a tool of an MCP server becomes here, and what its results say.

Pure. All that a server says is text from outside: its description is cut to one line, its result
is data, and what it does not mark as read-only counts as a change.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.budget import clip_tokens
from goliath_local.errors import ConfigError, ToolServerError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp.types import CallToolResult, Tool

    from goliath_local.records import Json

MAX_TOOLS = 5
DESCRIPTION_TOKENS = 40

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """A tool of a server, as it is declared here."""

    name: str
    """As the model knows it."""

    server_name: str
    """As the server knows it."""

    description: str
    parameters: Mapping[str, Any]
    writes: bool


def choose(
    server: str,
    offered: Sequence[Tool],
    wanted: Sequence[str] | None,
    *,
    prefix: str = "",
    most: int | None = MAX_TOOLS,
) -> tuple[Adopted, ...]:
    """Return the wanted tools, in their order; all if the server offers no more than `most`.

    Raises:
        ConfigError: too many, one that is not offered, or two that would share a name.
    """
    by_name = {tool.name: tool for tool in offered}
    names = list(by_name) if wanted is None else list(dict.fromkeys(wanted))
    for name in names:
        if name not in by_name:
            message = f"{server} offers no tool {name!r}. It offers {_listed(by_name)}."
            raise ConfigError(message)
    if most is not None and len(names) > most:
        message = (
            f"{server}: {len(names)} tools are too many; a small model keeps {most} apart. "
            f"Choose some with tools=[…], or mcp[NAME,…]:COMMAND, from {_listed(by_name)}."
        )
        raise ConfigError(message)
    adopted = tuple(_adopt(by_name[name], prefix) for name in names)
    shared = {tool.name for tool in adopted}
    if len(shared) < len(adopted):
        message = f"Two tools of {server} would share a name: {_listed(names)}. Choose one."
        raise ConfigError(message)
    return adopted


def read_result(server: str, tool: str, result: CallToolResult) -> Json:
    """Return what a call gave: its structured content, else its text.

    Raises:
        ToolServerError: the tool says that it failed.
    """
    text = "\n".join(_shown(block) for block in result.content)
    if result.is_error:
        msg = f"{server} {tool}"
        raise ToolServerError(msg, _one_line(text) or "failed without a word.")
    content = result.structured_content
    if content is None:
        return text
    # A server wraps what is no object under this one key.
    return content["result"] if set(content) == {"result"} else content


def _adopt(tool: Tool, prefix: str) -> Adopted:
    name = _NOT_A_NAME.sub("_", prefix + tool.name)[:64]
    schema = dict(tool.input_schema)
    if not isinstance(schema.get("properties"), dict):
        schema["properties"] = {}
    hints = tool.annotations
    return Adopted(
        name=f"_{name[:63]}" if name[:1].isdigit() else name,
        server_name=tool.name,
        description=_one_line(tool.description or tool.title or tool.name),
        parameters={"type": "object", **schema},
        writes=hints is None or hints.read_only_hint is not True,
    )


def _one_line(text: str) -> str:
    """Return the first sentence of the first line, without control characters."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    words = " ".join(_CONTROL.sub(" ", first).split())
    return clip_tokens(_SENTENCE_END.split(words, maxsplit=1)[0], DESCRIPTION_TOKENS)


def _shown(block: Any) -> str:
    """Return a piece of a result as text; a picture or a sound is only mentioned."""
    if block.type == "text":
        return str(block.text)
    if block.type == "resource" and hasattr(block.resource, "text"):
        return str(block.resource.text)
    about = {
        name: str(getattr(block, name))
        for name in ("uri", "name", "mime_type")
        if getattr(block, name, None)
    }
    return f"({block.type}, not shown: {json.dumps(about, ensure_ascii=False)})"


def _listed(names: Any) -> str:
    return ", ".join(names) or "none"
