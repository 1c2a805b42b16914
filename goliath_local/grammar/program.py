"""A grammar as a network of nodes that a matcher can run, byte by byte.

Pure. Rules are lowered when they are first called. What can never be finished is left out, so
every node that exists leads to an end. Counts are kept in frames, not written out, so `{0,2000}`
is one node. A call in last position needs no frame, so right recursion does not grow a stack.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.grammar.lengths import NEVER, Lengths
from goliath_local.grammar.rules import Alt, Chars, Ref, Repeat, Seq, Text
from goliath_local.grammar.utf8 import characters, shape_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from goliath_local.grammar.rules import Expr, Rules
    from goliath_local.grammar.stacks import Stack, Stacks
    from goliath_local.grammar.utf8 import Shape


class Byte:
    """One byte out of a set. Here a matcher waits."""

    __slots__ = ("distance", "mask", "nexts", "table")

    def __init__(self, table: bytes, nexts: tuple[Node | None, ...]) -> None:
        self.table = table
        """256 entries: 0 where the byte is refused, else an index into `nexts`."""
        self.nexts = nexts
        self.mask = _mask(table)
        """Bit b is set where byte b is taken."""
        self.distance: float = 1 + min([node.distance for node in nexts if node])
        """Bytes to the end of the rule, or of the round, that this node is in."""

    def follow(self, stack: Stack, stacks: Stacks, todo: Todo) -> None:
        """Do nothing: it goes on with a byte."""


class Split:
    """Any of several ways on, without a byte."""

    __slots__ = ("distance", "options")

    def __init__(self, options: tuple[Node, ...], distance: float) -> None:
        self.options = options
        self.distance = distance

    def follow(self, stack: Stack, stacks: Stacks, todo: Todo) -> None:  # noqa: ARG002
        """Go all ways, the first first."""
        for option in reversed(self.options):
            todo.append((option, stack))


class Call:
    """A rule, and the node to go on at afterwards."""

    __slots__ = ("_entry", "_name", "_program", "distance", "next")

    def __init__(self, name: str, then: Node, program: Program) -> None:
        self._name = name
        self._program = program
        self._entry: Node | None = None
        self.next = then
        self.distance: float = program.lengths.by_rule[name] + then.distance

    def follow(self, stack: Stack, stacks: Stacks, todo: Todo) -> None:
        """Enter the rule, with the way back on the stack."""
        if self._entry is None:
            self._entry = self._program.entry(self._name)
        below = stack if self.next is RETURN else stacks.push(self.next, stack)
        todo.append((self._entry, below))


class Count:
    """Something a counted number of times; its rounds are frames."""

    __slots__ = ("_rounds", "distance", "item", "item_length", "least", "most", "next")

    def __init__(self, repeat: Repeat, *, item: Node, item_length: float, then: Node) -> None:
        self.item = item
        self.item_length = item_length
        self.least = repeat.least
        self.most = repeat.most
        self.next = then
        self.distance: float = repeat.least * item_length + then.distance
        self._rounds: dict[int, Round] = {}

    def follow(self, stack: Stack, stacks: Stacks, todo: Todo) -> None:
        """Begin the first round, or go past it where none is needed."""
        self.go_on(0, stack, stacks, todo)

    def go_on(self, done: int, stack: Stack, stacks: Stacks, todo: Todo) -> None:
        """Begin another round after `done` of them, or go past it, whichever is allowed."""
        if done >= self.least:
            todo.append((self.next, stack))
        if self.most is None:
            done = min(done, self.least)  # more need not be told apart
        elif done >= self.most:
            return
        here = self._rounds.get(done)
        if here is None:
            here = self._rounds[done] = Round(self, done)
        todo.append((self.item, stacks.push(here, stack)))


class Round:
    """The frame under one round of a `Count`."""

    __slots__ = ("_count", "distance", "done")

    def __init__(self, count: Count, done: int) -> None:
        self._count = count
        self.done = done
        """Rounds that were through before this one."""
        missing = max(0, count.least - done - 1)
        self.distance: float = missing * count.item_length + count.next.distance

    def finish(self, below: Stack, stacks: Stacks, todo: Todo) -> None:
        """Go on after this round."""
        self._count.go_on(self.done + 1, below, stacks, todo)


class Return:
    """The end of a rule or of a round: what is on top of the stack comes next."""

    __slots__ = ("distance",)

    def __init__(self) -> None:
        self.distance: float = 0

    def follow(self, stack: Stack, stacks: Stacks, todo: Todo) -> None:
        """Take the top frames off and go on there."""
        for frame, below in stack.frames:
            if isinstance(frame, Round):
                frame.finish(below, stacks, todo)
            else:
                todo.append((frame, below))  # type: ignore[arg-type]  # the only other frames


class End:
    """The end of a whole sentence."""

    __slots__ = ("distance",)

    def __init__(self) -> None:
        self.distance: float = 0

    def follow(self, stack: Stack, stacks: Stacks, todo: Todo) -> None:
        """Do nothing: nothing follows."""


Node: TypeAlias = Byte | Split | Call | Count | Return | End
Todo: TypeAlias = "list[tuple[Node, Stack]]"
Lowering: TypeAlias = "Generator[tuple[Expr, Node], Node, Node]"
"""Asks for parts to be lowered and gives back the whole; driven by a loop, not by recursion."""

RETURN = Return()
END = End()


class Program:
    """The nodes of one grammar, lowered rule by rule on demand."""

    __slots__ = ("_bytes", "_entries", "_rules", "lengths")

    def __init__(self, rules: Rules, lengths: Lengths) -> None:
        self.lengths = lengths
        self._rules = rules
        self._entries: dict[str, Node] = {}
        self._bytes: dict[tuple[Shape, Node], Node] = {}

    def entry(self, name: str) -> Node:
        """Return the first node of a rule."""
        found = self._entries.get(name)
        if found is None:
            found = self._entries[name] = self._lower(self._rules.by_name[name], RETURN)
        return found

    def _lower(self, expr: Expr, then: Node) -> Node:
        """Return the node at which the expression begins that goes on at `then`."""
        answer = self._leaf(expr, then)
        waiting = [] if answer else [self._steps(expr, then)]
        while waiting:
            try:
                part = waiting[-1].send(answer)  # type: ignore[arg-type]  # None starts it
            except StopIteration as done:
                waiting.pop()
                answer = done.value
            else:
                answer = self._leaf(*part)
                if answer is None:
                    waiting.append(self._steps(*part))
        assert answer is not None
        return answer

    def _leaf(self, expr: Expr, then: Node) -> Node | None:
        """Return the node of an expression without parts, None of one with parts."""
        match expr:
            case Text(text):
                return self._text(text, then)
            case Chars():
                shape = shape_of(characters(expr))
                assert shape is not None  # what never matches is not lowered
                return self._shape(shape, then)
            case Ref(name):
                return Call(name, then, self)
            case Seq() | Alt() | Repeat():
                return None

    def _steps(self, expr: Expr, then: Node) -> Lowering:
        match expr:
            case Seq(items):
                for item in reversed(items):
                    then = yield item, then
            case Alt(options):
                then = yield from self._alternatives(options, then)
            case Repeat():
                then = yield from self._repetition(expr, then)
            case Text() | Chars() | Ref():
                pass  # these have no steps
        return then

    def _alternatives(self, options: tuple[Expr, ...], then: Node) -> Lowering:
        nodes: list[Node] = []
        for option in options:
            if self.lengths.of(option) < NEVER:
                nodes.append((yield option, then))
        return nodes[0] if len(nodes) == 1 else Split(tuple(nodes), _nearest(nodes))

    def _repetition(self, repeat: Repeat, then: Node) -> Lowering:
        length = self.lengths.of(repeat.item)
        if repeat.most == 0 or length == NEVER:
            return then
        if (repeat.least, repeat.most) == (1, 1):
            return (yield repeat.item, then)
        if (repeat.least, repeat.most) == (0, 1):
            once = yield repeat.item, then
            return Split((once, then), then.distance)
        if repeat.most is None and repeat.least <= 1:
            loop = Split((), then.distance)
            body = yield repeat.item, loop
            loop.options = (body, then)
            return body if repeat.least else loop
        item = yield repeat.item, RETURN
        return Count(repeat, item=item, item_length=length, then=then)

    def _text(self, text: str, then: Node) -> Node:
        for byte in reversed(text.encode()):
            then = Byte(_single(byte), (None, then))
        return then

    def _shape(self, shape: Shape, then: Node) -> Node:
        """Return the class going on at `then`; at most four bytes deep."""
        found = self._bytes.get((shape, then))
        if found is None:
            kids = (self._shape(kid, then) if kid else then for kid in shape.kids[1:])
            found = self._bytes[shape, then] = Byte(shape.table, (None, *kids))
        return found


def _nearest(nodes: list[Node]) -> float:
    return min(node.distance for node in nodes)


@lru_cache(maxsize=256)
def _single(byte: int) -> bytes:
    return bytes(byte) + b"\1" + bytes(255 - byte)


@lru_cache(maxsize=4096)
def _mask(table: bytes) -> int:
    return sum(1 << byte for byte in range(256) if table[byte])
