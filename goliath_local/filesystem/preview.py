"""What a change to a virtual file would do, as a diff, without doing it.

Pure but for reading the file.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from goliath_local.errors import FileMissing
from goliath_local.filesystem.backend import settled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goliath_local.filesystem.backend import FileBackend

_CONTEXT_LINES = 2


async def preview_change(backend: FileBackend, path: str, given: Mapping[str, Any]) -> str:
    """Return the difference that a write, an edit or a deletion of the file would make.

    Args:
        backend: where the file is.
        path: the file.
        given: arguments of the call: `content`, or `old_text` and `new_text`, or neither.
    """
    before = await _text_of(backend, path)
    if "content" in given:
        after = str(given["content"])
    elif "old_text" in given:
        after = before.replace(str(given["old_text"]), str(given["new_text"]), 1)
    else:
        after = ""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), n=_CONTEXT_LINES, lineterm=""
    )
    # The two lines of file names say nothing here: there is one file, and its path stands above.
    return "\n".join(list(lines)[2:]) or "nothing: the text stays as it is"


async def _text_of(backend: FileBackend, path: str) -> str:
    try:
        return (await settled(backend.read(path))).content
    except FileMissing:
        return ""
