"""File tools inside a turn, on a scripted model."""

from __future__ import annotations

from typing import Any

import pytest

from goliath_local import create_agent
from goliath_local.filesystem import create_filesystem, in_memory_filesystem
from goliath_local.testing import fake_model


def plan(tool: str) -> dict[str, Any]:
    return {"json": {"why": "w", "kind": "tool", "tool": tool, "brief": "b"}}


def call(tool: str, **given: Any) -> list[dict[str, Any]]:
    return [plan(tool), {"json": given}]


END = [{"json": {"why": "w", "kind": "answer", "brief": "b"}}, {"text": "Done."}]
CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("write_file", {"path": "/new.md", "content": "x"}),
    ("edit_file", {"path": "/a.md", "revision": "r1", "old_text": "one", "new_text": "two"}),
    ("delete_file", {"path": "/a.md", "revision": "r1"}),
]


def agent_on(script: list[Any], **options: Any) -> tuple[Any, Any]:
    backend = in_memory_filesystem({"/a.md": "one\ntwo\nthree\n"})
    files = create_filesystem(backend=options.pop("backend", backend), read_only=False)
    model = fake_model(script)
    return create_agent(model=model, tools=files.tools, **options), backend


async def _paths(backend: Any) -> list[tuple[str, str]]:
    return [(info.path, info.revision) for info in (await backend.list("/")).files]


@pytest.mark.parametrize(("tool", "given"), CHANGES)
async def test_without_a_handler_a_change_is_declined(tool: str, given: dict[str, Any]) -> None:
    agent, backend = agent_on([*call(tool, **given), *END])
    before = await _paths(backend)
    result = await agent.run("change it")
    [step] = [step for step in result.steps if step.kind == "tool"]
    assert (step.skipped, step.skip_reason) == (True, "confirmation")
    assert await _paths(backend) == before


@pytest.mark.parametrize(("tool", "given"), CHANGES)
async def test_a_handler_of_the_run_allows_the_change_it_was_shown(
    tool: str, given: dict[str, Any]
) -> None:
    agent, backend = agent_on([*call(tool, **given), *END])
    shown: list[Any] = []

    def confirm(request: Any) -> bool:
        shown.append((request.tool, request.input))
        return True

    before = await _paths(backend)
    result = await agent.run("change it", confirm=confirm)
    assert shown == [(tool, given)]
    assert result.steps[0].status == "completed"
    assert await _paths(backend) != before


async def test_a_repeated_read_is_served_with_the_excerpt_itself() -> None:
    read = call("read_file", path="/a.md")
    agent, _ = agent_on([*read, *read, *END])
    result = await agent.run("read it twice")
    first, second = (step for step in result.steps if step.kind == "tool")
    assert (first.cached, second.cached) == (False, True)
    assert first.result == second.result
    assert "one\ntwo\nthree" in first.result


async def test_a_change_makes_an_earlier_read_stale() -> None:
    read = call("read_file", path="/a.md")
    edit = call("edit_file", **CHANGES[1][1])
    agent, _ = agent_on([*read, *edit, *read, *END], confirm=lambda _: True)
    result = await agent.run("read, change, read")
    last = result.steps[2]
    assert not last.cached
    assert "two\ntwo\nthree" in last.result


@pytest.mark.parametrize(
    ("tool", "given", "words"),
    [
        ("read_file", {"path": "a.md"}, "a path starts with /"),
        ("read_file", {"path": "/none.md"}, "Use glob"),
        ("read_file", {"path": "/a.md", "cursor": "x" * 5000}, "Start again without a cursor"),
        ("glob", {"pattern": "*.md"}, "for example /**/*.md"),
        ("edit_file", CHANGES[1][1] | {"revision": "r9"}, "Read it again"),
    ],
)
async def test_a_tool_error_is_a_failed_step_that_tells_the_model_what_to_do(
    tool: str, given: dict[str, Any], words: str
) -> None:
    agent, _ = agent_on([*call(tool, **given), *END], confirm=lambda _: True)
    result = await agent.run("try it")
    assert result.steps[0].failed
    assert words in result.steps[0].result
    assert result.text == "Done."


async def test_a_back_end_may_be_chosen_by_conversation() -> None:
    places = {name: in_memory_filesystem({"/a.md": name}) for name in ("x", "y")}
    chosen: list[Any] = []

    def backend(context: Any) -> Any:
        chosen.append((context.conversation_id, context.context))
        return places[context.conversation_id]

    read = [*call("read_file", path="/a.md"), *END]
    agent, _ = agent_on([*read, *read], backend=backend)
    for name in ("x", "y"):
        result = await agent.run("read", conversation_id=name, context={"user": name})
        assert f'"content":"{name}"' in str(result.steps[0].output).replace("'", '"').replace(
            " ", ""
        )
    assert chosen == [("x", {"user": "x"}), ("y", {"user": "y"})]


@pytest.mark.parametrize("window", [1024, 4096, 16384])
async def test_a_page_fits_the_result_budget_of_the_window(window: int) -> None:
    backend = in_memory_filesystem({"/long.md": "word " * 5000})
    files = create_filesystem(backend=backend)
    agent = create_agent(
        model=fake_model([*call("read_file", path="/long.md"), *END]),
        tools=files.tools,
        window=window,
    )
    result = await agent.run("read it")
    assert result.steps[0].result.count("\n") == 1
    assert "word word" in result.steps[0].result
    assert '"nextCursor":"' in result.steps[0].result
