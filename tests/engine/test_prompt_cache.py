"""What is evaluated again from turn to turn and after a restart; the session only counts."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from goliath_local.engine.native.snapshot import DiskShelf
from goliath_local.engine.prompt import PromptPart
from goliath_local.engine.prompt_cache import PromptCache
from goliath_local.engine.reuse import lasting_end
from goliath_local.engine.snapshots import IDLE_USES, Snapshot, Snapshots

if TYPE_CHECKING:
    from collections.abc import Sequence


class CountingSession:
    """Holds ids in place of a KV cache; its state is four bytes for each."""

    def __init__(self, *, can_truncate: bool = True) -> None:
        self.ids: list[int] = []
        self.can_truncate = can_truncate
        self.saves = 0

    @property
    def state_bytes(self) -> int:
        return 4 * len(self.ids)

    def evaluate(self, ids: Sequence[int], *, want_logits: bool) -> None:
        self.ids += ids

    def scores(self, ids: Sequence[int], *, given: int) -> Any:
        self.ids += ids[:-1]
        return np.full(len(ids) - given, -0.5)

    def clear(self) -> None:
        self.ids = []

    def truncate(self, length: int) -> bool:
        if length != len(self.ids) and not self.can_truncate:
            return False
        self.ids = self.ids[:length]
        return True

    def save(self) -> Any:
        self.saves += 1
        return np.array(self.ids, dtype=np.int32).view(np.uint8)

    def restore(self, state: Any, *, length: int) -> bool:
        self.ids = [int(token) for token in state.view(np.int32)]
        return len(self.ids) == length


def opened(
    folder: Path | None, *, room: int = 250, session: CountingSession | None = None
) -> PromptCache:
    """Return a cache with room for so many tokens."""
    shelf = None if folder is None else DiskShelf(folder, {"model": "m"})
    any_session: Any = session or CountingSession()
    snapshots = Snapshots(limit_bytes=4 * room)
    return PromptCache(any_session, snapshots, shelf=shelf, is_fresh=False)


def part(name: str, first: int, count: int, *, head: bool = False) -> PromptPart:
    ids = tuple(range(first, first + count))
    return PromptPart(name=name, ids=ids, template_tokens=0, is_head=head)


HEAD = part("instructions", 0, 100, head=True)
FACTS, OTHER_FACTS = part("facts", 1000, 40), part("facts", 2000, 40)
OTHER_HEAD = part("instructions", 5000, 60, head=True)


def ask(first: int) -> PromptPart:
    return part("ask", first, 7)


def line(number: int) -> PromptPart:
    return part("log", 3000 + 100 * number, 30)


def evaluated(cache: PromptCache, *parts: PromptPart, goes_on: bool = False) -> int:
    found = cache.sync(parts, goes_on=goes_on).evaluated_tokens
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


def steps_of_a_turn(cache: PromptCache, count: int, *, goes_on: bool = True) -> list[int]:
    """Return what each plan of a turn evaluates when other stages stand between the plans."""
    found = []
    for done in range(count):
        log = [line(number) for number in range(done)]
        found.append(evaluated(cache, HEAD, FACTS, *log, ask(10), goes_on=goes_on))
        evaluated(cache, OTHER_HEAD, ask(20 + done))
    return found


def test_a_plan_evaluates_the_new_line_of_the_log_whatever_its_length():
    cache = opened(None, room=600)
    assert steps_of_a_turn(cache, 10)[1:] == [37] * 9


def test_so_it_does_with_a_folder(tmp_path: Path):
    cache = opened(tmp_path, room=600)
    assert steps_of_a_turn(cache, 10)[1:] == [37] * 9


def test_the_next_turn_begins_from_the_facts_in_the_longer_state():
    cache = opened(None, room=600)
    steps_of_a_turn(cache, 10)
    assert evaluated(cache, HEAD, FACTS, ask(50)) == 7


def test_a_prompt_that_is_not_gone_on_with_leaves_nothing_behind_its_facts():
    cache = opened(None, room=600)
    assert steps_of_a_turn(cache, 4, goes_on=False) == [147, 37, 67, 97]


def test_a_log_for_which_there_is_no_room_pushes_out_no_head_in_use():
    cache = opened(None, room=100 + 40 + 60 + 20)
    assert steps_of_a_turn(cache, 4) == [147, 37, 67, 97]
    assert evaluated(cache, OTHER_HEAD, ask(90)) == 7


def test_a_head_that_is_no_longer_in_use_makes_room_for_a_log():
    cache = opened(None, room=100 + 40 + 60 + 50)
    old = part("instructions", 7000, 50, head=True)
    evaluated(cache, old, ask(1))
    for number in range(IDLE_USES // 2):
        evaluated(cache, HEAD, FACTS, ask(number))
        evaluated(cache, OTHER_HEAD, ask(number))
    evaluated(cache, HEAD, FACTS, line(1), ask(10), goes_on=True)
    evaluated(cache, OTHER_HEAD, ask(2))
    assert evaluated(cache, HEAD, FACTS, line(1), ask(11)) == 7
    evaluated(cache, OTHER_HEAD, ask(2))
    assert evaluated(cache, old, ask(3)) == 57


class StubbornShelf:
    """Has an unsound state of every head, and cannot delete it."""

    def __init__(self) -> None:
        self.reads = 0

    def find(self, key: str, *, length: int) -> Snapshot | None:
        self.reads += 1
        return Snapshot(key=key, length=length, state=np.zeros(4, dtype=np.uint8))

    def find_behind(self, head: str, key: str, *, length: int) -> Snapshot | None:
        return None

    def wants_behind(self, head: str) -> bool:
        return False

    def keep(self, snapshot: Snapshot) -> None:
        pass

    def keep_behind(self, head: str, snapshot: Snapshot) -> None:
        pass

    def drop(self, key: str) -> None:
        pass


def test_a_state_that_is_unsound_and_cannot_be_deleted_is_not_read_for_ever():
    shelf = StubbornShelf()
    session: Any = CountingSession()
    cache = PromptCache(session, Snapshots(limit_bytes=2000), shelf=shelf, is_fresh=False)
    assert evaluated(cache, HEAD, FACTS, ask(1)) == 147
    assert shelf.reads == 2


def test_a_model_that_cannot_go_back_still_reuses_its_heads(tmp_path: Path):
    for folder in (None, tmp_path):
        cache = opened(folder, room=600, session=CountingSession(can_truncate=False))
        found = steps_of_a_turn(cache, 4)
        behind = 40 if folder is None else 0  # the facts
        assert found == [147, *(behind + 30 * log + 7 for log in (1, 2, 3))]


def test_a_state_is_saved_once_for_a_prompt():
    session = CountingSession()
    cache = opened(None, room=600, session=session)
    evaluated(cache, HEAD, FACTS, ask(1), goes_on=True)
    evaluated(cache, OTHER_HEAD, ask(2))
    session.saves = 0
    evaluated(cache, HEAD, FACTS, line(1), line(2), line(3), ask(3), goes_on=True)
    assert session.saves == 1


PIECES = [line(number) for number in range(3)] + [FACTS, OTHER_FACTS]


@settings(deadline=None)
@given(
    prompts=st.lists(
        st.tuples(
            st.sampled_from([(HEAD,), (OTHER_HEAD,), (HEAD, OTHER_HEAD), ()]),
            st.lists(st.sampled_from(PIECES), max_size=4),
            st.booleans(),
        ),
        max_size=12,
    ),
    room=st.integers(0, 600),
    has_folder=st.booleans(),
    can_truncate=st.booleans(),
)
def test_the_session_holds_the_prompt_and_nothing_else(
    prompts: list[Any], room: int, has_folder: bool, can_truncate: bool
):
    session = CountingSession(can_truncate=can_truncate)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) if has_folder else None
        cache = opened(place, room=room, session=session)
        for number, (head, pieces, goes_on) in enumerate(prompts):
            parts = (*head, *pieces, ask(10 + number))
            evaluated(cache, *parts, goes_on=goes_on)
            assert session.ids == [token for one in parts for token in one.ids]
            session.ids.append(-1)  # as a reply does


def test_only_facts_right_behind_a_head_last():
    assert lasting_end([HEAD, FACTS, ask(1)]) == 1
    assert lasting_end([HEAD, ask(1)]) is None
    assert lasting_end([HEAD, part("schema", 5, 40), FACTS, ask(1)]) is None
    assert lasting_end([FACTS, ask(1)]) is None
    assert lasting_end([HEAD, FACTS]) is None
    assert lasting_end([HEAD, part("facts", 5, 3), ask(1)]) is None


def test_what_is_scored_is_taken_back_and_its_head_is_kept(tmp_path: Path):
    session = CountingSession()
    cache = opened(tmp_path, session=session)
    assert cache.score(OTHER_HEAD, range(6000, 6010), given=4) == -3.0
    assert session.ids == list(OTHER_HEAD.ids)
    evaluated(cache, HEAD, ask(10))
    assert cache.score(OTHER_HEAD, range(6000, 6010), given=4) == -3.0
    assert session.ids == list(OTHER_HEAD.ids)
    assert evaluated(cache, HEAD, ask(20)) == 7
    again = opened(tmp_path, session=(fresh := CountingSession()))
    cache.write_down()
    again.score(OTHER_HEAD, range(6000, 6010), given=4)
    assert fresh.saves == 0


def test_a_model_that_cannot_truncate_begins_anew_after_scoring():
    session = CountingSession(can_truncate=False)
    cache = opened(None, session=session)
    cache.score(OTHER_HEAD, range(6000, 6010), given=4)
    assert evaluated(cache, OTHER_HEAD, ask(10)) == 7
    assert session.ids == [*OTHER_HEAD.ids, *ask(10).ids]
