"""How each file tool is declared: what the model reads of it, its arguments, its flags.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.filesystem.pages import render_read, render_search

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_CURSOR = {"type": "string", "description": "nextCursor of the page before"}
_REVISION = {"type": "string", "description": "revision from glob, grep or read_file"}
_PATH = {"type": "string", "description": "path of the file, such as /notes/a.md"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What `define_tool` is told of a file tool, besides what it runs."""

    description: str
    parameters: Mapping[str, Any]
    render: Callable[[Mapping[str, Any]], str] | None = None
    """Result as the model sees it; None for tools that change something."""

    @property
    def writes(self) -> bool:
        """True for tools that change something."""
        return self.render is None


def declarations(*, max_lines: int) -> Mapping[str, Declaration]:
    """Return the declaration of every file tool, by name."""
    return {
        "glob": Declaration(
            description="Find files by a path pattern, for example /**/*.md.",
            parameters=_object(
                {"pattern": {"type": "string"}, "cursor": _CURSOR}, required=("pattern",)
            ),
            render=render_search,
        ),
        "grep": Declaration(
            description="Find lines that contain a text, in all files or below a path.",
            parameters=_object(
                {
                    "pattern": {"type": "string", "description": "the text, taken literally"},
                    "path": {"type": "string", "description": "folder or file to look in"},
                    "ignoreCase": {"type": "boolean", "default": True},
                    "cursor": _CURSOR,
                },
                required=("pattern",),
            ),
            render=render_search,
        ),
        "read_file": Declaration(
            description="Read lines of a file, page by page.",
            parameters=_object(
                {
                    "path": _PATH,
                    "offset": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "lines to leave out at the start",
                    },
                    "limit": {"type": "integer", "minimum": 1, "maximum": max_lines},
                    "cursor": _CURSOR,
                },
                required=("path",),
            ),
            render=render_read,
        ),
        "write_file": Declaration(
            description="Create a file, or replace one whose revision is given.",
            parameters=_object(
                {"path": _PATH, "content": {"type": "string"}, "revision": _REVISION},
                required=("path", "content"),
            ),
        ),
        "edit_file": Declaration(
            description="Replace a text that is in a file exactly once.",
            parameters=_object(
                {
                    "path": _PATH,
                    "revision": _REVISION,
                    "old_text": {"type": "string"},
                    "new_text": {"type": "string"},
                },
                required=("path", "revision", "old_text", "new_text"),
            ),
        ),
        "delete_file": Declaration(
            description="Delete one file.",
            parameters=_object(
                {"path": _PATH, "revision": _REVISION}, required=("path", "revision")
            ),
        ),
    }


def _object(properties: Mapping[str, Any], *, required: tuple[str, ...]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
