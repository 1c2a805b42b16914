"""Objects as rules.

Pure but for the book. A state is what was read of the keys so far, for each kind of object that
still may be meant: so kinds that begin alike are one rule until they part. Keys come as a prefix
tree; a key that is not declared may come anywhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.grammar.kinds import ObjectKind, Seen
from goliath_local.grammar.rules import Expr, Ref, Text
from goliath_local.grammar.simplify import alt, seq
from goliath_local.grammar.survey import finite_texts
from goliath_local.grammar.trees import prefix_tree

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from goliath_local.grammar.kinds import Label
    from goliath_local.grammar.lowers import Lowers
    from goliath_local.grammar.members import ObjectPlan
    from goliath_local.schema import Goal
    from goliath_local.schema.regular import Language

_MOST_SETS = 400
"""States of all kinds of one object together; beyond that the kinds are kept apart."""

_State: TypeAlias = tuple[int, Seen]
"""A kind of object, and what was seen of it."""


@dataclass(slots=True)
class _Steps:
    """What may come next."""

    members: dict[str, dict[Hashable, tuple[Goal, set[_State]]]] = field(default_factory=dict)
    others: dict[tuple[Language, Hashable], tuple[Goal, set[_State]]] = field(default_factory=dict)
    skipped: set[_State] = field(default_factory=set)

    def looping(self, states: frozenset[_State]) -> _Looping:
        """Return the keys after which the states are the same again."""
        found = _Looping({}, {})
        for name, rows in self.members.items():
            if len(rows) == 1:
                goal, targets = next(iter(rows.values()))
                if targets == states:
                    found.members[name] = goal
        for key, (goal, targets) in self.others.items():
            if targets == states:
                found.others[key] = goal
        return found


@dataclass(frozen=True, slots=True)
class _Looping:
    """Keys with the goals of their values."""

    members: dict[str, Goal]
    others: dict[tuple[Language, Hashable], Goal]


class Objects:
    """Writes the objects of one goal."""

    def __init__(self, lowering: Lowers, hint: str) -> None:
        self.lowering, self.hint = lowering, hint
        self.kinds: list[ObjectKind] = []
        self._keys: dict[frozenset[_State], Expr] = {}
        self._fields: dict[Hashable, Expr] = {}
        self._rests: dict[frozenset[_State], Expr] = {}
        self._waiting: list[tuple[str, frozenset[_State]]] = []

    def expr(self, plans: Sequence[ObjectPlan]) -> Expr | None:
        """Return the objects of all plans; None when none of them has an object."""
        self.kinds = [kind for plan in plans if (kind := self._kind(plan)).has_objects]
        for kind in self.kinds:
            self.lowering.deferred |= kind.deferred
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
        return seq(self.lowering.style.object_open, alt(options))

    def _kind(self, plan: ObjectPlan) -> ObjectKind:
        is_fertile = self.lowering.survey.is_fertile
        return ObjectKind(plan, is_fertile, by_letter=self.lowering.by_letter)

    def _steps(self, state: _State) -> list[tuple[Label, Seen]]:
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
        more = seq(self.lowering.style.comma, self.keys(states))
        return alt([more, Text("}")]) if self._is_end(states) else more

    def keys(self, states: frozenset[_State]) -> Expr:
        """Return the keys that may come next, each with all that follows it."""
        found = self._keys.get(states)
        if found is None:
            if len(self._keys) > _MOST_SETS and len(states) > 1:
                apart = [self.keys(frozenset([state])) for state in sorted(states, key=repr)]
                found = alt(apart)
            else:
                found = self._next(states)
            found = self.lowering.book.share(f"{self.hint}-key", found)
            self._keys[states] = found
        return found

    def _next(self, states: frozenset[_State]) -> Expr:
        steps = self._sorted(states)
        options: list[Expr] = []
        looping = steps.looping(states)
        if looping.members or looping.others:
            # Keys after which all is as it was are one rule, for all states that have them.
            options.append(seq(self._field(looping), self.rest(states)))
        members = {
            name: rows for name, rows in steps.members.items() if name not in looping.members
        }
        if members:
            options.append(
                self._tree({n: self._valued([*r.values()]) for n, r in members.items()})
            )
        options += [
            self._other(names, self._value(goal, frozenset(targets)))
            for (names, key), (goal, targets) in steps.others.items()
            if (names, key) not in looping.others
        ]
        whole: list[Expr] = [seq(Text('"'), alt(options))] if options else []
        if steps.skipped:
            whole.append(self.keys(frozenset(steps.skipped)))
        return alt(whole)

    def _sorted(self, states: frozenset[_State]) -> _Steps:
        """Return the keys that may come next, by name, and what each leads to."""
        found = _Steps()
        survey = self.lowering.survey
        for state in sorted(states, key=_order) if len(states) > 1 else states:
            number, _ = state
            kind = self.kinds[number]
            for label, seen in self._steps(state):
                to = (number, seen)
                if label[0] == "skip":
                    found.skipped.add(to)
                    continue
                goal = kind.goal(label)
                key = survey.key(goal)
                if label[0] == "member":
                    rows = found.members.setdefault(kind.plan.members[label[1]].name, {})
                    rows.setdefault(key, (goal, set()))[1].add(to)
                else:
                    names = kind.plan.regions[label[1]].names
                    found.others.setdefault((names, key), (goal, set()))[1].add(to)
        return found

    def _field(self, looping: _Looping) -> Expr:
        """Return any of the keys with its value, and nothing behind it."""
        key = (tuple(looping.members.items()), tuple(looping.others))
        found = self._fields.get(key)
        if found is None:
            after, value = self.lowering.style.after, self.lowering.value
            options = [
                self._other(names, seq(value(goal), after))
                for (names, _), goal in looping.others.items()
            ]
            if looping.members:
                tree = {n: seq(value(goal), after) for n, goal in looping.members.items()}
                options.insert(0, self._tree(tree))
            found = self.lowering.book.share(f"{self.hint}-field", alt(options))
            self._fields[key] = found
        return found

    def _tree(self, members: dict[str, Expr]) -> Expr:
        """Return keys, each with its value and what follows, told apart as they come."""
        book, colon = self.lowering.book, self.lowering.style.colon
        entries = [
            (
                json.dumps(name, ensure_ascii=False)[1:-1],
                book.share(f"{self.hint}-value", seq(Text('"'), colon, found)),
            )
            for name, found in members.items()
        ]
        return prefix_tree(entries, share=lambda branch: book.share(f"{self.hint}-key", branch))

    def _valued(self, rows: list[tuple[Goal, set[_State]]]) -> Expr:
        """Return the values of a key, each with all that follows it."""
        if len(rows) > 1:
            told_apart = self._told_apart(rows)
            if told_apart is not None:
                return told_apart
        return alt([self._value(goal, frozenset(targets)) for goal, targets in rows])

    def _value(self, goal: Goal, targets: frozenset[_State]) -> Expr:
        return seq(self.lowering.value(goal), self.lowering.style.after, self.rest(targets))

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
            [(text, seq(after, self.rest(frozenset(to)))) for text, to in leads.items()]
        )

    def _other(self, names: Language, value: Expr) -> Expr:
        """Return a key of a language, with its value and all that follows."""
        return seq(self.lowering.key(names, f"{self.hint}-name"), value)


def _order(state: _State) -> tuple[int, int, int, list[int], list[int]]:
    number, (at, count, members, marks) = state
    return (number, at, count, sorted(members), sorted(marks))
