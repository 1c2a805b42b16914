"""The two ways in which a plain loop speaks of tools: one JSON object, or the model's own form.

Pure. A form says what the model is asked, how its reply is read, and how a result is told. What
is the same for both (steps, tools, history) is in `plain_loop`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from goliath_local.model import ExampleTurn, Part, Request, Stage

if TYPE_CHECKING:
    from goliath_local.model import Reply
    from goliath_local.tools import Tool

REPLY_TOKENS = 384
_JSON_RULES = (
    "You are a careful assistant with tools. Reply with one JSON object and nothing else: "
    '{"tool": name, "arguments": {…}} to use a tool, {"answer": text} to answer the user, '
    'or {"escalate": reason} when the request is beyond you and the tools.'
)
_NATIVE_RULES = "You are a careful assistant with tools."
_NATIVE_CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*(?:</tool_call>|\Z)", re.DOTALL)

_TRIAL = {
    "type": "function",
    "function": {"name": "now", "description": "The time.", "parameters": {"type": "object"}},
}

ToolsText: TypeAlias = Callable[[Sequence[Mapping[str, Any]]], str | None]
"""What a chat template makes of tools in OpenAI's form, as text behind the system message; None
where the template has no place for tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A call that the model asked for."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A reply, read: calls, or else the end of the turn."""

    calls: tuple[Wish, ...] = ()
    answer: str = ""
    hands_over: bool = False


class Form(Protocol):
    """How tools are spoken of."""

    def request(
        self,
        tools: Sequence[Tool],
        facts: Mapping[str, str],
        *,
        history: tuple[ExampleTurn, ...],
        user: str,
    ) -> Request:
        """Return the question to the model."""
        ...

    def read(self, reply: Reply) -> Said:
        """Return what the reply says."""
        ...

    def told(self, results: Sequence[tuple[str, str]]) -> str:
        """Return the user text that gives the results, `(tool, text)` each."""
        ...


@dataclass(frozen=True, slots=True)
class JsonForm:
    """All tools in the prompt, each reply one JSON object under one schema."""

    def request(
        self,
        tools: Sequence[Tool],
        facts: Mapping[str, str],
        *,
        history: tuple[ExampleTurn, ...],
        user: str,
    ) -> Request:
        """Return the question to the model."""
        menu = "\n".join(json.dumps(entry, ensure_ascii=False) for entry in tool_menu(tools))
        return Request(
            stage=Stage.CONDUCTOR,
            system=(
                Part(name="rules", text=f"{_JSON_RULES}\n\nTools:\n{menu}"),
                Part(name="facts", text=_facts_text(facts)),
            ),
            examples=history,
            user=(Part(name="ask", text=user),),
            schema=reply_schema(tools),
            max_tokens=REPLY_TOKENS,
        )

    def read(self, reply: Reply) -> Said:
        """Return what the reply says; one that was cut is an empty answer."""
        try:
            said = json.loads(reply.text)
        except ValueError:
            return Said()
        if not isinstance(said, dict) or "answer" in said:
            return Said(answer=str(said["answer"]) if isinstance(said, dict) else "")
        if "tool" not in said:
            return Said(hands_over=True)
        return Said(calls=(Wish(tool=said["tool"], arguments=dict(said["arguments"])),))

    def told(self, results: Sequence[tuple[str, str]]) -> str:
        """Return the user text that gives the results."""
        return "\n".join(f"Result of {tool}: {text}" for tool, text in results)


@dataclass(frozen=True, slots=True)
class NativeForm:
    """Tools as the model's own chat template writes them, replies free.

    Nothing keeps a reply in form; whatever is no call is the answer. There is no hand-over in
    this form.
    """

    tools_text: ToolsText
    _known: dict[str, str] = field(default_factory=dict)

    def is_usable(self) -> bool:
        """Return whether the template has a place for tools."""
        return bool(self.tools_text([_TRIAL]))

    def request(
        self,
        tools: Sequence[Tool],
        facts: Mapping[str, str],
        *,
        history: tuple[ExampleTurn, ...],
        user: str,
    ) -> Request:
        """Return the question to the model."""
        return Request(
            stage=Stage.CONDUCTOR,
            system=(
                Part(name="rules", text=_NATIVE_RULES + _facts_text(facts)),
                Part(name="tools", text=self._text(tools)),
            ),
            examples=history,
            user=(Part(name="ask", text=user),),
            max_tokens=REPLY_TOKENS,
        )

    def read(self, reply: Reply) -> Said:
        """Return what the reply says."""
        texts = _NATIVE_CALL.findall(reply.text) or [_fence_off(reply.text)]
        calls = [wish for wish in map(_wish, texts) if wish is not None]
        return Said(calls=tuple(calls)) if calls else Said(answer=reply.text)

    def told(self, results: Sequence[tuple[str, str]]) -> str:
        """Return the user text that gives the results, in the commonest template's form."""
        return "\n".join(f"<tool_response>\n{text}\n</tool_response>" for _, text in results)

    def _text(self, tools: Sequence[Tool]) -> str:
        menu = [{"type": "function", "function": entry} for entry in tool_menu(tools)]
        key = json.dumps(menu)
        if key not in self._known:
            self._known[key] = self.tools_text(menu) or ""
        return self._known[key]


def tool_menu(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return the tools as function declarations."""
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters.json),
        }
        for tool in tools
    ]


def reply_schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """Return the schema of one reply: a call of one of the tools, an answer, or a hand-over."""
    calls = [
        _closed({"tool": {"const": tool.name}, "arguments": _closed_schema(tool)})
        for tool in tools
    ]
    text = {"type": "string", "maxLength": 600}
    return {"anyOf": [*calls, _closed({"answer": text}), _closed({"escalate": text})]}


def _facts_text(facts: Mapping[str, str]) -> str:
    lines = "".join(f"\n{key}: {value}" for key, value in facts.items())
    return f"\n\nKnown:{lines}" if lines else ""


def _closed_schema(tool: Tool) -> dict[str, Any]:
    return {"type": "object", **tool.parameters.json, "additionalProperties": False}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _fence_off(text: str) -> str:
    """Return the text without a code fence around it: small models like to add one."""
    return re.sub(r"^```\w*\s*|\s*```$", "", text.strip())


def _wish(text: str) -> Wish | None:
    if text.startswith("{{") and text.endswith("}}"):
        text = text[1:-1]  # some templates show the form with doubled braces, and are obeyed
    try:
        said = json.loads(text)
    except ValueError:
        return None
    if not isinstance(said, dict) or not isinstance(said.get("name"), str):
        return None
    arguments = said.get("arguments", said.get("parameters", {}))
    return Wish(tool=said["name"], arguments=arguments if isinstance(arguments, dict) else {})
