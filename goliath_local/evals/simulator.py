"""Tools whose behaviour is data, over one small store.

Pure: no clock, disk, network or chance. The same calls in the same order give the same answers,
so that an eval judges the model and nothing else. What a behaviour means is in evals/README.md.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from goliath_local.evals.match import is_same, plain
from goliath_local.tools import Tool, define_tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goliath_local.tools import ToolContext

Args: TypeAlias = "dict[str, Any]"
Behaviour: TypeAlias = "Mapping[str, Any]"

_SHORTEST_WORD = 4
"""Letters from which on a word is compared by its beginning."""


class RefusedCall(Exception):
    """The simulated tool said no; the text is what the model reads."""


class Store:
    """The tools of one tool set over one state; make a new one for every attempt."""

    def __init__(self, toolset: Mapping[str, Any]) -> None:
        self.specs = {spec["name"]: spec for spec in toolset["tools"]}
        self.state: dict[str, Any] = copy.deepcopy(dict(toolset.get("state", {})))
        self._failures: dict[str, int] = {}

    def tools(self) -> list[Tool]:
        """Return the set's tools, ready for an agent."""
        return [self._tool(spec) for spec in self.specs.values()]

    def call(self, tool: str, args: Args) -> Any:
        """Return a copy of what the tool returns.

        Raises:
            RefusedCall: the tool refuses, for example an unknown id.
        """
        return copy.deepcopy(self._act(self.specs[tool]["behaviour"], tool, args))

    def _tool(self, spec: Mapping[str, Any]) -> Tool:
        name = spec["name"]

        def execute(args: Args, _context: ToolContext) -> Any:
            return self.call(name, args)

        return define_tool(
            name=name,
            description=spec["description"],
            parameters=spec["parameters"],
            execute=execute,
            writes=spec.get("writes", False),
            requires=tuple(spec.get("requires", ())),
            requires_confirmation=spec.get("requires_confirmation", False),
            output_mode=spec.get("output_mode"),
        )

    def _act(self, do: Behaviour, tool: str, args: Args) -> Any:
        if do["kind"] == "fail":
            return self._fail(do, tool, args)
        return _BEHAVIOURS[do["kind"]](self, do, args)

    def _fail(self, do: Behaviour, tool: str, args: Args) -> Any:
        failures = self._failures.get(tool, 0)
        is_due = all(is_same(args.get(name), value) for name, value in do.get("when", {}).items())
        if is_due and failures < do.get("times", failures + 1):
            self._failures[tool] = failures + 1
            raise RefusedCall(do["error"])
        return self._act(do["then"], tool, args)

    def at(self, path: str, args: Args) -> Any:
        """Return what lies at a dotted path; `{name}` in it stands for that argument."""
        here: Any = self.state
        for step in path.split("."):
            name = step.format_map(args)
            key = next((key for key in here if is_same(key, name)), None)
            if key is None:
                raise _nothing(name, here)
            here = here[key]
        return here

    def found(self, do: Behaviour, where: str, args: Args) -> list[Any]:
        """Return the records that the behaviour's `by` finds for the arguments."""
        fields = [do["by"]] if isinstance(do["by"], str) else do["by"]
        wanted, mode = args.get(do.get("arg", fields[0])), do.get("mode", "equals_ci")
        records = self.at(do[where], args)
        return [r for r in records if any(_meets(r.get(f), wanted, mode) for f in fields)]

    def one(self, do: Behaviour, where: str, args: Args) -> Any:
        """Return the first record found, or refuse."""
        found = self.found(do, where, args)
        if not found:
            raise self.missing(do, where, args)
        return found[0]

    def missing(self, do: Behaviour, where: str, args: Args) -> RefusedCall:
        """Return the refusal that lists what there is instead."""
        field = do["by"] if isinstance(do["by"], str) else do["by"][0]
        known = [record.get(field) for record in self.at(do[where], args)]
        return _nothing(args.get(do.get("arg", field)), known)


def _static(_store: Store, do: Behaviour, _args: Args) -> Any:
    return do["value"]


def _get(store: Store, do: Behaviour, args: Args) -> Any:
    return store.at(do["path"], args)


def _set(store: Store, do: Behaviour, args: Args) -> Any:
    *parents, last = do["path"].split(".")
    target = store.at(".".join(parents), args) if parents else store.state
    target[last.format_map(args)] = args[do["from_arg"]] if "from_arg" in do else do["value"]
    return {"done": True, **args}


def _list(store: Store, do: Behaviour, args: Args) -> Any:
    return [_shown(r, do) for r in _filtered(store.at(do["from"], args), do, args)]


def _lookup(store: Store, do: Behaviour, args: Args) -> Any:
    found = _filtered(store.found(do, "from", args), do, args)
    if not found and do.get("missing") == "error":
        raise store.missing(do, "from", args)
    if "returns" in do:
        return found[0][do["returns"]] if found else None
    return [_shown(record, do) for record in found]


def _append(store: Store, do: Behaviour, args: Args) -> Any:
    records = store.at(do["to"], args)
    record = {"id": _next_id(do["id"], records)} if "id" in do else {}
    record |= do.get("defaults", {}) | _given(do["fields"], args)
    records.append(record)
    return record


def _remove(store: Store, do: Behaviour, args: Args) -> Any:
    record = store.one(do, "from", args)
    store.at(do["from"], args).remove(record)
    return {"removed": record}


def _update(store: Store, do: Behaviour, args: Args) -> Any:
    record = store.one(do, "in", args)
    record |= _given(do.get("fields", []), args) | do.get("set", {})
    for field, value in _given(do.get("adds", []), args).items():
        record[field] = _sum(record.get(field), value)
    return record


_BEHAVIOURS = {
    "static": _static,
    "get": _get,
    "set": _set,
    "list": _list,
    "lookup": _lookup,
    "append": _append,
    "remove": _remove,
    "update": _update,
}


def _nothing(wanted: Any, known: Iterable[Any]) -> RefusedCall:
    names = ", ".join(dict.fromkeys(str(name) for name in known)) or "none"
    return RefusedCall(f"Nothing found for '{wanted}'. Known: {names}.")


def _meets(field: Any, wanted: Any, mode: str) -> bool:
    left, right = plain(field or ""), plain(wanted or "")
    if not left or not right:
        return False
    if mode == "equals_ci":
        return left == right
    if left in right or right in left:
        return True
    return mode == "words_ci" and any(
        _begins_alike(mine, theirs)
        for mine in re.findall(r"\w{4,}", left)
        for theirs in re.findall(r"\w{4,}", right)
    )


def _begins_alike(one: str, other: str) -> bool:
    """Say whether two words begin alike, so that "ferry" finds "ferries"."""
    size = max(_SHORTEST_WORD, min(len(one), len(other)) - 1)
    return one[:size] == other[:size]


def _given(names: Iterable[str], args: Args) -> dict[str, Any]:
    return {name: args[name] for name in names if args.get(name) not in (None, "")}


def _filtered(records: Iterable[Any], do: Behaviour, args: Args) -> list[Any]:
    wanted = _given(do.get("filter_by", []), args)
    return [r for r in records if all(is_same(r.get(k), v) for k, v in wanted.items())]


def _shown(record: Any, do: Behaviour) -> Any:
    if "fields" not in do:
        return record
    return {key: record[key] for key in do["fields"] if key in record}


def _sum(old: Any, new: Any) -> Any:
    """Add numbers up; put texts on a new line."""
    if old is None:
        return new
    return f"{old}\n{new}" if isinstance(old, str) else old + new


def _next_id(prefix: str, records: Iterable[Mapping[str, Any]]) -> str:
    numbers = [int(n) for r in records for n in re.findall(r"\d+$", str(r.get("id", "")))]
    return f"{prefix}{max(numbers, default=0) + 1}"
