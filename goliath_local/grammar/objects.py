"""Objects as rules.

Pure but for the book. A state is what was read of the keys so far, for each kind of object that
still may be meant: so kinds that begin alike are one rule until they part. Keys come as a prefix
tree; a key that is not declared may come anywhere.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.grammar.machine import TooManyStates, living
from goliath_local.grammar.rules import Alt, Expr, Ref, Seq, Text
from goliath_local.grammar.survey import finite_texts
from goliath_local.grammar.trees import prefix_tree
from goliath_local.schema import joined

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from goliath_local.grammar.lowers import Lowers
    from goliath_local.grammar.members import ObjectPlan
    from goliath_local.schema import Goal
    from goliath_local.schema.regular import Language

_MOST_STATES = 2000
_MOST_SETS = 400
"""States of all kinds of one object together; beyond that the kinds are kept apart."""

_BLOCK = 10
"""Optional keys that are told apart in one rule; those of the next block are in the next rule.

Without blocks n optional keys would be n rules of n keys; with them, a text has to be told apart
from one key of each block at once, and no more.
"""

_MOST_IN_ANY_ORDER = 5
"""Keys of which each set that can be there is a state of its own."""

_MOST_ROWS = 150
"""States times keys, up to which required keys may come in any order."""


class Order(Enum):
    """In which order declared keys may come."""

    SCHEMA = 0
    """That of the schema; what is written is a plan, and its order a line of thought."""

    ANY = 1
    """Any; what was there is remembered key by key."""

    ANY_REQUIRED = 2
    """Any; only required keys are remembered."""

    LOOSE = 3
    """That of the schema among required keys, with the others anywhere."""


_Seen: TypeAlias = tuple[int, int, frozenset[int], frozenset[int]]
"""Next member, keys so far, members and wanted keys that were seen, as far as it matters."""

_Row: TypeAlias = tuple[int | None, int, frozenset[int]]
"""A member, and then the next member in order and the members that were seen."""

_State: TypeAlias = tuple[int, _Seen]
"""A kind of object, and what was seen of it."""

_Label: TypeAlias = tuple[str, int, int | None]
"""`member`, `region` or `skip`; its number; the wanted key it is."""


class _Kind:
    """One kind of object, as a machine over its keys."""

    def __init__(self, lowering: Lowers, plan: ObjectPlan) -> None:
        self.plan = plan
        survey = lowering.survey
        self.is_fertile = survey.is_fertile
        self.regions = [
            (number, region)
            for number, region in enumerate(plan.regions)
            if survey.is_fertile(region.goal)
        ]
        required = sum(member.required for member in plan.members)
        fits_all = plan.most is None or (not self.regions and len(plan.members) <= plan.most)
        self.is_counted = plan.least > required or not fits_all
        self.cap = max(plan.least, 0 if plan.most is None else plan.most + 1)
        self.is_simple = not (self.is_counted or plan.implies or plan.some)
        self.needed = frozenset(n for n, member in enumerate(plan.members) if member.required)
        self.order = self._order(by_letter=lowering.by_letter)
        self.steps: dict[_Seen, list[tuple[_Label, _Seen]]] = {}

    def _order(self, *, by_letter: bool) -> Order:
        size = len(self.plan.members)
        if not by_letter:
            return Order.SCHEMA
        if size <= _MOST_IN_ANY_ORDER:
            return Order.ANY
        if not self.is_simple:
            return Order.SCHEMA
        if len(self.needed) < 8 and size << len(self.needed) <= _MOST_ROWS:
            return Order.ANY_REQUIRED
        return Order.LOOSE

    def explore(self) -> bool:
        """Find the states that lead to an end; return whether there are any."""
        start = self.start
        try:
            self.steps = living(start, self.following, self.is_end, most=_MOST_STATES)
        except TooManyStates:
            return False
        return start in self.steps

    @property
    def start(self) -> _Seen:
        return (0, 0, frozenset(), frozenset())

    def is_end(self, seen: _Seen) -> bool:
        at, count, members, marks = seen
        if self.order is Order.SCHEMA or self.order is Order.LOOSE:
            if any(number >= at for number in self.needed):
                return False
        elif not self.needed <= members:
            return False
        if self.is_counted and count < self.plan.least:
            return False
        return len(marks) == len(self.plan.some) and self._holds(members, len(self.plan.members))

    def _holds(self, members: frozenset[int], at: int) -> bool:
        """Return whether no key that was passed over had been asked for."""
        return all(
            second >= at or second in members
            for first, second in self.plan.implies
            if first in members
        )

    def following(self, seen: _Seen) -> list[tuple[_Label, _Seen]]:
        """Return the keys that may come next, and what was seen then."""
        at, count, members, marks = seen
        if self.is_counted and self.plan.most is not None and count >= self.plan.most:
            return []
        more = min(count + 1, self.cap) if self.is_counted else 0
        found: list[tuple[_Label, _Seen]] = []
        rows = (
            self._in_order(at, members)
            if self.order is Order.SCHEMA
            else self._freely(at, members)
        )
        for number, then, kept in rows:
            if number is None:
                found.append((("skip", 0, None), (then, 0, frozenset(), frozenset())))
            elif self.is_fertile(self.plan.members[number].goal):
                found += self._marked("member", number, (then, more, kept, marks))
        for number, _ in self.regions:
            found += self._marked("region", number, (at, more, members, marks))
        return found

    def _in_order(self, at: int, members: frozenset[int]) -> Iterator[_Row]:
        """Yield the members up to the next required one; None where the look goes on elsewhere."""
        size = max(_BLOCK, len(self.plan.members) // 40)
        for number in range(at, len(self.plan.members)):
            required = number in self.needed
            if self.is_simple and number > at and number % size == 0 and not required:
                yield None, number, frozenset()
                return
            kept = self._kept(members, number, at)
            if kept is not None:
                yield number, number + 1, kept
            if required:
                return

    def _freely(self, at: int, members: frozenset[int]) -> Iterator[_Row]:
        """Yield the members that may come now, wherever they stand in the schema."""
        following = min((number for number in self.needed if number >= at), default=None)
        for number in range(len(self.plan.members)):
            if self.order is Order.LOOSE:
                if number not in self.needed:
                    yield number, at, members
                elif number == following:
                    yield number, number + 1, members
            elif number in members:
                continue
            elif self.order is Order.ANY or number in self.needed:
                yield number, at, members | {number}
            else:
                yield number, at, members

    def _kept(self, members: frozenset[int], number: int, at: int) -> frozenset[int] | None:
        """Return what is to be remembered after a member; None when it may not come now."""
        seen = members | {number}
        # A key that was asked for may not be passed over; one that asks for a passed one is late.
        passed = set(range(at, number))
        for first, second in self.plan.implies:
            if first in members and second in passed:
                return None
            if first == number and second < number and second not in members:
                return None
        matters = {
            one
            for first, second in self.plan.implies
            for one, other in ((first, second), (second, first))
            if other > number
        }
        return frozenset(seen & matters)

    def _marked(self, kind: str, number: int, seen: _Seen) -> list[tuple[_Label, _Seen]]:
        """Return the step with a member or a region, and once more as each key that is wanted."""
        found: list[tuple[_Label, _Seen]] = [((kind, number, None), seen)]
        source = self.plan.members if kind == "member" else self.plan.regions
        at, count, members, marks = seen
        for mark in source[number].marks:
            if mark not in marks and self.is_fertile(self.goal((kind, number, mark))):
                found.append(((kind, number, mark), (at, count, members, marks | {mark})))
        return found

    def goal(self, label: _Label) -> Goal:
        """Return what the value of a key must be."""
        kind, number, mark = label
        source = self.plan.members if kind == "member" else self.plan.regions
        goal = source[number].goal
        return goal if mark is None else joined(goal, self.plan.some[mark])


class Objects:
    """Writes the objects of one goal."""

    def __init__(self, lowering: Lowers, hint: str) -> None:
        self.lowering, self.hint = lowering, hint
        self.kinds: list[_Kind] = []
        self._keys: dict[frozenset[_State], Expr] = {}
        self._rests: dict[frozenset[_State], Expr] = {}
        self._waiting: list[tuple[str, frozenset[_State]]] = []

    def expr(self, plans: Sequence[ObjectPlan]) -> Expr | None:
        """Return the objects of all plans; None when none of them has an object."""
        self.kinds = [kind for plan in plans if (kind := _Kind(self.lowering, plan)).explore()]
        if not self.kinds:
            return None
        start = frozenset((number, kind.start) for number, kind in enumerate(self.kinds))
        options: list[Expr] = []
        if self._has_steps(start):
            options.append(self.keys(start))
        if self._is_end(start):
            options.append(Text("}"))
        while self._waiting:
            name, states = self._waiting.pop()
            self.lowering.book.fill(name, self._rest(states))
        whole = options[0] if len(options) == 1 else Alt(tuple(options))
        return Seq((self.lowering.style.object_open, whole))

    def _steps(self, state: _State) -> list[tuple[_Label, _Seen]]:
        return self.kinds[state[0]].steps[state[1]]

    def _has_steps(self, states: frozenset[_State]) -> bool:
        return any(self._steps(state) for state in states)

    def _is_end(self, states: frozenset[_State]) -> bool:
        return any(self.kinds[number].is_end(seen) for number, seen in states)

    def rest(self, states: frozenset[_State]) -> Expr:
        """Return what may follow a value."""
        if not self._has_steps(states):
            return Text("}")
        if states not in self._rests:
            name = self.lowering.book.reserve(f"{self.hint}-more")
            self._rests[states] = Ref(name)
            self._waiting.append((name, states))
        return self._rests[states]

    def _rest(self, states: frozenset[_State]) -> Expr:
        more = Seq((self.lowering.style.comma, self.keys(states)))
        return Alt((more, Text("}"))) if self._is_end(states) else more

    def keys(self, states: frozenset[_State]) -> Expr:
        """Return the keys that may come next, each with all that follows it."""
        found = self._keys.get(states)
        if found is None:
            if len(self._keys) > _MOST_SETS and len(states) > 1:
                apart = [self.keys(frozenset([state])) for state in sorted(states, key=repr)]
                found = Alt(tuple(apart))
            else:
                found = self._next(states)
            found = self.lowering.book.share(f"{self.hint}-key", found)
            self._keys[states] = found
        return found

    def _next(self, states: frozenset[_State]) -> Expr:
        members: dict[str, dict[Hashable, tuple[Goal, set[_State]]]] = {}
        others: dict[tuple[Language, Hashable], tuple[Goal, set[_State]]] = {}
        skipped: set[_State] = set()
        for state in sorted(states, key=_order):
            number, _ = state
            kind = self.kinds[number]
            for label, seen in self._steps(state):
                to = (number, seen)
                if label[0] == "skip":
                    skipped.add(to)
                    continue
                goal = kind.goal(label)
                key = self.lowering.survey.key(goal)
                if label[0] == "member":
                    rows = members.setdefault(kind.plan.members[label[1]].name, {})
                    rows.setdefault(key, (goal, set()))[1].add(to)
                else:
                    names = kind.plan.regions[label[1]].names
                    others.setdefault((names, key), (goal, set()))[1].add(to)
        options: list[Expr] = []
        if members:
            options.append(self._tree(members))
        for (names, _), (goal, targets) in others.items():
            options.append(self._other(names, goal, frozenset(targets)))
        whole: list[Expr] = [
            Seq((Text('"'), options[0] if len(options) == 1 else Alt(tuple(options))))
        ]
        if skipped:
            whole.append(self.keys(frozenset(skipped)))
        return whole[0] if len(whole) == 1 else Alt(tuple(whole))

    def _tree(self, members: dict[str, dict[Hashable, tuple[Goal, set[_State]]]]) -> Expr:
        entries: list[tuple[str, Expr]] = []
        book = self.lowering.book
        for name, rows in members.items():
            key = json.dumps(name, ensure_ascii=False)[1:-1]
            found = self._valued(list(rows.values()))
            after = Seq((Text('"'), self.lowering.style.colon, found))
            entries.append((key, book.share(f"{self.hint}-value", after)))
        return prefix_tree(entries, share=lambda branch: book.share(f"{self.hint}-key", branch))

    def _valued(self, rows: list[tuple[Goal, set[_State]]]) -> Expr:
        """Return the values of a key, each with all that follows it."""
        if len(rows) > 1:
            told_apart = self._told_apart(rows)
            if told_apart is not None:
                return told_apart
        found = [self._value(goal, frozenset(targets)) for goal, targets in rows]
        return found[0] if len(found) == 1 else Alt(tuple(found))

    def _value(self, goal: Goal, targets: frozenset[_State]) -> Expr:
        return Seq((self.lowering.value(goal), self.lowering.style.after, self.rest(targets)))

    def _told_apart(self, rows: list[tuple[Goal, set[_State]]]) -> Expr | None:
        """Return values as one prefix tree, with what each of them leads to; None if too many."""
        leads: dict[str, set[_State]] = {}
        for goal, targets in rows:
            texts = finite_texts(self.lowering.survey, {goal}, most=64)
            if texts is None:
                return None
            for text in texts:
                leads.setdefault(text, set()).update(targets)
        after = self.lowering.style.after
        return prefix_tree(
            [(text, Seq((after, self.rest(frozenset(to))))) for text, to in leads.items()]
        )

    def _other(self, names: Language, goal: Goal, targets: frozenset[_State]) -> Expr:
        """Return a key of a language, with its value and all that follows."""
        key = self.lowering.key(names, f"{self.hint}-name")
        return Seq((key, self._value(goal, targets)))


def _order(state: _State) -> tuple[int, int, int, list[int], list[int]]:
    number, (at, count, members, marks) = state
    return (number, at, count, sorted(members), sorted(marks))
