"""The tool set `notes`: a folder of Markdown files, to look things up in and to write to.

Edge, thinly: it runs a notebook. Changes ask first, and none of them loses anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goliath_local.tools import define_tool
from goliath_local.toolsets.note_text import search_words
from goliath_local.toolsets.notebook import Notebook

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goliath_local.tools import Tool

_SHOWN = 8
_TITLE = {"type": "string", "maxLength": 120, "description": "title of the note"}
_TEXT = {"type": "string", "maxLength": 800, "description": "what to write, word for word"}


def note_tools(folder: Path) -> tuple[Tool, ...]:
    """Return `list_notes`, `find_notes`, `read_note`, `write_note` and `add_to_note`."""
    notes = Notebook(folder)
    return (
        _list_notes(notes),
        _find_notes(notes),
        _read_note(notes),
        _write_note(notes),
        _add_to_note(notes),
    )


def _list_notes(notes: Notebook) -> Tool:
    async def execute(_given: object, _context: object) -> list[str]:
        return list(await notes.titles())

    return define_tool(
        name="list_notes",
        description="List the titles of all notes.",
        execute=execute,
        to_model_output=lambda titles: "\n".join(titles) or "There are no notes yet.",
    )


def _find_notes(notes: Notebook) -> Tool:
    async def execute(given: Mapping[str, Any], _context: object) -> list[dict[str, str]]:
        words = search_words(given["words"])
        if not words:
            raise ValueError("There is no word to look for. Give one or two.")
        found = await notes.find(words)
        return [{"title": title, "line": line} for title, line in found]

    return define_tool(
        name="find_notes",
        description="Find notes that contain words.",
        parameters=_object(
            {"words": {"type": "string", "maxLength": 120} | _about("one to three words")}
        ),
        execute=execute,
        to_model_output=_matches,
    )


def _read_note(notes: Notebook) -> Tool:
    async def execute(given: Mapping[str, Any], _context: object) -> str:
        return await notes.read(given["title"])

    return define_tool(
        name="read_note",
        description="Read the text of one note.",
        parameters=_object({"title": _TITLE}),
        execute=execute,
        output_mode="content",
    )


def _write_note(notes: Notebook) -> Tool:
    async def execute(given: Mapping[str, Any], _context: object) -> str:
        return f'"{await notes.create(given["title"], given["text"])}" is written.'

    return define_tool(
        name="write_note",
        description="Write a new note.",
        parameters=_object({"title": _TITLE, "text": _TEXT}),
        execute=execute,
        preview=_what_comes,
        writes=True,
    )


def _add_to_note(notes: Notebook) -> Tool:
    async def resolve(given: Mapping[str, Any], _context: object) -> dict[str, Any]:
        # The yes is asked for the note that will really be written to.
        return {**given, "title": await notes.meant(given["title"])}

    async def execute(given: Mapping[str, Any], _context: object) -> str:
        return f'It is added to "{await notes.append(given["title"], given["text"])}".'

    return define_tool(
        name="add_to_note",
        description="Add a text to the end of a note that is there.",
        parameters=_object({"title": _TITLE, "text": _TEXT}),
        resolve_input=resolve,
        execute=execute,
        preview=_what_comes,
        writes=True,
    )


def _what_comes(given: Mapping[str, Any]) -> str:
    lines = str(given["text"]).splitlines()
    return "\n".join([f"{given['title']}.md", *(f"+ {line}" for line in lines)])


def _matches(found: list[dict[str, str]]) -> str:
    lines = [f"{one['title']}: {one['line']}".rstrip(": ") for one in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append(f"and {len(found) - _SHOWN} more")
    return "\n".join(lines) or "No note contains that."


def _about(text: str) -> dict[str, str]:
    return {"description": text}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
