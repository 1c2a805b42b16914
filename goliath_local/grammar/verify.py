"""Whether rules are sound: what a matcher can run, and what llama.cpp survives.

Pure. llama.cpp checks few of these itself; the others end its process or never end at all. So no
rules reach it, or our matcher, that have not passed here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.errors import GrammarError
from goliath_local.grammar.lengths import NEVER, Lengths
from goliath_local.grammar.rules import Alt, Chars, Ref, Repeat, Seq, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goliath_local.grammar.rules import Expr, Rules

Where: TypeAlias = Callable[[str, "Expr | None"], tuple[int, int]]
"""Rule name and expression in it → line and column; None for the rule itself."""

MAX_REPEATS = 2000  # llama.cpp, MAX_REPETITION_THRESHOLD
MAX_EMPTY_REPEATS = 64
"""How often something that can be empty may be repeated: llama.cpp keeps a stack for each time."""

MAX_BEGINNINGS = 20_000
"""How many ways a rule may begin: llama.cpp keeps a stack for each, and compares all pairs."""


def verify(rules: Rules, where: Where | None = None) -> Lengths:
    """Return the lengths of sound rules.

    Args:
        rules: the grammar.
        where: tells line and column; by default each rule stands on a line of its own, in order.

    Raises:
        GrammarError: no root, an undefined rule, left recursion, no finite sentence, a text or
            a repetition that llama.cpp cannot take.
    """
    check = _Check(rules, where or _one_line_a_rule(rules))
    check.names()
    check.expressions()
    check.beginnings()
    if check.lengths.by_rule["root"] == NEVER:
        check.fail("root", None, "no finite text matches root, so a reply could never end")
    return check.lengths


def _one_line_a_rule(rules: Rules) -> Where:
    lines = {name: number for number, name in enumerate(rules.by_name, 1)}
    return lambda name, _: (lines.get(name, 1), 1)


class _Check:
    """The checks over one grammar."""

    __slots__ = ("_rules", "_where", "lengths")

    def __init__(self, rules: Rules, where: Where) -> None:
        self._rules = rules
        self._where = where
        self.lengths = Lengths(rules)

    def fail(self, name: str, expr: Expr | None, reason: str) -> None:
        line, column = self._where(name, expr)
        raise GrammarError(line, column, reason)

    def names(self) -> None:
        """Every name is defined, root among them."""
        if "root" not in self._rules.by_name:
            self.fail("root", None, "there is no rule called root, where a grammar starts")
        for name, expr in self._everything():
            if isinstance(expr, Ref) and expr.name not in self._rules.by_name:
                self.fail(name, expr, f"rule {expr.name} is not defined")
            if isinstance(expr, Text):
                self._text(name, expr)

    def _text(self, name: str, expr: Text) -> None:
        if "\0" in expr.text:
            self.fail(name, expr, "a text with NUL in it would end llama.cpp's process")
        if any("\ud800" <= char <= "\udfff" for char in expr.text):
            self.fail(name, expr, "a lone surrogate is not a character")

    def expressions(self) -> None:
        """Every repetition is in bounds."""
        for name, expr in self._everything():
            if isinstance(expr, Repeat):
                self._repeat(name, expr)

    def _repeat(self, name: str, expr: Repeat) -> None:
        times = expr.least if expr.most is None else max(expr.least, expr.most)
        if expr.most is not None and expr.least > expr.most:
            reason = f"at least {expr.least} and at most {expr.most} times is never"
            self.fail(name, expr, f"{reason}; llama.cpp hangs on it")
        if times > MAX_REPEATS:
            self.fail(name, expr, f"{times} repetitions are more than llama.cpp's {MAX_REPEATS}")
        if times > MAX_EMPTY_REPEATS and self.lengths.can_be_empty(expr.item):
            self.fail(
                name,
                expr,
                f"something that can be empty is repeated {times} times, on which llama.cpp "
                f"hangs; take the empty case out, or repeat at most {MAX_EMPTY_REPEATS} times",
            )

    def beginnings(self) -> None:
        """No rule begins with itself, and none in too many ways."""
        ways: dict[str, int] = {}
        for name in self._leaves_first():
            known: dict[int, int] = {}
            for expr in self.lengths.orders[name]:
                known[id(expr)] = self._ways(expr, known, ways)
            ways[name] = known[id(self._rules.by_name[name])]
            if ways[name] > MAX_BEGINNINGS:
                reason = (
                    f"rule {name} can begin in {ways[name]} ways; {MAX_BEGINNINGS} are allowed"
                )
                self.fail(name, None, reason)

    def _ways(self, expr: Expr, known: dict[int, int], ways: dict[str, int]) -> int:
        match expr:
            case Text() | Chars():
                return 1
            case Ref(name):
                return ways.get(name, 0)  # 0: not at the beginning of the rule, so not asked for
            case Seq():
                return max(1, sum(known[id(item)] for item in self._first_items(expr)))
            case Alt(options):
                return sum(known[id(option)] for option in options)
            case Repeat(item, _, most):
                each = known[id(item)]
                return each * most if most and self.lengths.can_be_empty(item) else each

    def _leaves_first(self) -> Iterator[str]:
        """Yield every rule after those that it can begin with.

        Raises:
            GrammarError: left recursion.
        """
        done: set[str] = set()
        for start in self._rules.by_name:
            path = {start: self._first_rules(start)} if start not in done else {}
            while path:
                name = next(reversed(path))
                then = next((other for other in path[name] if other not in done), None)
                if then is None:
                    del path[name]
                    done.add(name)
                    yield name
                elif then in path:
                    self._left_recursion(then, list(path))
                else:
                    path[then] = self._first_rules(then)

    def _left_recursion(self, name: str, path: list[str]) -> None:
        loop = [*path[path.index(name) :], name]
        shown = loop if len(loop) <= 6 else [*loop[:3], "…", *loop[-2:]]
        reason = f"left recursion: {name} can begin with itself ({' → '.join(shown)})"
        self.fail(name, None, f"{reason}; put what ends it first, or use * or +")

    def _first_rules(self, name: str) -> Iterator[str]:
        """Yield the rules that a rule can begin with."""
        todo = [self._rules.by_name[name]]
        while todo:
            expr = todo.pop()
            match expr:
                case Ref(other):
                    yield other
                case Seq():
                    todo.extend(self._first_items(expr))
                case Alt(options):
                    todo.extend(options)
                case Repeat(item):
                    todo.append(item)
                case Text() | Chars():
                    pass

    def _first_items(self, seq: Seq) -> Iterator[Expr]:
        """Yield the items up to the first that cannot be empty."""
        for item in seq.items:
            yield item
            if not self.lengths.can_be_empty(item):
                return

    def _everything(self) -> Iterator[tuple[str, Expr]]:
        for name, order in self.lengths.orders.items():
            for expr in order:
                yield name, expr
