from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from goliath_local.budget import estimate_tokens, fit_within, transcript_tokens

SYSTEM = {"role": "system", "content": "s" * 40}
MESSAGES = st.lists(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["system", "user", "assistant"]),
        st.text(max_size=60),
    ),
    max_size=8,
)


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def test_a_message_costs_its_estimate_and_four() -> None:
    assert transcript_tokens([user("hello world"), user("")]) == 12


def test_tool_parts_are_counted_as_their_json() -> None:
    part = {"type": "tool-call", "name": "f", "input": {"a": 1}}
    text = '{"type":"tool-call","name":"f","input":{"a":1}}'
    message = {"role": "assistant", "content": [{"type": "text", "text": "Hi"}, part]}
    assert transcript_tokens([message]) == estimate_tokens("Hi" + text) + 4


def test_the_oldest_message_after_the_system_message_goes_first() -> None:
    kept = fit_within([SYSTEM, user("a" * 400), user("b"), user("c")], 40)
    assert kept == [SYSTEM, user("b"), user("c")]


def test_system_and_last_message_survive_any_budget() -> None:
    assert fit_within([SYSTEM, user("a"), user("b" * 4000)], 0) == [SYSTEM, user("b" * 4000)]


@given(MESSAGES, st.integers(0, 200))
def test_what_is_left_fits_or_could_not_be_less(
    messages: list[dict[str, str]], budget: int
) -> None:
    kept = fit_within(messages, budget)
    least = 1 + bool(messages and messages[0]["role"] == "system")
    assert transcript_tokens(kept) <= budget or len(kept) <= least
    assert kept[-1:] == messages[-1:]
