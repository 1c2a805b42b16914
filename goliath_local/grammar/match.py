"""Whether a text, so far, is the beginning of a sentence of a grammar.

Pure. A `Matcher` is a state of an automaton that is built while it is used: every state exists
once and knows where each byte, and each token, that it was asked about leads. So checking a token
again is one look-up. Every state can be finished: there are no dead ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Final

from goliath_local.grammar.automaton import Automaton

if TYPE_CHECKING:
    from goliath_local.grammar.automaton import Items
    from goliath_local.grammar.program import Todo
    from goliath_local.grammar.rules import Rules

MAX_FORCED_BYTES = 4096
MAX_TOKEN_BYTES = 128
"""Longer pieces are walked but not remembered."""

_KINDLY = b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_IDS = count(1)


class _Unknown:
    """The mark of a step not taken before."""


_UNKNOWN: Final = _Unknown()

# Most states are only passed through: tables of their own come when there is something to put in.
_NO_STEPS: Final[dict[int, Matcher | None]] = {}
_NO_TOKENS: Final[dict[bytes, Matcher | None]] = {}


class Matcher:
    """A place in a grammar: what was read so far, as far as it matters for what may follow.

    Two matchers of one grammar at which the same may follow for the same reasons are the same
    object, as long as the tables of the grammar have not been dropped in between; so a matcher
    may serve as a key. It does not change, as far as anyone can see.
    """

    __slots__ = (
        "_after",
        "_automaton",
        "_distance",
        "_ending",
        "_forced",
        "_items",
        "_mask",
        "_next",
        "is_complete",
        "state_id",
    )

    def __init__(self, automaton: Automaton[Matcher], items: Items, is_complete: bool) -> None:
        self._automaton = automaton
        self._items = items
        self._next: dict[int, Matcher | None] = _NO_STEPS
        self._after: dict[bytes, Matcher | None] = _NO_TOKENS
        self._forced: bytes | None = None
        self._ending: bytes | None = None
        self.state_id = next(_IDS)
        """A number that no other matcher has, of any grammar."""
        self.is_complete = is_complete
        """True when the text so far is a whole sentence."""
        self._distance = 0 if is_complete else -1
        self._mask = -1

    @staticmethod
    def start(rules: Rules) -> Matcher:
        """Return the matcher before the first byte.

        Starting from the same rules object again goes on with the tables filled so far, as long
        as not too many other grammars were started in between.

        Raises:
            GrammarError: the rules are unsound; see `verify`.
        """
        return _automaton(_Same(rules)).start

    def advance(self, data: bytes) -> Matcher | None:
        """Return the matcher after these bytes, None where the grammar does not allow them."""
        found = self._after.get(data, _UNKNOWN)
        return self._walk(data) if isinstance(found, _Unknown) else found

    def step(self, byte: int) -> Matcher | None:
        """Return the matcher after one byte, None where the grammar does not allow it."""
        found = self._next.get(byte, _UNKNOWN)
        return self._take(byte) if isinstance(found, _Unknown) else found

    def accepts(self, data: bytes) -> bool:
        """Return whether these bytes make the text so far a whole sentence."""
        after = self.advance(data)
        return after is not None and after.is_complete

    def allowed_first_bytes(self) -> frozenset[int]:
        """Return the bytes that may come next; none where the text can only end."""
        return _bytes_of(self.allowed_mask)

    @property
    def distance(self) -> int:
        """Bytes of the shortest ending; 0 when complete."""
        if self._distance < 0:
            self._distance = int(min([node.distance + s.distance for node, s in self._items]))
        return self._distance

    @property
    def allowed_mask(self) -> int:
        """Bit b is set where byte b may come next."""
        if self._mask < 0:
            mask = 0
            for node, _ in self._items:
                mask |= node.mask
            self._mask = mask
        return self._mask

    @property
    def readings(self) -> int:
        """In how many ways what was read may be understood: the stacks llama.cpp would keep."""
        return sum(stack.readings for _, stack in self._items) + self.is_complete

    @property
    def is_text_only(self) -> bool:
        """True when each byte that may come next begins a text, none a class of characters."""
        return all(not node.mask & (node.mask - 1) for node, _ in self._items)

    def forced(self) -> bytes:
        """Return the bytes that must come next; none where there is a choice, or it may end.

        At most `MAX_FORCED_BYTES`; it may stop inside a character.
        """
        if self._forced is None:
            self._forced = bytes(self._follow_forced())
        return self._forced

    def shortest_ending(self) -> bytes:
        """Return `distance` bytes that make the text so far a whole sentence."""
        if self._ending is None:
            self._ending = bytes(self._follow_shortest())
        return self._ending

    def _walk(self, data: bytes) -> Matcher | None:
        state: Matcher | None = self
        for byte in data:
            if state is None:
                break
            state = state.step(byte)
        if len(data) <= MAX_TOKEN_BYTES:
            tokens = self._after
            if tokens is _NO_TOKENS:
                tokens = self._after = {}
            tokens[data] = state
            self._automaton.remember()
        return state

    def _take(self, byte: int) -> Matcher | None:
        todo: Todo = []
        for node, stack in self._items:
            index = node.table[byte]
            if index:
                todo.append((node.nexts[index], stack))  # type: ignore[arg-type]  # 0 is None
        found = self._automaton.state_at(todo) if todo else None
        # Another thread may have all tables dropped at any moment, hence the local name.
        steps = self._next
        if steps is _NO_STEPS:
            steps = self._next = {}
        steps[byte] = found
        self._automaton.remember()
        return found

    def _follow_forced(self) -> bytearray:
        out = bytearray()
        state: Matcher | None = self
        while state is not None and not state.is_complete and len(out) < MAX_FORCED_BYTES:
            mask = state.allowed_mask
            if mask & (mask - 1):
                break
            out.append(mask.bit_length() - 1)
            state = state.step(out[-1])
        return out

    def _follow_shortest(self) -> bytearray:
        out = bytearray()
        state = self
        while not state.is_complete:
            byte, state = state._nearer()
            out.append(byte)
        return out

    def _nearer(self) -> tuple[int, Matcher]:
        """Return a byte that brings the end one byte nearer, and where it leads."""
        for node, stack in self._items:
            if node.distance + stack.distance > self.distance:
                continue
            for byte in (*_KINDLY, *range(256)):
                index = node.table[byte]
                then = node.nexts[index] if index else None
                if then is not None and then.distance + 1 == node.distance:
                    after = self.step(byte)
                    assert after is not None
                    return byte, after
        raise AssertionError("every state can be finished")

    def forget(self) -> None:
        """Drop what is remembered of steps from here; it only saved work."""
        self._next, self._after = _NO_STEPS, _NO_TOKENS


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """Rules as a key: equal only to the very same object."""

    rules: Rules

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.rules is self.rules

    def __hash__(self) -> int:
        return id(self.rules)


@lru_cache(maxsize=32)
def _automaton(same: _Same) -> Automaton[Matcher]:
    return Automaton(same.rules, Matcher)


@lru_cache(maxsize=1024)
def _bytes_of(mask: int) -> frozenset[int]:
    return frozenset(byte for byte in range(256) if mask >> byte & 1)
