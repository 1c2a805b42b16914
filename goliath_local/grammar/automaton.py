"""The states of grammars, built when they are first needed, each once.

Pure, but for the tables: they only save work, and are dropped, those of all grammars together,
when they have grown to some tens of megabytes. Models in several threads may share a grammar:
a table is only ever read with a default and written whole, so the worst is work done twice.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeAlias, TypeVar
from weakref import WeakSet

from goliath_local.grammar.program import END, Byte, Program
from goliath_local.grammar.stacks import Stacks
from goliath_local.grammar.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from goliath_local.grammar.program import Node, Todo
    from goliath_local.grammar.rules import Rules
    from goliath_local.grammar.stacks import Stack

Items: TypeAlias = "tuple[tuple[Byte, Stack], ...]"
"""Where a state waits for a byte, and what is to be finished after each."""

_STEP, _STATE = 1, 12  # in units of some 150 bytes, measured with tracemalloc
MAX_UNITS = 250_000


class State(Protocol):
    """A state of the automaton, as far as the automaton cares."""

    def forget(self) -> None:
        """Drop what is remembered of steps from here."""


S = TypeVar("S", bound=State)


class Automaton(Generic[S]):
    """The states of one grammar."""

    __slots__ = ("__weakref__", "_leads_to", "_make", "_stacks", "_states", "start")

    def __init__(self, rules: Rules, make: Callable[[Automaton[S], Items, bool], S]) -> None:
        """Verify the rules and make the first state.

        Args:
            rules: the grammar.
            make: makes a state of its items; True when a sentence may end there.

        Raises:
            GrammarError: the rules are unsound; see `verify`.
        """
        self._make = make
        self._stacks = Stacks()
        self._states: dict[tuple[bool, frozenset[tuple[Byte, Stack]]], S] = {}
        self._leads_to: dict[tuple[tuple[Node, Stack], ...], S] = {}
        root = Program(rules, verify(rules)).entry("root")
        self.start = self.state_at([(root, self._stacks.push(END, self._stacks.bottom))])
        _TABLES.add(self)

    def __len__(self) -> int:
        return len(self._states)

    def remember(self) -> None:
        """Count a step that a state remembers."""
        _TABLES.count(_STEP)

    def state_at(self, todo: Todo) -> S:
        """Return the state that waits wherever these nodes lead without a byte."""
        begin = tuple(todo)
        known = self._leads_to.get(begin)
        if known is not None:
            return known
        items, is_complete = self._close(todo)
        key = (is_complete, frozenset(items))
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = self._make(self, items, is_complete)
            _TABLES.count(_STATE)
        self._leads_to[begin] = found
        return found

    def forget(self) -> None:
        """Drop the tables; states in use live on, and what follows them is built again."""
        for state in (self.start, *self._states.values()):
            state.forget()
        self._states.clear()
        self._leads_to.clear()
        self._stacks.forget()

    def _close(self, todo: Todo) -> tuple[Items, bool]:
        """Follow the nodes until each waits for a byte; a node met again is followed for more."""
        stacks = self._stacks
        reached: dict[Node, Stack] = {}
        while todo:
            node, stack = todo.pop()
            before = reached.get(node)
            merged = stack if before is None else stacks.union(before, stack)
            if merged is before:
                continue
            reached[node] = merged
            node.follow(stack, stacks, todo)
        pairs = [(node, stack) for node, stack in reached.items() if isinstance(node, Byte)]
        return tuple(pairs), END in reached


class _Tables:
    """How much all automata remember together."""

    __slots__ = ("_automata", "_lock", "_units")

    def __init__(self) -> None:
        self._automata: WeakSet[Automaton[Any]] = WeakSet()
        self._units = 0
        self._lock = Lock()

    def add(self, automaton: Automaton[Any]) -> None:
        with self._lock:
            self._automata.add(automaton)

    def count(self, units: int) -> None:
        self._units += units
        if self._units > MAX_UNITS:
            self._units = 0
            with self._lock:
                automata = list(self._automata)
            for automaton in automata:
                automaton.forget()


_TABLES: Final = _Tables()
