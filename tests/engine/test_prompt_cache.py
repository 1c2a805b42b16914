"""What is evaluated again from turn to turn and after a restart; the session only counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goliath_local.engine.native.snapshot import DiskShelf
from goliath_local.engine.prompt import PromptPart
from goliath_local.engine.prompt_cache import PromptCache
from goliath_local.engine.reuse import lasting_end
from goliath_local.engine.snapshots import Snapshots

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class CountingSession:
    """Holds a number of tokens, and a byte for each as its state."""

    def __init__(self) -> None:
        self.length = 0

    def evaluate(self, ids: Sequence[int], *, want_logits: bool) -> None:
        self.length += len(ids)

    def clear(self) -> None:
        self.length = 0

    def truncate(self, length: int) -> bool:
        self.length = length
        return True

    def save(self) -> Any:
        return np.zeros(self.length, dtype=np.uint8)

    def restore(self, state: Any, *, length: int) -> bool:
        self.length = length
        return len(state) == length


def opened(folder: Path | None, *, room: int = 250) -> PromptCache:
    shelf = None if folder is None else DiskShelf(folder, {"model": "m"})
    session: Any = CountingSession()
    return PromptCache(session, Snapshots(limit_bytes=room), shelf=shelf, is_fresh=False)


def part(name: str, first: int, count: int, *, head: bool = False) -> PromptPart:
    ids = tuple(range(first, first + count))
    return PromptPart(name=name, ids=ids, template_tokens=0, is_head=head)


HEAD = part("instructions", 0, 100, head=True)
FACTS, OTHER_FACTS = part("facts", 1000, 40), part("facts", 2000, 40)
OTHER_HEAD = part("instructions", 5000, 60, head=True)


def ask(first: int) -> PromptPart:
    return part("ask", first, 7)


def evaluated(cache: PromptCache, *parts: PromptPart) -> int:
    found = cache.sync(parts).evaluated_tokens
    cache.write_down()
    return found


def test_the_facts_behind_a_head_are_evaluated_once_as_the_head_is(tmp_path: Path):
    cache = opened(tmp_path)
    assert evaluated(cache, HEAD, FACTS, ask(10)) == 147
    assert evaluated(cache, OTHER_HEAD, ask(20)) == 67
    assert evaluated(cache, HEAD, FACTS, ask(30)) == 7


def test_after_a_restart_only_the_ask_is_evaluated(tmp_path: Path):
    evaluated(opened(tmp_path), HEAD, FACTS, ask(10))
    assert evaluated(opened(tmp_path), HEAD, FACTS, ask(20)) == 7


def test_with_other_facts_the_head_is_read_again_and_the_facts_are_evaluated(tmp_path: Path):
    cache = opened(tmp_path)
    evaluated(cache, HEAD, FACTS, ask(10))
    evaluated(cache, OTHER_HEAD, ask(20))
    assert evaluated(cache, HEAD, OTHER_FACTS, ask(30)) == 47
    assert evaluated(opened(tmp_path), HEAD, OTHER_FACTS, ask(40)) == 47


def test_facts_that_change_with_every_ask_push_out_no_other_head(tmp_path: Path):
    cache = opened(tmp_path, room=210)
    evaluated(cache, OTHER_HEAD, ask(10))
    for turn in range(9):
        evaluated(cache, HEAD, part("facts", 1000 * turn, 40), ask(20))
    assert evaluated(cache, OTHER_HEAD, ask(30)) == 7


def test_without_a_folder_what_is_kept_are_the_heads():
    cache = opened(None)
    evaluated(cache, HEAD, FACTS, ask(10))
    evaluated(cache, OTHER_HEAD, ask(20))
    assert evaluated(cache, HEAD, OTHER_FACTS, ask(30)) == 47


def test_only_facts_right_behind_a_head_last():
    assert lasting_end([HEAD, FACTS, ask(1)]) == 1
    assert lasting_end([HEAD, ask(1)]) is None
    assert lasting_end([HEAD, part("schema", 5, 40), FACTS, ask(1)]) is None
    assert lasting_end([FACTS, ask(1)]) is None
    assert lasting_end([HEAD, FACTS]) is None
    assert lasting_end([HEAD, part("facts", 5, 3), ask(1)]) is None
