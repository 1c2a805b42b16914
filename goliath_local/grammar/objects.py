"""Objects as rules.

Pure but for the book. A state is what was read of the keys so far, for each kind of object that
still may be meant: so kinds that begin alike are one rule until they part. Keys come as a prefix
tree; a key that is not declared may come anywhere.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.grammar.kinds import ObjectKind, Seen
from goliath_local.grammar.rules import Alt, Expr, Ref, Seq, Text
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


class Objects:
    """Writes the objects of one goal."""

    def __init__(self, lowering: Lowers, hint: str) -> None:
        self.lowering, self.hint = lowering, hint
        self.kinds: list[ObjectKind] = []
        self._keys: dict[frozenset[_State], Expr] = {}
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
        whole = options[0] if len(options) == 1 else Alt(tuple(options))
        return Seq((self.lowering.style.object_open, whole))

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
