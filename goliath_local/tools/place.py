"""Where a function stands, for messages that somebody has to act on.

Edge, thinly: looks at the function's source file.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from goliath_local.errors import ToolError


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """File, line and name of a function."""

    file: str
    line: int
    function: str

    def error(self, parameter: str, what: str) -> ToolError:
        """Return an error that says where, which parameter, and what is wrong with it."""
        where = f"{self.file}:{self.line} " if self.file else ""
        return ToolError(f'{where}{self.function}: parameter "{parameter}" {what}')


def place_of(function: Any) -> Place:
    """Return where the function stands; without file and line when it has no source."""
    bare = inspect.unwrap(function)
    bare = getattr(bare, "__func__", bare)
    name = str(getattr(bare, "__name__", type(bare).__name__))
    code = getattr(bare, "__code__", None)
    if code is None:
        return Place(file="", line=0, function=name)
    return Place(file=PurePath(code.co_filename).name, line=_line(bare, code), function=name)


def _line(function: Any, code: Any) -> int:
    """Return the line of the `def`, which decorators stand above."""
    first: int = code.co_firstlineno
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError, IndexError):
        return first
    heads = (n for n, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def ")))
    return first + next(heads, 0)
