"""GBNF text → rules, or line, column and reason."""

from __future__ import annotations

import pytest

from goliath_local.errors import GrammarError
from goliath_local.grammar.match import Matcher
from goliath_local.grammar.read import read_gbnf
from goliath_local.grammar.rules import Alt, Chars, Ref, Repeat, Seq, Text

CHAIN = "root ::= a0\n" + "".join(f"a{i} ::= a{i + 1}\n" for i in range(4000)) + 'a4000 ::= "x"'
WIDE = "root ::= a0 | b0\n" + "".join(
    f'a{i} ::= a{i + 1} "x" | b{i + 1} "y"\nb{i} ::= a{i + 1} "z" | b{i + 1} "u"\n'
    for i in range(40)
)


def accepts(gbnf: str, text: str) -> bool:
    return Matcher.start(read_gbnf(gbnf)).accepts(text.encode())


def refusal(gbnf: str) -> GrammarError:
    with pytest.raises(GrammarError) as caught:
        read_gbnf(gbnf)
    return caught.value


def test_an_example_is_read_and_has_a_sentence(example: str) -> None:
    start = Matcher.start(read_gbnf(example))
    assert start.accepts(start.shortest_ending())


def test_rules_come_out_as_data() -> None:
    rules = read_gbnf('root ::= "a" x* | [b-d]\nx ::= [^\\n]{2,3} # more\n')
    assert rules.by_name == {
        "root": Alt((Seq((Text("a"), Repeat(Ref("x"), 0, None))), Chars(((0x62, 0x64),)))),
        "x": Repeat(Chars(((0x0A, 0x0A),), negated=True), 2, 3),
    }


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r'"\x41\u00e9\U0001F600\t\n\r\\\"\[\]\-"', 'Aé😀\t\n\r\\"[]-'),
        (r"[a-]", "-"),
        (r"[-a]", "-"),
        (r"[\]]", "]"),
        (r"[^\x00-\x1F]", "é"),
        (r"[^a]", "🦜"),
        (".", "\n"),
        (".", "中"),
        ('"x"{3}', "xxx"),
        ('"x"{2,}', "xxxxx"),
        ('"x"{ 0 , 2 }', "xx"),
        ('("ab" | "c"){2}', "abc"),
        ('"ab"?', "ab"),
        ('"ab"*', "abab"),
        ('"a" {2}', "aa"),
        ('"x"{0}', ""),
        ('""', ""),
        ('"a" |', ""),
        ('"a" |\n  "b"', "b"),
        ('(\n"a"\n|\n"b"\n)', "b"),
        ('("a"?)*', "aaa"),
        ('"a"{2}{3}', "aaaaaa"),
        ('"a" # comment', "a"),
        ("(((((x)))))\nx ::= [0-9]", "7"),
    ],
)
def test_a_notation_means_what_it_means_in_llama_cpp(body: str, text: str) -> None:
    assert accepts(f"root ::= {body}\n", text)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('"x"{3}', "xx"),
        ('"x"{3}', "xxxx"),
        ('"x"{1,2}', "xxx"),
        ('"ab"*', "aba"),
        ("[a-c]", "d"),
        ("[^a]", "a"),
        ("[^a]", "\0"),
        (".", ""),
        ('"x"{0}', "x"),
    ],
)
def test_a_notation_means_no_more_than_in_llama_cpp(body: str, text: str) -> None:
    assert not accepts(f"root ::= {body}\n", text)


def test_comments_blanks_and_line_ends_of_every_kind_are_passed_over() -> None:
    gbnf = '\n # first\r\n\troot ::= # here\r\n  "a" |# or\n "b"\t#end\rx ::= "c"\r\n\r\n'
    assert read_gbnf(gbnf).by_name.keys() == {"root", "x"}


def test_of_a_rule_defined_twice_the_last_definition_counts() -> None:
    gbnf = 'root ::= x\nx ::= "a"\nx ::= "b"\n'
    assert accepts(gbnf, "b")
    assert not accepts(gbnf, "a")


@pytest.mark.parametrize(
    ("gbnf", "line", "column", "reason"),
    [
        ('root ::= "a', 1, 10, "not closed with a quote"),
        ("root ::= [a-", 1, 10, "not closed with ]"),
        ("root ::= [ab", 1, 10, "not closed with ]"),
        ('root ::= ("a"', 1, 10, "bracket is not closed"),
        ('root ::= "a")', 1, 13, "end of the line was expected"),
        ('start ::= "a"', 1, 1, "no rule called root"),
        ("", 1, 1, "no rule called root"),
        ("root ::= foo", 1, 10, "foo is not defined"),
        ('root ::= "a"\nx ::= (\n  "b" foo )', 3, 7, "foo is not defined"),
        ("root ::=", 1, 1, "empty right side"),
        ("root ::= # nothing\n\n", 1, 1, "empty right side"),
        ('root ::= a\na ::=\nb ::= "b"', 2, 1, "a has an empty right side"),
        ('root ::= root "a" | "b"', 1, 1, "left recursion"),
        ("root ::= a\na ::= b\nb ::= c\nc ::= a", 2, 1, "a → b → c → a"),
        ('root ::= "x" a\na ::= b a "x" | "y"\nb ::= c c\nc ::= "" | "z"', 2, 1, "left recursion"),
        ('root ::= a\na ::= "z"? a | "y"', 2, 1, "left recursion"),
        ('root ::= a\na ::= "z"{0,3} ("q"* a) | "y"', 2, 1, "left recursion"),
        ('root ::= ("a"|""){0,2000}', 1, 18, "can be empty is repeated 2000 times"),
        ('root ::= a{0,65}\na ::= b?\nb ::= "b"', 1, 11, "can be empty is repeated 65 times"),
        ('root ::= ("a"|"")*', 1, 18, "can be empty is repeated without end"),
        ('root ::= "b" a+\na ::= "a" |\n', 1, 15, "can be empty is repeated without end"),
        ('root ::= "a"?*', 1, 14, "can be empty is repeated without end"),
        (r'root ::= "\x00"', 1, 11, "NUL"),
        ('root ::= "a\0"', 1, 12, "NUL"),
        (r"root ::= [\x00]", 1, 10, "no character"),
        (r'root ::= "\uD800"', 1, 11, "surrogate"),
        ('root ::= "\ud800"', 1, 11, "surrogate"),
        (r"root ::= [\uD800-\uDFFF]", 1, 10, "no character"),
        (r'root ::= "\U00110000"', 1, 11, "above 10FFFF"),
        (r'root ::= "\q"', 1, 11, r"\q is not an escape"),
        (r'root ::= "\x4"', 1, 11, "2 hexadecimal digits"),
        ('root ::= "a"{3,2}', 1, 13, "at least 3 and at most 2"),
        ('root ::= "a"{2001}', 1, 13, "2001 repetitions"),
        ('root ::= "a"{0,2001}', 1, 13, "2001 repetitions"),
        ('root ::= "a"{9999999999}', 1, 14, "too large"),
        ('root ::= ("a" "b"{1,100}){100}', 1, 26, "100 repetitions of something with 100 rules"),
        ('root ::= "a"{50}{50}', 1, 17, "50 repetitions of something with 50 rules"),
        (f'root ::= "{"a" * 5000}"{{0,2000}}', 1, 5012, "would write this grammar out"),
        ('root ::= "a"' + "?" * 60_000, 1, 21, "repetitions in a row"),
        ("root ::= *", 1, 10, "nothing before this to repeat"),
        ('root ::= "a" ""*', 1, 16, "nothing before this to repeat"),
        ('root ::= "a"{,3}', 1, 14, "a number was expected, not ','"),
        ('root ::= "a"{1;3}', 1, 15, "} was expected"),
        ("root ::= []", 1, 10, "class is empty"),
        ("root ::= [z-a]", 1, 11, "ends before it begins"),
        ("root ::= " + "(" * 60_000, 1, 74, "nested deeper than 64"),
        ('root ::= "a"\n  | "b"', 2, 3, "| goes on a rule only inside brackets"),
        ('a_b ::= "x"', 1, 2, "::= was expected"),
        ('_b ::= "x"', 1, 1, "names are made of"),
        ("root = x", 1, 6, "::= was expected after root"),
        ("root ::= <[5]>", 1, 10, "single tokens"),
        ("root ::= !<think>", 1, 10, "single tokens"),
        ('root ::= "a" root', 1, 1, "no finite text"),
        ("# " + "x" * (1 << 20), 1, 1, "longer than 512 KiB"),
        (WIDE + 'a40 ::= "a"\nb40 ::= "b"', 53, 1, "ways"),
    ],
)
def test_an_unsound_grammar_is_refused_with_line_column_and_reason(
    gbnf: str, line: int, column: int, reason: str
) -> None:
    error = refusal(gbnf)
    assert reason in error.reason
    assert (error.line, error.column) == (line, column)


def test_a_long_chain_of_rules_is_read() -> None:
    assert accepts(CHAIN, "x")


def test_a_long_loop_of_rules_is_left_recursion() -> None:
    error = refusal(CHAIN.replace('a4000 ::= "x"', "a4000 ::= a0"))
    assert error.reason.startswith("left recursion: a0 can begin with itself (a0 → a1 → a2 → … →")


def test_rules_that_nobody_uses_may_be_endless() -> None:
    assert accepts('root ::= "a"\nspare ::= "b" spare', "a")
