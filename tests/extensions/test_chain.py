"""The chain itself: order, copies, decisions and observers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.errors import ConfigError, ExtensionError
from goliath_local.extensions import (
    Chain,
    Decided,
    Extension,
    OnFinish,
    Returned,
    Stop,
    check_extensions,
    copied,
    settle,
)
from goliath_local.records import Exchange, MemoryState, StepRecord


def chain(*extensions):
    return Chain(
        tuple(extensions), run_id="r", conversation_id=None, context=None, cancel=CancelToken()
    )


def hook(name, returned, seen=None):
    def before_run(data):
        if seen is not None:
            seen.append((name, data))
        return returned(data) if callable(returned) else returned

    return SimpleNamespace(name=name, before_run=before_run)


def show(_run, value):
    return value


async def test_the_value_goes_from_hook_to_hook():
    seen = []
    extensions = [hook("a", {"to": 1}, seen), hook("b", None, seen), hook("c", {"to": 2}, seen)]
    found = await chain(*extensions).fold(
        "before_run", 0, show=show, patch=lambda _value, patch: patch["to"]
    )
    assert found == 2
    assert seen == [("a", 0), ("b", 1), ("c", 1)]


async def test_without_changes_the_very_value_comes_back():
    value = {"a": [1]}
    found = await chain(hook("a", None)).fold("before_run", value, show=show, patch=show)
    assert found is value


async def test_a_decision_ends_the_chain_and_says_whose_it_is():
    seen = []
    stopping, later = hook("a", Stop("no", "why")), hook("b", None, seen)
    found = await chain(stopping, later).fold("before_run", 0, show=show, patch=show)
    assert found == Decided(extension="a", phase="before_run", decision=Stop("no", "why"))
    assert seen == []


async def test_a_stop_without_a_text_is_an_extension_error():
    with pytest.raises(ExtensionError, match="text"):
        await chain(hook("a", Stop(None))).fold("before_run", 0, show=show, patch=show)


async def test_awaitables_are_awaited_and_plain_values_are_not():
    async def later():
        return 3

    assert await settle(later()) == 3
    assert await settle(3) == 3


async def test_an_interrupt_from_the_keyboard_is_no_extension_error():
    def interrupt(_data):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await chain(hook("a", interrupt)).fold("before_run", 0, show=show, patch=show)


async def test_observers_see_the_failures_before_them():
    seen = []

    def fail(_data):
        raise ValueError("x")

    extensions = [
        Extension(name="a", on_finish=fail),
        Extension(name="b", on_finish=lambda data: seen.append(len(data.diagnostics))),
        Extension(name="c", on_finish=fail),
    ]
    outcome = Returned(status="completed", result=None)
    found = await chain(*extensions).on_finish(
        lambda run, known: OnFinish(run=run, outcome=outcome, diagnostics=known)
    )
    assert seen == [1]
    assert [diagnostic.extension for diagnostic in found] == ["a", "c"]


def test_copies_are_deep_for_data_and_ours_and_leave_opaque_objects():
    thing = object()
    step = StepRecord(index=0, kind="tool", brief="b", input={"a": [1]}, output={"b": {}})
    state = MemoryState(recent=(Exchange(ask="a", answer="b", at=0, steps=(step,)),))
    copy = copied({"state": state, "list": [[1]], "thing": thing, "pair": ([1],)})
    assert copy["state"] == state
    assert copy["state"].recent[0].steps[0].input["a"] is not step.input["a"]
    assert copy["state"].recent[0].steps[0].output["b"] is not step.output["b"]
    assert copy["thing"] is thing
    assert isinstance(copy["pair"], tuple)


@pytest.mark.parametrize("names", [["a", "a"], [""], [" "], [3]])
def test_names_are_needed_and_differ(names):
    with pytest.raises(ConfigError):
        check_extensions([SimpleNamespace(name=name) for name in names])


def test_an_object_without_a_name_is_refused():
    with pytest.raises(ConfigError, match="needs a name"):
        check_extensions([object()])
