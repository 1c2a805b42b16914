"""What a function's docstring tells the model: one sentence, and a line a parameter.

Pure. Google, NumPy, reST and Epydoc sections are understood; a docstring without any is all
sentence, and one that is not there is replaced by the function's name.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from docstring_parser import parse

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Docs:
    """The parts of a docstring that matter to a model."""

    summary: str
    """First paragraph, on one line; empty when there is no docstring."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    """Parameter name → description, on one line."""


def read_docstring(function: Any) -> Docs:
    """Return what the function's docstring says."""
    text = inspect.getdoc(function) or ""
    try:
        parsed = parse(text)
    except Exception:  # noqa: BLE001 - the parser stumbles over some texts in several ways
        return Docs(summary=_one_line(text.split("\n\n")[0]))
    summary = parsed.short_description or ""
    if not parsed.blank_after_short_description and parsed.long_description:
        # The first sentence runs over several lines.
        summary = f"{summary} {parsed.long_description.split(chr(10) * 2)[0]}"
    parameters = {
        _bare(param.arg_name): _one_line(param.description)
        for param in parsed.params
        if param.description
    }
    return Docs(summary=_one_line(summary), parameters=parameters)


def words_of(name: str) -> str:
    """Return a function's name as a sentence: `add_note` is "Add note"."""
    words = re.sub(r"[_\-\s]+", " ", name).strip()
    return f"{words[:1].upper()}{words[1:]}."


def _bare(name: str) -> str:
    # reST types and NumPy's `x, y` stand before or beside the name.
    return name.split(",")[0].split()[-1].lstrip("*") if name.split() else name


def _one_line(text: str) -> str:
    return " ".join(text.split())
