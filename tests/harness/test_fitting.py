"""Which tool an ask fits, asked the other way round."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.agent import create_agent
from goliath_local.errors import ModelUnavailable, RunCancelled
from goliath_local.harness.fitting import (
    FITTING,
    LEAST_SHARE,
    MOST_LACKING,
    fitted_choice,
    lacking,
    rivals_of,
)
from goliath_local.model import Choice
from tests.harness.counting import Counting
from tests.harness.test_looked_up_first import tool

if TYPE_CHECKING:
    from goliath_local.model import Scoring


class Scorer(Counting):
    """A scripted model that also says how probable a text is."""

    def __init__(self, replies: list[dict[str, Any]], found: dict[str, float]) -> None:
        super().__init__(replies)
        self.found = {"Does something": -50.0} | found
        self.asked: list[Scoring] = []

    async def score(self, scoring: Scoring) -> tuple[float, ...]:
        self.asked.append(scoring)
        return tuple(
            next(nats for word, nats in self.found.items() if word in opening)
            for opening in scoring.openings
        )


DAY = tool("get_day", run=lambda args, context: {"steps": 4120}, description="Steps of today.")
TRAINING = tool(
    "list_training", run=lambda args, context: {"gym": "Saturday"}, description="All workouts."
)
ADD = tool("add_training", writes=True, description="Adds a workout.")


def plan(name: str, share: float, *, want: str = "question") -> dict[str, Any]:
    other = "list_training" if name == "get_day" else "get_day"
    shares = ((name, share), (other, 1 - share))
    choice = Choice(path="/tool", value=name, share=share, shares=shares)
    return {
        "json": {"want": want, "kind": "tool", "brief": "x", "tool": name},
        "choices": [Choice(path="/want", value=want, share=0.9), choice],
    }


async def played(ask: str, first: dict[str, Any], found: dict[str, float]) -> Any:
    model = Scorer([first, {"text": "On Saturday."}, {"text": "On Saturday."}], found)
    plans = []
    agent = create_agent(model=model, tools=[DAY, TRAINING, ADD])
    result = await agent.run(
        ask, on_event=lambda event: plans.append(event) if event.type == "plan" else None
    )
    return model, result, plans[0]


async def test_a_lookup_for_which_the_ask_is_far_more_probable_is_made_instead():
    found = {"Steps": -40.0, "workouts": -30.0}
    model, result, first = await played("when was I last at the gym?", plan("get_day", 1.0), found)
    assert [step.tool for step in result.steps] == ["list_training", None]
    assert first.tool == "list_training"
    assert first.brief == "when was I last at the gym?"
    assert [choice.value for choice in first.choices] == ["question", "list_training"]
    assert model.asked[0].text == " when was I last at the gym?\n"


async def test_a_lookup_that_fits_about_as_well_is_left_as_planned():
    found = {"Steps": -31.0, "workouts": -30.0}
    _, result, first = await played("when was I last at the gym?", plan("get_day", 0.9), found)
    assert next(step.tool for step in result.steps) == "get_day"
    assert first.brief == "x"


async def test_a_lookup_that_shares_a_word_with_the_ask_is_weighed_as_well():
    found = {"Steps": -40.0, "workouts": -30.0}
    _, result, _ = await played("how many steps at the gym?", plan("get_day", 0.6), found)
    assert next(step.tool for step in result.steps) == "list_training"


async def test_a_long_ask_is_not_weighed():
    model, _, _ = await played("x" * 300, plan("get_day", 0.6), {})
    assert model.asked == []


CHANGE = {
    "json": {"want": "change", "kind": "tool", "brief": "x", "tool": "add_training"},
    "choices": [
        Choice(path="/want", value="change", share=0.8, shares=(("change", 0.8), ("talk", 0.15))),
        Choice(
            path="/tool",
            value="add_training",
            share=0.6,
            shares=(("add_training", 0.6), ("get_day", 0.4)),
        ),
    ],
}


async def test_a_change_is_not_taken_for_a_lookup():
    found = {"Adds": -40.0, "Steps": -1.0, "workouts": -60.0}
    model, result, _ = await played("I was at the gym", CHANGE, found)
    assert [len(scoring.openings) for scoring in model.asked] == [2]
    assert next(step.tool for step in result.steps) == "add_training"


DROP = tool("drop_training", writes=True, description="Drops a workout.")


async def changed(*, planned_nats: float, other_nats: float, share: float = 0.85) -> str | None:
    """Return the change that is made where `add_training` was planned and dropping is a rival."""
    shares = (("add_training", share), ("drop_training", 1 - share))
    first = {
        "json": CHANGE["json"],
        "choices": [
            CHANGE["choices"][0],
            Choice(path="/tool", value="add_training", share=share, shares=shares),
        ],
    }
    model = Scorer(
        [first, {"text": "x"}, {"text": "x"}], {"Adds": planned_nats, "Drops": other_nats}
    )
    result = await create_agent(model=model, tools=[DAY, ADD, DROP]).run("no gym today, sorry")
    return result.steps[0].tool


async def test_a_change_that_the_ask_fits_far_better_is_made_instead():
    assert await changed(planned_nats=-40.0, other_nats=-30.0) == "drop_training"
    assert await changed(planned_nats=-31.0, other_nats=-30.0) == "add_training"
    assert await changed(planned_nats=-60.0, other_nats=-51.0) == "add_training"
    assert await changed(planned_nats=-40.0, other_nats=-30.0, share=0.95) == "add_training"


@pytest.mark.parametrize("planned", ["add_training", "get_day"])
async def test_though_none_fits_a_change_takes_no_place_and_loses_none(planned: str):
    other = "get_day" if planned == "add_training" else "add_training"
    first = {
        "json": {"want": "change", "kind": "tool", "brief": "x", "tool": planned},
        "choices": [
            Choice(
                path="/want", value="change", share=0.8, shares=(("change", 0.8), ("talk", 0.15))
            ),
            Choice(path="/tool", value=planned, share=1.0, shares=((planned, 1.0), (other, 0.0))),
        ],
    }
    nats = {"Adds": -49.0, "Steps": -49.0, "workouts": -60.0}
    better = {"add_training": "Steps", "get_day": "Adds"}[planned]
    closing = {"json": {"why": "It is known.", "kind": "answer", "brief": "done"}}
    replies = [first, *([closing] if planned == "get_day" else []), {"text": "x"}, {"text": "x"}]
    model = Scorer(replies, nats | {better: -40.0})
    result = await create_agent(model=model, tools=[DAY, TRAINING, ADD]).run("I was at the gym")
    assert len(model.asked) == 2
    assert next(step.tool for step in result.steps) == planned


async def test_an_ask_that_fits_no_tool_is_talked_about():
    found = {"Steps": -60.0, "workouts": -70.0, "Adds": -51.0}
    talk = {"json": {"want": "talk", "kind": "answer", "brief": "no"}}
    model = Scorer([CHANGE, talk, {"text": "Well done."}], found)
    result = await create_agent(model=model, tools=[DAY, TRAINING, ADD]).run("I am so happy")
    assert [len(scoring.openings) for scoring in model.asked] == [2, 2]
    assert result.text == "Well done."
    assert [step.tool for step in result.steps] == [None]
    assert model.fake.calls[1].schema["properties"]["want"] == {"const": "talk"}


async def test_in_the_middle_of_a_talk_a_few_words_are_not_weighed():
    hello = {"json": {"want": "talk", "kind": "answer", "brief": "hello"}}
    first = [hello, {"text": "Hello."}]
    model = Scorer([*first, plan("get_day", 1.0), {"text": "4120 steps."}], {})
    agent = create_agent(model=model, tools=[DAY, TRAINING])
    await agent.run("hello there")
    result = await agent.run("how far today?")
    assert [step.tool for step in result.steps] == ["get_day", None]
    assert model.asked == []


@pytest.mark.parametrize(
    "found",
    [
        ModelUnavailable("gone"),
        (),
        (1.0,) * 9,
        (float("nan"),) * 3,
        (-float("inf"),) * 3,
        None,
        3.0,
    ],
)
async def test_a_model_that_cannot_score_after_all_plans_as_it_did(found: Any):
    class Failing(Scorer):
        async def score(self, scoring: Scoring) -> tuple[float, ...]:
            if isinstance(found, Exception):
                raise found
            return found

    model = Failing([plan("get_day", 1.0), {"text": "4120 steps."}], {})
    result = await create_agent(model=model, tools=[DAY, TRAINING]).run("was I at the gym?")
    assert [step.tool for step in result.steps] == ["get_day", None]


async def test_a_run_that_is_cancelled_while_it_weighs_ends_there():
    class Cancelling(Scorer):
        async def score(self, scoring: Scoring) -> tuple[float, ...]:
            raise RunCancelled("enough")

    model = Cancelling([plan("get_day", 1.0)], {})
    with pytest.raises(RunCancelled):
        await create_agent(model=model, tools=[DAY, TRAINING]).run("was I at the gym?")


async def test_a_description_is_read_as_one_line_of_whole_sentences():
    long = tool(
        "get_day",
        run=lambda args, context: {"steps": 1},
        description="Steps\nof a day. " + "More of it than anybody reads. " * 20,
    )
    model = Scorer([plan("get_day", 1.0), {"text": "1 step."}], {"Steps": -1.0, "workouts": -1.0})
    await create_agent(model=model, tools=[long, TRAINING]).run("was I at the gym?")
    opening = model.asked[0].openings[1]
    assert opening.startswith("Function: Steps of a day. More")
    assert opening.endswith("reads.\nPerson:")
    assert len(opening) < 200


def test_a_share_near_nought_counts_as_one_in_a_hundred():
    choices = [Choice(path="/tool", value="a", share=1.0, shares=(("a", 1.0), ("b", 1e-12)))]

    def value(nats: float) -> Choice:
        found = fitted_choice(choices, {"a": 0.0, "b": nats})
        assert found is not None
        return found

    even = value(-log(LEAST_SHARE))
    assert even.share == pytest.approx(0.5)
    assert sum(share for _, share in even.shares) == pytest.approx(1.0)
    assert value(6.0).value == "b"
    assert value(4.0).value == "a"
    assert fitted_choice(choices, {"a": 0.0}) is None


def test_no_tool_is_lacking_unless_all_were_weighed_and_none_fits():
    def lack(fit: dict[str, float], planned: str = "list_training") -> float:
        return lacking(fit, {"get_day": DAY, "list_training": TRAINING, **more}, planned=planned)

    more: dict[str, Any] = {}
    assert lack({}) == 0.0
    assert lack({"get_day": -9.0}) == 0.0
    assert lack({"get_day": -9.0, "list_training": FITTING}) == 0.0
    assert lack({"get_day": -9.0, "list_training": FITTING - 1}) == 1.0
    assert lack({"get_day": -9.0, "list_training": -9.0}) == MOST_LACKING
    more = {"add_training": ADD}
    fit = {"get_day": -9.0, "list_training": -9.0}
    assert lack({**fit, "add_training": FITTING - 1}, "add_training") == 0.0
    assert lack({**fit, "add_training": FITTING - 1}, "get_day") == 1.0
    assert lack({**fit, "add_training": -1.0}, "add_training") == MOST_LACKING


def test_lookups_are_rivals_of_lookups_and_changes_of_changes():
    tools = {"get_day": DAY, "list_training": TRAINING}
    assert rivals_of("get_day", tools) == ("get_day", "list_training")
    changes = {**tools, "add_training": ADD, "drop_training": DROP}
    assert rivals_of("add_training", changes) == ("add_training", "drop_training")
    assert rivals_of("get_day", changes) == ("get_day",)
    read = tool("read_training", requires=("list_training",), properties=("id",))
    needing = {**tools, "read_training": read}
    assert rivals_of("read_training", needing) == ("read_training", "get_day")


async def test_the_meaning_of_a_word_is_talked_about_though_it_fits_no_tool():
    first = {
        "json": {"want": "question", "kind": "tool", "brief": "meaning of VPN", "tool": "get_day"},
        "choices": [
            Choice(
                path="/want",
                value="question",
                share=0.8,
                shares=(("question", 0.8), ("impossible", 0.15), ("talk", 0.05)),
            ),
            Choice(path="/tool", value="get_day", share=1.0),
        ],
    }
    talk = {"json": {"want": "talk", "kind": "answer", "brief": "x"}}
    model = Scorer([first, talk, {"text": "Virtual private network."}], {})
    result = await create_agent(model=model, tools=[DAY, TRAINING]).run("what does VPN stand for?")
    assert result.text == "Virtual private network."
    assert model.fake.calls[1].schema["properties"]["want"] == {"const": "talk"}
