"""GBNF text → rules: all of llama.cpp's notation, save what would end or hang its process.

Pure. What is refused beyond llama.cpp's own rules is told in `docs/gbnf.md`; in short: what
`verify` refuses, empty right sides, empty and backward classes, characters that do not exist,
brackets deeper than 64, repetitions that llama.cpp would write out to enormous size, and its
references to single tokens. As in llama.cpp, of a rule defined twice the last definition counts.
Source: llama.cpp, grammars/README.md and src/llama-grammar.cpp.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goliath_local.grammar.expansion import Expansion, Item
from goliath_local.grammar.rules import Alt, Chars, Ref, Rules, Seq, Text
from goliath_local.grammar.scan import Scanner, shown
from goliath_local.grammar.utf8 import characters, normalize
from goliath_local.grammar.verify import verify

if TYPE_CHECKING:
    from goliath_local.grammar.rules import Expr

MAX_TEXT_BYTES = 512 * 1024
"""Also what `compile_schema` writes at most, so that all it writes can be read back."""

MAX_DEPTH = 64
_UNENDING = frozenset("*+")
_DEFINES = re.compile(r"[ \t]*::=")


def read_gbnf(text: str, *, max_bytes: int = MAX_TEXT_BYTES) -> Rules:
    """Return the rules of a GBNF text, sound ones.

    Args:
        text: the grammar.
        max_bytes: how long it may be in UTF-8; one that was compiled here may be longer.

    Raises:
        GrammarError: with line, column and the reason.
    """
    reader = _Reader(Scanner(text, max_bytes=max_bytes))
    rules = reader.rules()
    verify(rules, reader.where)
    return rules


class _Reader:
    """One reading of one text."""

    __slots__ = (
        "_depth",
        "_empty",
        "_expansion",
        "_names",
        "_places",
        "_rule",
        "_rule_at",
        "_scan",
    )

    def __init__(self, scan: Scanner) -> None:
        self._scan = scan
        self._rule, self._rule_at = "", 0
        self._depth = 0
        self._names: dict[str, int] = {}  # every name seen → where first
        self._empty: dict[str, bool] = {}  # rule → has an empty alternative
        self._expansion = Expansion()
        self._places: dict[int, tuple[int, Expr]] = {}  # id of an expression → where it stands

    def rules(self) -> Rules:
        """Read everything."""
        scan = self._scan
        by_name: dict[str, Expr] = {}
        scan.space(lines=True)
        while scan.peek():
            self._rule_into(by_name)
            scan.space(lines=True)
        for name, at in self._names.items():
            if name not in by_name:
                scan.fail(f"rule {name} is not defined", at)
        for name, at in self._expansion.unending:
            if self._empty[name]:
                self._fail_unending(at)
        return Rules(by_name)

    def where(self, name: str, expr: Expr | None) -> tuple[int, int]:
        """Return line and column of an expression, or of a rule."""
        found = self._places.get(id(expr))
        return self._scan.place(found[0] if found else self._names.get(name, 0))

    def _rule_into(self, by_name: dict[str, Expr]) -> None:
        scan, start = self._scan, self._scan.at
        self._rule_at = start
        name = self._rule = scan.name()
        if not name:
            scan.fail(f"a rule's name was expected, not {shown(scan.peek())}{_hint(scan.peek())}")
        self._see(name, start)
        scan.space(lines=False)
        if not scan.take("::="):
            scan.fail(f"::= was expected after {name}, not {shown(scan.peek())}")
        scan.space(lines=True)
        if not scan.peek():
            self._fail_no_right_side()
        by_name[name], self._empty[name] = self._alternatives()
        self._names[name] = start
        if not (scan.take("\r\n") or scan.take("\n") or scan.take("\r")) and scan.peek():
            scan.fail(f"the end of the line was expected, not {shown(scan.peek())}")

    def _fail_no_right_side(self) -> None:
        self._scan.fail(
            f'rule {self._rule} has an empty right side; write "" for the empty text',
            self._rule_at,
        )

    def _see(self, name: str, at: int) -> None:
        self._names.setdefault(name, at)

    def _alternatives(self) -> tuple[Expr, bool]:
        """Read alternatives; return them and whether one of them is empty."""
        options: list[Expr] = []
        empty = False
        while True:
            items = self._sequence()
            empty = empty or not any(item.elements for item in items)
            options.append(_sequence_of(items))
            if not self._scan.take("|"):
                break
            self._scan.space(lines=True)
        self._expansion.elements += len(options)
        return options[0] if len(options) == 1 else Alt(tuple(options)), empty

    def _sequence(self) -> list[Item]:
        items: list[Item] = []
        while True:
            char = self._scan.peek()
            if char and char in "*+?{":
                self._repetition(items)
            elif (item := self._item(char)) is not None:
                items.append(item)
                self._expansion.elements += item.elements
                self._places[id(item.expr)] = (item.at, item.expr)
            else:
                return items
            self._scan.space(lines=self._depth > 0)

    def _item(self, char: str) -> Item | None:
        match char:
            case '"':
                return self._text()
            case "[":
                return self._class()
            case "(":
                return self._group()
            case ".":
                self._scan.at += 1
                return Item(expr=Chars((), negated=True), at=self._scan.at - 1)
            case "<" | "!":
                self._scan.fail("single tokens (<…> and !<…>) are not supported, only text")
            case _:
                pass
        return self._reference()

    def _text(self) -> Item:
        scan, start = self._scan, self._scan.at
        scan.at += 1
        pieces = [scan.plain()]
        while scan.peek() != '"':
            if not scan.peek():
                scan.fail("this text is not closed with a quote", start)
            pieces += (chr(self._code_point()), scan.plain())
        scan.at += 1
        text = "".join(pieces)
        return Item(expr=Text(text), at=start, elements=len(text))

    def _code_point(self) -> int:
        start = self._scan.at
        code = self._scan.character()
        if code == 0:
            self._scan.fail("NUL in a text would end llama.cpp's process", start)
        if 0xD800 <= code <= 0xDFFF:
            self._scan.fail(f"{code:04X} is half a character (a surrogate)", start)
        return code

    def _class(self) -> Item:
        scan, start = self._scan, self._scan.at
        scan.at += 1
        negated = scan.take("^")
        ranges: list[tuple[int, int]] = []
        while scan.peek() != "]":
            ranges.append(self._range(start))
        scan.at += 1
        if not ranges:
            scan.fail('this class is empty; for the empty text write ""', start)
        chars = Chars(normalize(ranges), negated)
        if not characters(chars):
            scan.fail("no character is in this class", start)
        elements = sum(1 + (low < high) for low, high in ranges)
        return Item(expr=chars, at=start, elements=elements)

    def _range(self, start: int) -> tuple[int, int]:
        scan, at = self._scan, self._scan.at
        if not scan.peek():
            scan.fail("this class is not closed with ]", start)
        low = high = scan.character()
        if scan.peek() == "-" and scan.peek(1) != "]":
            scan.at += 1
            if not scan.peek():
                scan.fail("this class is not closed with ]", start)
            high = scan.character()
        if low > high:
            scan.fail("the range ends before it begins", at)
        return low, high

    def _group(self) -> Item:
        scan, start = self._scan, self._scan.at
        if self._depth == MAX_DEPTH:
            scan.fail(f"brackets are nested deeper than {MAX_DEPTH}")
        scan.at += 1
        scan.space(lines=True)
        before = self._symbols()
        self._expansion.rules += 1
        self._depth += 1
        expr, empty = self._alternatives()
        self._depth -= 1
        if not scan.take(")"):
            if scan.peek():
                scan.fail(f") was expected, not {shown(scan.peek())}")
            scan.fail("this bracket is not closed", start)
        return Item(expr=expr, at=start, rules=max(1, self._symbols() - before), empty=empty)

    def _reference(self) -> Item | None:
        scan, start = self._scan, self._scan.at
        name = scan.name()
        if not name:
            return None
        self._see(name, start)
        if self._depth == 0 and _DEFINES.match(scan.text, scan.at):
            self._fail_no_right_side()
        return Item(expr=Ref(name), at=start, empty=name)

    def _symbols(self) -> int:
        """Return how many symbols llama.cpp knows by now: names seen and rules it added."""
        return len(self._names) + self._expansion.rules

    def _repetition(self, items: list[Item]) -> None:
        start = self._scan.at
        least, most = self._times()
        if not items or not items[-1].elements:
            self._scan.fail("there is nothing before this to repeat", start)
        before = items[-1]
        after = items[-1] = self._expansion.repeat(before, least, most)
        fault = self._expansion.fault(before, after)
        if fault:
            self._scan.fail(fault, start)
        if most is None and before.empty is True:
            self._fail_unending(start)
        if most is None and isinstance(before.empty, str):
            self._expansion.unending.append((before.empty, start))
        self._places[id(after.expr)] = (start, after.expr)

    def _times(self) -> tuple[int, int | None]:
        scan = self._scan
        char = scan.peek()
        scan.at += 1
        if char != "{":
            return int(char == "+"), None if char in _UNENDING else 1
        blanks = self._depth > 0
        scan.space(lines=blanks)
        least = scan.number()
        most: int | None = least
        scan.space(lines=blanks)
        if scan.take(","):
            scan.space(lines=blanks)
            most = scan.number() if scan.peek().isdigit() else None
            scan.space(lines=blanks)
        if not scan.take("}"):
            scan.fail("} was expected after the number of repetitions")
        return least, most

    def _fail_unending(self, at: int) -> None:
        self._scan.fail(
            "something that can be empty is repeated without end, which is left recursion to "
            "llama.cpp; take the empty case out",
            at,
        )


def _sequence_of(items: list[Item]) -> Expr:
    exprs = tuple(item.expr for item in items if item.elements)
    if len(exprs) == 1:
        return exprs[0]
    return Seq(exprs) if exprs else Text("")


def _hint(char: str) -> str:
    if char == "|":
        return "; | goes on a rule only inside brackets or at the end of a line"
    return "; names are made of a-z A-Z 0-9 and -" if char == "_" else ""
