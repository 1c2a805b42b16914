"""Looks through everything a schema can reach, before a rule is written.

Each goal is prepared once: its strings and numbers as automata, its arrays and objects as plans.
Then it is found out which goals have a value at all: a grammar has no way in without a way out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goliath_local.errors import SchemaError
from goliath_local.grammar.counts import Counts
from goliath_local.grammar.items import ArrayPlan, plan_array
from goliath_local.grammar.kinds import ObjectKind
from goliath_local.grammar.members import ObjectPlan, is_writable, plan_object
from goliath_local.grammar.strings import MOST_WEIGHT, weight
from goliath_local.schema import everything, goal_of_key, number_automaton
from goliath_local.schema.regular import (
    Automaton,
    Kind,
    Language,
    TooManyStates,
    determinise,
    is_run,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from goliath_local.schema import Deferred, Goal, NumberSet, Reader, Values

MAX_GOALS = 4000
"""Different subschemas, intersections included, that one grammar is made of."""

MAX_TEXT_STATES = 1200
MAX_STATES, MAX_STATES_BY_LETTER = 8_000, 100_000
"""States of all strings and keys of one grammar; each takes some ten characters of it."""


@dataclass(slots=True)
class Prepared:
    """What a goal comes down to."""

    goal: Goal
    values: Values
    is_everything: bool
    texts: list[Automaton | Language]
    """What strings may be; several where one automaton of all would be large."""

    numbers: Automaton | None
    arrays: list[ArrayPlan]
    objects: list[ObjectPlan]
    deferred: set[Deferred] = field(default_factory=set)
    is_fertile: bool = False
    """Whether some value fits."""


class Survey:
    """All that can be reached from the root of a schema."""

    def __init__(self, reader: Reader, *, closed: bool, max_string: int | None) -> None:
        self.reader = reader
        self.closed = closed
        self.max_string = max_string
        self._by_key: dict[Hashable, Prepared] = {}
        self._keys: dict[Goal, Hashable] = {}
        self._also: list[tuple[str, str]] = []
        self._everywhere: list[Hashable] = []
        self._look_through()
        for key in self._everywhere:
            self._by_key[key] = self.at(())
        self._find_fertile()
        if not self.at(reader.root).is_fertile:
            raise self._barren(reader.root)
        if closed:
            self._verify_places()

    def key(self, goal: Goal) -> Hashable:
        """Return what is equal for goals that say the same."""
        key = self._keys.get(goal)
        if key is None:
            document = self.reader.document
            key = frozenset(document.content(document.numbered(number)) for number in goal)
            self._keys[goal] = key
        return key

    def at(self, goal: Goal) -> Prepared:
        """Return what a goal comes down to."""
        return self._by_key[self.key(goal)]

    def is_fertile(self, goal: Goal) -> bool:
        """Return whether some value fits a goal."""
        return self.at(goal).is_fertile

    def is_exact(self, goal: Goal) -> bool:
        """Return whether no more is allowed by a goal than it says."""
        return not self.at(goal).deferred

    def deferred(self, more: Iterable[Deferred]) -> tuple[Deferred, ...]:
        """Return everything that is to be checked after decoding, by place.

        Args:
            more: what only the writing has shown.
        """
        found = {item for prepared in self._by_key.values() for item in prepared.deferred}
        found |= set(more)
        # A subschema that stands in several places was looked into in the first.
        for first, other in self._also:
            found |= {
                (other + pointer[len(first) :], keyword)
                for pointer, keyword in list(found)
                if pointer == first or pointer.startswith(f"{first}/")
            }
        return tuple(sorted(found))

    def _look_through(self) -> None:
        waiting = [self.reader.root]
        document = self.reader.document
        while waiting:
            goal = waiting.pop()
            key = self.key(goal)
            known = self._by_key.get(key)
            if known is not None:
                if len(goal) == len(known.goal) == 1 and goal != known.goal:
                    first = document.numbered(known.goal[0]).pointer
                    self._also.append((first, document.numbered(goal[0]).pointer))
                continue
            if len(self._by_key) >= MAX_GOALS:
                pointer = document.numbered(goal[0]).pointer
                reason = f"more than {MAX_GOALS:,} different subschemas: split the schema"
                raise SchemaError(pointer, "", reason)
            prepared = self._prepared(goal)
            self._verify_size(goal)
            self._by_key[key] = prepared
            if prepared.is_everything and goal:
                # All that allows everything is one rule.
                waiting.append(())
                self._everywhere.append(key)
                continue
            for array in prepared.arrays:
                waiting += array.goals
            for plan in prepared.objects:
                waiting += plan.goals

    def _verify_size(self, goal: Goal) -> None:
        """Raise when the grammar is going to be too large, before any of it is written."""
        most = MAX_STATES_BY_LETTER if self.reader.by_letter else MAX_STATES
        if self.reader.states > most:
            pointer = self.reader.document.numbered(goal[0]).pointer if goal else ""
            reason = (
                f"names and patterns up to here make {self.reader.states:,} states, more than "
                f"{most:,}: the grammar would be too large, split the schema"
            )
            raise SchemaError(pointer, "", reason)

    def _prepared(self, goal: Goal) -> Prepared:
        reader = self.reader
        values = reader.values(goal)
        found = Prepared(
            goal=goal,
            values=values,
            is_everything=not values.deferred and values == everything(reader.algebra),
            texts=[],
            numbers=None,
            arrays=[],
            objects=[],
            deferred=set(values.deferred),
        )
        found.texts = self._texts(found)
        found.numbers = self._numbers(found)
        for array in values.arrays:
            plan = plan_array(reader, array)
            if plan is not None:
                found.arrays.append(plan)
                found.deferred |= plan.deferred
        plans = [plan_object(reader, shape, closed=self.closed) for shape in values.objects]
        possible = [plan for plan in plans if plan is not None]
        natural = [plan for plan in possible if not plan.is_strained]
        found.objects = natural or possible
        for object_plan in found.objects:
            found.deferred |= object_plan.deferred
        return found

    def _texts(self, found: Prepared) -> list[Automaton | Language]:
        a, text = self.reader.algebra, found.values.text
        if self.max_string is not None:
            text = a.both([text, a.loop(a.char, 0, self.max_string)])
        parts = text.args if text.kind is Kind.EITHER else (text,)
        plain = [part for part in parts if weight(part) is not None]
        whole = a.either(plain)
        if len(plain) < len(parts) and (weight(whole) or 0) > MOST_WEIGHT:
            # A host name or an address: two texts that are better told apart as they come.
            others = [part for part in parts if part not in plain]
            pieces = [self._text(found, whole), self._text(found, a.either(others))]
        else:
            pieces = [self._text(found, text)]
        return [piece for piece in pieces if piece is not None]

    def _text(self, found: Prepared, text: Language) -> Automaton | Language | None:
        if text is self.reader.algebra.nothing:
            return None
        if is_run(text) or text.kind is Kind.EXCEPT:
            return text
        heavy = weight(text)
        if heavy is not None and heavy > MOST_WEIGHT:
            return text
        automaton = self.reader.automaton(text)
        if automaton is None or len(automaton.steps) > MAX_TEXT_STATES:
            return self._smaller(found, text)
        return None if automaton.is_empty else automaton

    def _smaller(self, found: Prepared, text: Language) -> Automaton | Language | None:
        """Return a wider language that is small enough, and report what it leaves out."""
        a = self.reader.algebra
        parts = text.args if text.kind is Kind.BOTH else (text,)
        lengths = [part for part in parts if is_run(part)]
        patterns = [part for part in parts if not is_run(part)]
        for kept, keywords in (
            (patterns, ("minLength", "maxLength")),
            (lengths, ("pattern", "format")),
        ):
            self._defer(found, keywords)
            wider = a.both(kept)
            if is_run(wider):
                return wider
            heavy = weight(wider)
            if heavy is not None:
                return wider
            try:
                automaton = determinise(a, wider, max_states=MAX_TEXT_STATES)
            except TooManyStates:
                continue
            return None if automaton.is_empty else automaton
        return a.anything

    def _numbers(self, found: Prepared) -> Automaton | None:
        sets = found.values.numbers
        if not sets:
            return None
        try:
            automaton = number_automaton(sets, by_letter=self.reader.by_letter)
        except TooManyStates:
            self._defer(found, ("multipleOf",))
            automaton = number_automaton(
                tuple(_without_steps(one) for one in sets), by_letter=self.reader.by_letter
            )
        return None if automaton.is_empty else automaton

    def _defer(self, found: Prepared, keywords: tuple[str, ...]) -> None:
        """Report keywords where they stand, as well as that can be told."""
        places = [self.reader.document.numbered(number) for number in found.goal]
        for keyword in keywords:
            at = [p for p in places if isinstance(p.schema, dict) and keyword in p.schema]
            found.deferred |= {(place.pointer, keyword) for place in at}
        if not found.deferred:
            found.deferred.add((places[0].pointer if places else "", keywords[-1]))

    def _find_fertile(self) -> None:
        changed = True
        while changed:
            changed = False
            for prepared in self._by_key.values():
                if not prepared.is_fertile and self._bears(prepared):
                    prepared.is_fertile = changed = True

    def _verify_places(self) -> None:
        """Raise where a key or an item may be left out, but nothing it could be fits its schema.

        By the letter that is a way to say that it has to be left out. Who writes a schema to
        decode under says so with `false`; a contradiction is a mistake.
        """
        for prepared in self._by_key.values():
            if not prepared.is_fertile and len(prepared.goal) == 1:
                place = self.reader.document.numbered(prepared.goal[0])
                if not (place.negated or self.reader.says_never(place)):
                    raise self._barren(prepared.goal)

    def _bears(self, prepared: Prepared) -> bool:
        values = prepared.values
        if values.null or values.booleans or prepared.numbers is not None:
            return True
        if prepared.texts:
            return True
        if any(self._array_bears(plan) for plan in prepared.arrays):
            return True
        return any(self._object_bears(plan) for plan in prepared.objects)

    def _array_bears(self, plan: ArrayPlan) -> bool:
        if not plan.bears(self.is_fertile):
            return False
        if plan.contains:
            counts = Counts(self, plan, plan.most_of(self.is_fertile))
            if counts.explore() and not counts.has_arrays:
                return False
        if plan.unique is None or plan.least < 2:
            return True
        kinds = finite_texts(self, {plan.goal(place) for place in range(plan.least)})
        return kinds is None or len(kinds) >= plan.least

    def _object_bears(self, plan: ObjectPlan) -> bool:
        if not all(self.is_fertile(m.goal) for m in plan.members if m.required):
            return False
        if not plan.counting:
            return True
        by_letter = self.reader.by_letter
        return ObjectKind(plan, self.is_fertile, by_letter=by_letter).has_objects

    def _barren(self, goal: Goal) -> SchemaError:
        """Return the error of the innermost place that has no value and has to have one."""
        seen: set[Hashable] = set()
        while self.key(goal) not in seen:
            seen.add(self.key(goal))
            prepared = self.at(goal)
            inner: list[Goal] = []
            for object_plan in prepared.objects:
                inner += [m.goal for m in object_plan.members if m.required]
            for array in prepared.arrays:
                inner += array.needed
            barren = [g for g in inner if not self.is_fertile(g)]
            if not barren:
                return self._impossible_key(prepared) or self.reader.blame(goal)
            goal = barren[0]
        pointer = self.reader.document.numbered(goal[0]).pointer
        return SchemaError(
            pointer, "required", "every value of this would have to hold another one"
        )

    def _impossible_key(self, prepared: Prepared) -> SchemaError | None:
        """Return the error of a required key that may not have a value; None if there is none."""
        if prepared.objects or not prepared.goal:
            return None
        pointer = self.reader.document.numbered(prepared.goal[0]).pointer
        for shape in prepared.values.objects:
            for name in shape.required:
                if not is_writable(name):
                    reason = f"{name!r} is required, but half a surrogate pair is no character"
                    return SchemaError(pointer, "required", reason)
                goal = goal_of_key(shape, name)
                if goal is None or self.reader.never[0] in goal:
                    reason = f"{name!r} is required, but no value is allowed for it"
                    return SchemaError(pointer, "required", reason)
        return None


def finite_texts(survey: Survey, goals: set[Goal], *, most: int = 12) -> list[str] | None:
    """Return the JSON texts of all that fits any of the goals; None when there are too many.

    Only of single values: a goal that an array or an object fits has too many.
    """
    found: dict[str, None] = {}
    for goal in goals:
        prepared = survey.at(goal)
        values = prepared.values
        points = [one.value for one in values.numbers]
        if prepared.arrays or prepared.objects or None in points:
            return None
        if values.null:
            found["null"] = None
        found |= dict.fromkeys("true" if value else "false" for value in sorted(values.booleans))
        found |= dict.fromkeys(f"{value:f}" for value in points if value is not None)
        for text in prepared.texts:
            texts = _listed(text, most)
            if texts is None or len(found) + len(texts) > most:
                return None
            found |= dict.fromkeys(json.dumps(one, ensure_ascii=False) for one in texts)
    return list(found)


def _listed(text: Automaton | Language, most: int) -> list[str] | None:
    """Return the texts of a small language; None when it is not small."""
    if not isinstance(text, Automaton):
        return None
    found: list[str] = []
    waiting = [(0, "")]
    while waiting:
        state, so_far = waiting.pop()
        if text.tails[state] is not None or len(found) > most or len(so_far) > 1000:
            return None
        if text.accepting[state]:
            found.append(so_far)
        for held, target in reversed(text.steps[state]):
            if sum(high - low + 1 for low, high in held) > most:
                return None
            for low, high in reversed(held):
                waiting += [(target, so_far + chr(code)) for code in range(high, low - 1, -1)]
        if len(waiting) > most * 4:
            return None
    return found


def _without_steps(one: NumberSet) -> NumberSet:
    return replace(one, multiples=frozenset(), not_multiples=frozenset())
