"""Which texts a choice is between."""

from __future__ import annotations

import pytest

from goliath_local.grammar.choices import choices
from goliath_local.grammar.match import Matcher
from goliath_local.grammar.read import read_gbnf

SIZE = r"""
root ::= "{\"size\": " ("\"small\"" | "\"large\"" | "\"largest\"" | "null") ", \"n\": " n "}"
n ::= "-"? [0-9]{1,15}
"""
PLAN = r"""
root ::= "{\"kind\":\"" (tool | "answer\"}" | "escalate\",\"why\":\"" [a-z ]{0,50} "\"}")
tool ::= "tool\",\"tool\":\"" ("list_tasks" | "list_notes" | "create_task") "\"}"
"""
MANY = "root ::= " + " | ".join(f'"{first}{n}"' for first in "ab" for n in range(40))


def at(gbnf: str, text: str) -> tuple[bytes, ...]:
    matcher = Matcher.start(read_gbnf(gbnf)).advance(text.encode())
    assert matcher is not None
    return choices(matcher)


@pytest.mark.parametrize(
    ("gbnf", "text", "expected"),
    [
        (
            SIZE,
            '{"size": ',
            ['"large", "n": ', '"largest", "n": ', '"small", "n": ', 'null, "n": '],
        ),
        (SIZE, '{"size": "', ['large", "n": ', 'largest", "n": ', 'small", "n": ']),
        (SIZE, '{"size": "larg', []),
        (SIZE, '{"size": "large', ['", "n": ', 'st", "n": ']),
        (PLAN, '{"kind":"', ['answer"}', 'escalate","why":"', 'tool","tool":"']),
        (PLAN, '{"kind":"tool","tool":"', ['create_task"}', 'list_notes"}', 'list_tasks"}']),
        (PLAN, '{"kind":"tool","tool":"list_', ['notes"}', 'tasks"}']),
        ('root ::= [1-3] "."', "", ["1.", "2.", "3."]),
        ('root ::= "1" | "10" | "12"', "1", ["", "0", "2"]),
        ('root ::= "true" | "false"', "", ["false", "true"]),
        (MANY, "", ["a", "b"]),
    ],
)
def test_a_choice_between_texts_is_told(gbnf: str, text: str, expected: list[str]) -> None:
    assert [found.decode() for found in at(gbnf, text)] == expected


@pytest.mark.parametrize(
    ("gbnf", "text"),
    [
        (SIZE, ""),
        (SIZE, '{"size": "small", "n": '),
        (SIZE, '{"size": "small", "n": 12'),
        (PLAN, '{"kind":"escalate","why":"'),
        (PLAN, '{"kind":"escalate","why":"ab'),
        ("root ::= .*", ""),
        ('root ::= "a"', "a"),
        ("root ::= " + " | ".join(f'"{chr(n)}"' for n in range(0x30, 0x78) if n != 0x5C), ""),
    ],
)
def test_what_is_forced_open_or_too_much_is_no_choice(gbnf: str, text: str) -> None:
    assert at(gbnf, text) == ()
