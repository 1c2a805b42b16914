"""A slow reading of a grammar, straight from what its expressions mean.

It keeps every way the text so far can be read as a stack of what must follow, as llama.cpp does;
so it is a second opinion on the matcher, and counts the stacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goliath_local.grammar.rules import Alt, Chars, Ref, Repeat, Seq, Text

if TYPE_CHECKING:
    from goliath_local.grammar import Rules

# A stack is a chain of pairs: what comes next, and the chain of what follows it; () at the end.


class Readings:
    """All ways to read a text so far."""

    def __init__(self, rules: Rules, stacks: frozenset[Any] | None = None) -> None:
        self.rules = rules
        start = (Ref("root"), ())
        self.stacks = self._open({start}) if stacks is None else stacks

    @property
    def is_complete(self) -> bool:
        return () in self.stacks

    def read(self, text: str) -> Readings | None:
        """The readings after the text; None when there is none."""
        found: Readings = self
        for char in text:
            stacks = found._open({rest for s in found.stacks if s for rest in _after(s, char)})
            if not stacks:
                return None
            found = Readings(self.rules, stacks)
        return found

    def _open(self, stacks: set[Any]) -> frozenset[Any]:
        """The same stacks with a character, or nothing, on top of each."""
        waiting, seen, found = list(stacks), set(stacks), set()
        while waiting:
            stack = waiting.pop()
            if not stack or _is_terminal(stack[0]):
                found.add(stack)
                continue
            for opened in self._opened(*stack):
                if opened not in seen:
                    seen.add(opened)
                    waiting.append(opened)
        return frozenset(found)

    def _opened(self, top: Any, rest: Any) -> list[Any]:
        match top:
            case Ref(name):
                return [(self.rules.by_name[name], rest)]
            case Alt(options):
                return [(option, rest) for option in options]
            case Seq(items):
                for item in reversed(items):
                    rest = (item, rest)
                return [rest]
            case Repeat(item, least, most):
                fewer = Repeat(item, max(least - 1, 0), None if most is None else most - 1)
                again = rest if most == 1 else (fewer, rest)
                return [(item, again)] if least else [(item, again), rest]
            case _:
                return [rest]  # an empty text


def _is_terminal(top: Any) -> bool:
    return isinstance(top, Chars) or (isinstance(top, Text) and bool(top.text))


def _after(stack: Any, char: str) -> list[Any]:
    top, rest = stack
    if isinstance(top, Text):
        if top.text[0] != char:
            return []
        return [(Text(top.text[1:]), rest)] if len(top.text) > 1 else [rest]
    inside = any(low <= ord(char) <= high for low, high in top.ranges)
    return [rest] if inside != top.negated else []
