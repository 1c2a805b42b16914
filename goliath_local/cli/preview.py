"""What a call would change, asked of its tool while a person decides.

Edge: runs the application's own function, in a thread and for a bounded time. Whatever goes wrong
there costs the preview, never the question.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from goliath_local.cli.terminal import Styled
from goliath_local.cli.visible import visible_line
from goliath_local.cli.waiting import in_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goliath_local.cli.terminal import Style
    from goliath_local.tools import Tool

PATIENCE_S = 2.0
MOST_LINES = 24
_STYLES: dict[str, Style] = {"+": "green", "-": "red", "@": "cyan"}


async def previewed(tool: Tool | None, arguments: Mapping[str, Any]) -> str | None:
    """Return what the tool says the call would change; None when it says nothing."""
    if tool is None or tool.preview is None:
        return None
    preview = tool.preview
    try:
        async with asyncio.timeout(PATIENCE_S):
            told = await in_thread(lambda: preview(dict(arguments)))
            return str(await told) if inspect.isawaitable(told) else str(told)
    except TimeoutError:
        return f"not known: the tool did not say within {PATIENCE_S:g} s"
    except Exception as error:  # noqa: BLE001 - the tool's own code may raise anything
        return f"not known: {type(error).__name__}: {error}"


def preview_lines(text: str, columns: int) -> Iterable[Styled]:
    """Yield the preview inside the box, each line short enough not to wrap out of it."""
    yield Styled("    │ what changes:", "yellow")
    lines = text.splitlines() or [""]
    for line in lines[:MOST_LINES]:
        for at, piece in enumerate(_pieces(visible_line(line), max(20, columns - 10))):
            mark = _STYLES.get(line[:1], "yellow")
            yield Styled(f"    │   {'  ' if at else ''}{piece}", mark)
    if len(lines) > MOST_LINES:
        yield Styled(f"    │   … and {len(lines) - MOST_LINES} lines more", "yellow")


def _pieces(line: str, columns: int) -> list[str]:
    return [line[at : at + columns] for at in range(0, len(line), columns)] or [""]
