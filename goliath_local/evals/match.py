"""Whether an argument, an answer or a store is what a fixture asked for.

Pure. The modes of a match are one table, so that a new one is one line.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_STRAIGHT = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
_SAME_NUMBER = 1e-9


def plain_text(text: str) -> str:
    """Return the text as answers are compared: NFKC, caseless, straight quotes, single blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_STRAIGHT).split())


def is_same(left: Any, right: Any) -> bool:
    """Say whether two values are the same text once both are plain."""
    return plain(left) == plain(right)


def plain(value: Any) -> str:
    """Return any value as plain text; an integral float loses its `.0`."""
    is_whole = isinstance(value, float) and value.is_integer()
    return plain_text(str(int(value) if is_whole else value))


def accepts(match: Mapping[str, Any], value: Any) -> bool:
    """Say whether the value (None: absent) is one of those the match allows.

    Raises:
        KeyError: the match has a mode that does not exist.
    """
    return _MODES[match["mode"]](value, match.get("any_of", []))


def state_problems(expected: Mapping[str, Any], *, before: Any, after: Any) -> list[str]:
    """Return how the store differs from what the turn should have made of it."""
    if expected.get("unchanged"):
        return [] if before == after else ["the store changed"]
    return [
        problem
        for path, wanted in expected.items()
        for problem in _place_problems(path, _at(after, path), wanted)
    ]


def _at(state: Any, path: str) -> Any:
    for step in path.split("."):
        state = state.get(step) if isinstance(state, dict) else None
    return state


def _place_problems(path: str, here: Any, wanted: Any) -> list[str]:
    if not isinstance(here, list):
        return [] if _fits(here, wanted) else [f"{path} is {here!r}, not {wanted!r}"]
    problems = []
    if "count" in wanted and len(here) != wanted["count"]:
        problems.append(f"{path} holds {len(here)} records, not {wanted['count']}")
    problems += [f"{path} lacks {r}" for r in wanted.get("has", []) if not _any_fits(here, r)]
    problems += [f"{path} holds {r}" for r in wanted.get("lacks", []) if _any_fits(here, r)]
    return problems


def _any_fits(records: Sequence[Mapping[str, Any]], wanted: Mapping[str, Any]) -> bool:
    return any(all(_fits(record.get(k), v) for k, v in wanted.items()) for record in records)


def _fits(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict) and "mode" in wanted:
        return accepts(wanted, value)
    return _exact(value) == _exact(wanted)


def _exact(value: Any) -> tuple[bool, Any]:
    """Keep `True` and `1` apart, which Python calls equal."""
    return isinstance(value, bool), value


def _is_number(value: Any, others: Sequence[Any]) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return any(abs(value - other) < _SAME_NUMBER for other in others)


_MODES: dict[str, Callable[[Any, Sequence[Any]], bool]] = {
    "equals": lambda value, others: any(_exact(value) == _exact(o) for o in others),
    "equals_ci": lambda value, others: any(is_same(value, o) for o in others),
    "contains_ci": lambda value, others: (
        isinstance(value, str) and any(plain(o) in plain(value) for o in others)
    ),
    "number": _is_number,
    "regex": lambda value, others: (
        isinstance(value, str) and any(re.search(o, value, re.IGNORECASE) for o in others)
    ),
    "absent_or_empty": lambda value, others: (
        value in (None, "") or any(is_same(value, o) for o in others)
    ),
}
