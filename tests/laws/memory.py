"""What every memory keeps, as a list of truths.

A law is an async function of `open_memory`, which opens the same stored conversation each time
it is called: a second call stands for the next start of the program. In-process memories give
the same object again. Run `MEMORY_LAWS` against every memory, and `STORE_LAWS` against every
store of many conversations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from goliath_local.records import Exchange, MemoryState, StepRecord

OpenMemory: TypeAlias = Callable[[], Any]
OpenStore: TypeAlias = Callable[[], Any]

STEP = StepRecord(
    index=0,
    kind="tool",
    brief="look at the list",
    tool="list_tasks",
    input={"open_only": True, "größe": [1, 2.5, None]},
    result="1. milk",
    output=[{"title": "milk", "snake_case": 1}],
    has_output=True,
    output_mode="content",
)
STATE = MemoryState(
    summary="Goal: eggs 🥚\nDone: \x00 nothing",
    recent=(
        Exchange(ask="", answer="漢字 'quoted' \"twice\" \\ \u2028", at=1.5),
        Exchange(
            ask="What is on my list?",
            answer="Milk.",
            at=1_767_225_600_000,
            best_effort=True,
            steps=(
                STEP,
                replace(STEP, index=1, cached=True, result="same as step 1", output=None),
                replace(
                    STEP,
                    index=2,
                    has_output=False,
                    output=None,
                    output_mode=None,
                    writes=True,
                    skipped=True,
                    skip_reason="policy",
                    extension="guard",
                ),
                replace(STEP, index=3, failed=True, confidence=0.25, output=False),
                StepRecord(index=4, kind="answer", brief="say it", text="Milk."),
            ),
        ),
    ),
)


async def a_conversation_begins_empty(open_memory: OpenMemory) -> None:
    assert await open_memory().load() == MemoryState()


async def what_was_saved_is_loaded(open_memory: OpenMemory) -> None:
    await open_memory().save(STATE)
    assert await open_memory().load() == STATE


async def a_later_save_replaces_the_earlier_one(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.save(STATE)
    await memory.save(MemoryState(summary="second"))
    assert await open_memory().load() == MemoryState(summary="second")


async def a_memory_goes_on_after_a_restart(open_memory: OpenMemory) -> None:
    await open_memory().save(STATE)
    memory = open_memory()
    loaded = await memory.load()
    more = Exchange(ask="And now?", answer="Eggs.", at=1_767_225_700_000)
    longer = replace(loaded, recent=(*loaded.recent, more))
    await memory.save(longer)
    assert await open_memory().load() == longer


async def exchanges_that_were_taken_out_are_gone(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.save(STATE)
    loaded = await memory.load()
    await memory.save(replace(loaded, recent=loaded.recent[1:]))
    assert await open_memory().load() == replace(STATE, recent=STATE.recent[1:])


async def loading_changes_nothing(open_memory: OpenMemory) -> None:
    await open_memory().save(STATE)
    memory = open_memory()
    assert await memory.load() == await memory.load() == STATE
    assert await open_memory().load() == STATE


async def clearing_leaves_an_empty_conversation(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.save(STATE)
    await memory.save(MemoryState())
    assert await open_memory().load() == MemoryState()


MEMORY_LAWS = (
    a_conversation_begins_empty,
    what_was_saved_is_loaded,
    a_later_save_replaces_the_earlier_one,
    a_memory_goes_on_after_a_restart,
    exchanges_that_were_taken_out_are_gone,
    loading_changes_nothing,
    clearing_leaves_an_empty_conversation,
)

IDS = (
    "default",
    "A",
    "a",
    "é",
    "e\u0301",
    "../x",
    "/etc/passwd",
    "..\\x",
    "C:\\x",
    "CON",
    "nul.txt",
    "a:b",
    "a.",
    "a\x00b",
    "a\nb",
    "\ud800",
    "%2e%2e/x",
    "é" * 255,
    "x" * 3000,
    "-rf",
    "'; DROP TABLE goliath_memory_v1; --",
)
"""Conversation ids that a careless store takes for one another, or for a path."""


async def distinct_ids_are_distinct_conversations(open_store: OpenStore) -> None:
    for number, name in enumerate((None, *IDS)):
        await open_store()(name).save(MemoryState(summary=str(number)))
    for number, name in enumerate((None, *IDS)):
        assert (await open_store()(name).load()).summary == str(number)


async def conversations_are_listed_the_last_saved_first(open_store: OpenStore) -> None:
    assert open_store().conversations() == ()
    for name in ("one", None, "two"):
        await open_store()(name).save(STATE)
    listed = open_store().conversations()
    assert {item.conversation_id for item in listed} == {"one", None, "two"}
    assert {item.exchanges for item in listed} == {2}
    times = [item.saved_at for item in listed]
    assert times == sorted(times, reverse=True)


async def a_removed_conversation_is_gone_and_the_others_are_not(open_store: OpenStore) -> None:
    store = open_store()
    await store("one").save(STATE)
    await store("two").save(STATE)
    assert store.remove("one")
    assert not store.remove("one")
    assert await open_store()("one").load() == MemoryState()
    assert await open_store()("two").load() == STATE
    assert [item.conversation_id for item in store.conversations()] == ["two"]


async def removing_from_a_store_that_is_not_there_removes_nothing(open_store: OpenStore) -> None:
    assert not open_store().remove("one")


async def exchanges_of_two_programs_are_both_kept(open_store: OpenStore) -> None:
    await open_store()("one").save(STATE)
    first, second = open_store()("one"), open_store()("one")
    base = await first.load()
    assert await second.load() == base
    late = Exchange(ask="late", answer="b", at=1_767_225_900_000)
    soon = Exchange(ask="soon", answer="a", at=1_767_225_800_000)
    await first.save(replace(base, recent=(*base.recent[1:], late)))
    await second.save(MemoryState(summary="folded", recent=(*base.recent, soon)))
    found = await open_store()("one").load()
    assert [item.ask for item in found.recent] == ["What is on my list?", "soon", "late"]
    assert found.summary == "folded"


STORE_LAWS = (
    distinct_ids_are_distinct_conversations,
    conversations_are_listed_the_last_saved_first,
    a_removed_conversation_is_gone_and_the_others_are_not,
    removing_from_a_store_that_is_not_there_removes_nothing,
    exchanges_of_two_programs_are_both_kept,
)
