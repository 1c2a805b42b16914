"""Is a text that a model filled in taken from what was said?

Pure. Judged leniently: the beginning of one word is enough, since words bend.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[^\W_]+")
_STEM = 4
"""Letters by which two forms of a word are told to be one."""


def unsaid_texts(arguments: Mapping[str, Any], names: Iterable[str], said: str) -> tuple[str, ...]:
    """Return those of the names whose value is a text without a word of what was said.

    Args:
        arguments: what the model filled in.
        names: the arguments to look at.
        said: the ask, the conversation and the results that the model saw.
    """
    stems = {_stem(word) for word in _WORD.findall(said)}
    return tuple(name for name in names if _is_unsaid(arguments.get(name), stems))


def _is_unsaid(value: Any, stems: set[str]) -> bool:
    if not isinstance(value, str):
        return False
    words = _WORD.findall(value)
    return bool(words) and not any(_stem(word) in stems for word in words)


def _stem(word: str) -> str:
    return word.casefold()[:_STEM]
