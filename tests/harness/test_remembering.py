"""What a turn leaves behind, and what later turns see of it."""

from __future__ import annotations

import pytest

from goliath_local.agent import create_agent
from goliath_local.memory import in_memory, key_value_memory
from goliath_local.records import Exchange, MemoryState
from goliath_local.testing import fake_model


def talk(count, *more):
    return [*({"text": f"Reply {n}."} for n in range(count)), *more]


async def test_the_second_turns_prompts_contain_the_first_exchange(play, make, say):  # 197
    p = play([*say.done, say.answer, say.text("Yes.")], tools=[make().tool])
    await p.run("Is the fern dry?")
    await p.run("And the basil?")
    for call in p.calls[2:]:
        assert "User: Is the fern dry?\nAssistant: All done." in call.prompt
        assert "for reference only" in call.prompt.partition("User:")[0]


async def test_three_turns_make_no_scribe_call_and_the_fourth_makes_one(play):  # 198
    memory = in_memory()
    p = play(talk(4, {"text": "Goal: talk\nDone: greeted"}), memory=memory)
    for n in range(3):
        await p.run(f"ask {n}")
    assert p.asked("scribe") == []
    result = await p.run("ask 3")
    [call] = p.asked("scribe")
    assert "User: ask 0\nAssistant: Reply 0." in call.prompt
    assert "(empty)" in call.prompt
    assert call.prompt.endswith("Write the new brief.")
    saved = await memory.load()
    assert saved.summary == "Goal: talk\nDone: greeted"
    assert [exchange.ask for exchange in saved.recent] == ["ask 1", "ask 2", "ask 3"]
    assert result.trace[-1].summary == saved.summary


async def test_the_scribe_sees_actions_with_status_but_no_outputs(play, make, say):  # 199
    look = make("look", {"id": "VEGA-3"}, to_model_output=lambda _: "one pot")
    script = [say.tool("look"), *say.done, *say.done * 3, say.text("Done: looked")]
    p = play(script, tools=[look.tool])
    for _ in range(4):
        await p.run()
    [call] = p.asked("scribe")
    assert "Actions:\n1. look({}) [completed] → one pot" in call.prompt
    assert "VEGA-3" not in call.prompt


@pytest.mark.parametrize("error", [OSError("gone"), ValueError("bad")])
async def test_a_failing_scribe_costs_the_summary_and_nothing_else(play, error):  # 200
    recent = tuple(Exchange(ask=f"ask {n}", answer="a", at=n) for n in range(3))
    memory = in_memory(MemoryState(summary="Goal: old", recent=recent))
    p = play([{"text": "Hello."}, {"error": error}], memory=memory)
    result = await p.run("ask 3")
    assert result.text == "Hello."
    assert [e.type for e in result.trace if e.type in {"memory-error", "remember"}] == [
        "memory-error",
        "remember",
    ]
    saved = await memory.load()
    assert saved.summary == "Goal: old"
    assert [exchange.ask for exchange in saved.recent] == ["ask 1", "ask 2", "ask 3"]
    assert result.reason is None


async def test_after_one_failure_further_evictions_ask_no_model(play):
    recent = tuple(Exchange(ask=f"ask {n}", answer="a", at=n) for n in range(6))
    memory = in_memory(MemoryState(summary="Goal: old", recent=recent))
    p = play([{"text": "Hello."}, {"error": OSError("gone")}], memory=memory)
    result = await p.run("ask 6")
    assert len([e for e in result.trace if e.type == "memory-error"]) == 1
    saved = await memory.load()
    assert [exchange.ask for exchange in saved.recent] == ["ask 4", "ask 5", "ask 6"]


async def test_an_overlong_scribe_prompt_is_a_memory_error_also_with_extensions(play):
    from types import SimpleNamespace

    recent = (
        Exchange(ask="x" * 20_000, answer="a", at=0),
        *(Exchange(ask=f"ask {n}", answer="a", at=n) for n in (1, 2)),
    )
    for extensions in ([], [SimpleNamespace(name="quiet")]):
        memory = in_memory(MemoryState(summary="Goal: old", recent=recent))
        p = play([{"text": "Hello."}], memory=memory, extensions=extensions)
        result = await p.run("ask 3")
        assert result.text == "Hello."
        assert [e.type for e in result.trace][-3:] == ["budget", "memory-error", "remember"]
        assert (await memory.load()).summary == "Goal: old"


async def test_a_failing_save_keeps_the_answer(play):  # 201
    class Full:
        def load(self):
            return MemoryState()

        def save(self, _state):
            raise OSError("disk full")

    result = await play([{"text": "Hello."}], memory=Full()).run()
    assert result.text == "Hello."
    [event] = [e for e in result.trace if e.type == "memory-error"]
    assert "disk full" in event.error
    assert not [e for e in result.trace if e.type == "remember"]


async def test_a_blank_scribe_reply_keeps_the_old_summary(play):  # 202
    recent = tuple(Exchange(ask=f"ask {n}", answer="a", at=n) for n in range(3))
    memory = in_memory(MemoryState(summary="Goal: old", recent=recent))
    p = play([{"text": "Hello."}, {"text": " \n"}], memory=memory)
    await p.run("ask 3")
    assert (await memory.load()).summary == "Goal: old"


async def test_the_saved_summary_is_held_to_sixty_words_and_an_eighth_of_the_window(play):  # 203
    from goliath_local.budget import estimate_tokens

    recent = tuple(Exchange(ask=f"ask {n}", answer="a", at=n) for n in range(3))
    for reply in ("Goal: " + "word " * 200 + "\nDone: it", "Goal: " + "x" * 9000):
        memory = in_memory(MemoryState(summary="", recent=recent))
        await play([{"text": "Hello."}, {"text": reply}], memory=memory).run("ask 3")
        saved = await memory.load()
        assert saved.summary
        assert len(saved.summary.split()) <= 60
        assert estimate_tokens(saved.summary) <= 512


async def test_the_scribes_prompt_names_the_five_slots_in_order(play):  # 204
    p = play(talk(4, {"text": "Goal: x"}))
    for _ in range(4):
        await p.run()
    system = p.asked("scribe")[0].system
    places = [
        system.index(f"{slot}:") for slot in ("Goal", "Done", "Decisions", "Pending", "Next")
    ]
    assert places == sorted(places)


async def test_a_partial_answer_is_kept_and_shown_as_partial_to_the_scribe_too(
    play, make, say
):  # 205
    memory = in_memory()
    script = [say.escalate, say.text("I got half way.")]
    p = play(
        [*script, *say.done * 3, say.text("Pending: half")], tools=[make().tool], memory=memory
    )
    await p.run("Do it all")
    assert [exchange.best_effort for exchange in (await memory.load()).recent] == [True]
    for _ in range(3):
        await p.run("And?")
    shown = "(only partly answered) Assistant: I got half way."
    assert shown in p.asked("conductor")[1].prompt
    assert shown in p.asked("scribe")[0].prompt


async def test_a_new_agent_over_the_same_store_goes_on_with_the_conversation():  # 207
    store = {}
    first = create_agent(
        model=fake_model(talk(1)), memory=lambda name: key_value_memory(store, f"m.{name}")
    )
    await first.run("Is the fern dry?", conversation_id="one")
    model = fake_model(talk(1))
    second = create_agent(model=model, memory=lambda name: key_value_memory(store, f"m.{name}"))
    await second.run("And the basil?", conversation_id="one")
    assert "Is the fern dry?" in model.calls[0].prompt


async def test_a_memory_that_gives_something_else_is_refused(play):
    from goliath_local.errors import ConfigError

    class Odd:
        def load(self):
            return {"summary": ""}

        def save(self, _state):
            return None

    with pytest.raises(ConfigError, match="MemoryState"):
        await play([], memory=Odd()).run()
