"""Times and amounts in words; asks that are enough by themselves; a second choice."""

from __future__ import annotations

import pytest

from goliath_local.prompts import (
    asks_whether,
    first_choice,
    has_second_choice,
    is_conditional,
    needs_no_tool,
    second_choice,
    spoken,
    wants_to_be_told,
)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        ("wake me at twenty to seven", "twenty to seven is 06:40"),
        ("at a quarter past 3", "a quarter past 3 is 15:15"),
        ("half past twelve", "half past twelve is 12:30"),
        ("weck mich um halb acht", "halb acht is 07:30"),
        ("um Viertel vor neun", "Viertel vor neun is 08:45 or 20:45"),
        ("zehn nach eins", "zehn nach eins is 13:10"),
        ("à sept heures moins le quart", "sept heures moins le quart is 18:45"),
        ("à dix heures et demie", "dix heures et demie is 10:30 or 22:30"),
        ("a las ocho menos diez", "las ocho menos diez is 07:50 or 19:50"),
        ("dinner at half past eight", "half past eight is 20:30"),
        ("I drank a quarter of a litre", "a quarter of a litre is 250 ml"),
        ("eine halbe Stunde Yoga", "eine halbe Stunde is 30 minutes"),
        ("une demi-heure de vélo", "une demi-heure is 30 minutes"),
        ("for an hour and a half", "an hour and a half is 90 minutes"),
        ("half a dozen eggs", "half a dozen is 6"),
    ],
)
def test_what_is_said_in_words_is_said_in_numbers(ask, told):
    assert spoken(ask) == f"Said in numbers: {told}."


@pytest.mark.parametrize(
    "ask",
    [
        "open from ten to six",
        "between nine to five",
        "5 to 6 apples",
        "ten to twelve people",
        "set it to seven",
        "half of it",
        "",
    ],
)
def test_a_range_or_a_plain_number_is_no_time(ask):
    assert spoken(ask) == ""


@pytest.mark.parametrize(
    ("brief", "ask", "enough"),
    [
        ("calculate 20% of 45", "what's 20% of 45?", True),
        ("calculate the end of the film", "it starts 19:40 and takes 95 minutes, so?", True),
        ("calculate the cost per head", "it came to 92 and there were four of us, each?", True),
        ("calculate the costs", "how much did I spend in the third quarter of 2025?", False),
        ("work out the time", "how long until the half past seven train?", False),
        ("work out the overlap", "which two of my three meetings on the 4th overlap?", False),
        ("calculate the steps of this week", "how many steps this week?", False),
        ("translate 'guten Morgen'", "“guten Morgen” in English?", True),
        ("translate the last note", "put my last note into English", False),
        ("list the items", "what's 20% of 45?", False),
        ("look up the meaning of VPN", "what do the letters VPN stand for?", True),
        ("find a synonym for glad", "another word for glad?", True),
        ("look up what is on", "what is on?", False),
        ("Add 'look up synonyms' to the list", "add look up synonyms", False),
        ("find the meaning of the list", "what is on the list?", False),
        ("", "what's 20% of 45?", False),
    ],
)
def test_a_sum_or_a_translation_of_what_is_said_needs_no_tool(brief, ask, enough):
    assert needs_no_tool(brief, ask, tools="list_items List the shopping.") is enough


def test_a_tool_for_the_very_thing_is_used():
    assert not needs_no_tool("calculate 20% of 45", "20% of 45?", tools="calc Calculates sums.")
    assert not needs_no_tool("translate 'ja'", "'ja' in English?", tools="t Translates texts.")
    assert not needs_no_tool("the meaning of VPN", "VPN?", tools="look Gives meanings of words.")


@pytest.mark.parametrize(
    ("ask", "second"),
    [
        ("Book the court at 17:00. If it won't take that, make it 18:00.", True),
        ("copy all of it, and if that doesn't fit just the pictures", True),
        ("Stell ihn auf 17 Uhr. Falls das nicht klappt, auf 18 Uhr.", True),
        ("Put it in the blue box, and should that not work, in the red one.", True),
        ("Put it in the blue box, should it be refused, in the red one.", True),
        ("Should this not be done by Friday, the rent?", False),
        ("What happens should that fail?", False),
        ("Should it not work on Sunday too?", False),
        ("should it rain, close the roof", False),
        ("if it doesn't rain, water the lawn", False),
        ("if it rains close it, and if that fails tell me", False),
        ("turn the lamp on", False),
    ],
)
def test_what_to_do_if_a_change_fails_is_no_condition_of_it(ask, second):
    assert has_second_choice(ask) is second
    if second:
        assert not is_conditional(ask)


def test_the_two_choices_of_an_ask_are_told_apart():
    ask = "copy all of it, and if that doesn't fit just the pictures"
    assert first_choice(ask) == "copy all of it"
    assert second_choice(ask) == "and if that doesn't fit just the pictures"
    assert first_choice("if it rains, close it") == "if it rains, close it"
    assert second_choice("close it") == "close it"


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        ("Tell me if the fridge is above 8 degrees.", True),
        ("please let me know if the door is locked", True),
        ("Dis-moi s'il pleut demain", True),
        ("Sag Bescheid, wenn die Wäsche fertig ist", True),
        ("is the pool open if it rains", True),
        ("Is it free? Then book it. If not, don't.", False),
        ("Check if the tank is below 20, then refill it", False),
        ("check if Ann is free and book her", False),
        ("Check the tank, if it's below 20 refill it", False),
        ("if it rains, tell me", False),
        ("turn it off if it is on", False),
    ],
)
def test_who_only_wants_to_be_told_wants_no_change(ask, told):
    assert wants_to_be_told(ask) is told


@pytest.mark.parametrize(
    ("ask", "whether"),
    [
        ("did the letter come?", True),
        ("Isn't there one?", True),
        ("War die Post da?", True),
        ("when does it end?", False),
        ("Was steht im Brief?", False),
        ("Warum kam er?", False),
        ("can you tell me when it ends?", False),
    ],
)
def test_what_is_answered_by_yes_or_no(ask, whether):
    assert asks_whether(ask) is whether
