"""A run as it happens."""

from __future__ import annotations

import asyncio
import threading

import pytest
from pydantic import BaseModel

from goliath_local.agent import create_agent
from goliath_local.harness.fields import FieldReader
from goliath_local.model import Reply


class Count(BaseModel):
    pots: int
    note: str
    tags: list[str]


TEXT = '{"pots": 12, "note": "a \\"b\\", c}", "tags": ["x", "y"]}'


async def collected(stream):
    return [item async for item in stream]


async def test_a_stream_yields_every_event_and_the_pieces_of_the_answer(play, make, say):
    p = play([say.tool("look"), *say.done], tools=[make().tool])
    stream = p.agent.stream("Water the basil")
    items = await collected(stream)
    result = await stream.result()
    events = [item for item in items if item.type not in {"text", "field"}]
    assert [event.type for event in events] == [event.type for event in result.trace]
    pieces = [item.text for item in items if item.type == "text"]
    assert "".join(pieces) == result.text == "All done."
    assert len(pieces) > 1
    types = [item.type for item in items]
    assert types.index("answer") > types.index("text") > types.index("tool")


async def test_a_structured_answer_gives_its_fields_as_they_are_finished():
    from goliath_local.testing import fake_model

    agent = create_agent(model=fake_model([{"text": TEXT}]), output_schema=Count)
    items = await collected(agent.stream("How many?"))
    fields = [(item.name, item.value) for item in items if item.type == "field"]
    assert fields == [("pots", 12), ("note", 'a "b", c}'), ("tags", ["x", "y"])]
    types = [item.type for item in items]
    assert "text" in types[types.index("field") + 1 :]


async def test_after_a_rejected_answer_the_fields_begin_anew():
    from goliath_local.testing import fake_model

    good = {"pots": 1, "note": "n", "tags": []}
    agent = create_agent(
        model=fake_model([{"json": {"pots": 1}}, {"json": good}]), output_schema=Count
    )
    items = await collected(agent.stream("How many?"))
    marks = [
        item.type if item.type == "retry" else item.name
        for item in items
        if item.type in {"retry", "field"}
    ]
    assert marks == ["pots", "retry", "pots", "note", "tags"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_fields_do_not_depend_on_how_the_text_is_cut(size):
    reader = FieldReader()
    found = []
    for at in range(0, len(TEXT), size):
        found += reader.feed(TEXT[at : at + size])
    assert found == [("pots", 12), ("note", 'a "b", c}'), ("tags", ["x", "y"])]


def test_a_number_is_finished_only_by_what_follows():
    reader = FieldReader()
    assert reader.feed('{"n": 1') == []
    assert reader.feed("2") == []
    assert reader.feed(" }") == [("n", 12)]


@pytest.mark.parametrize("text", ["", "plain words", "[1, 2]", "{", "{}", '{"a"', "[" * 100_000])
def test_a_text_that_is_no_object_gives_no_fields(text):
    assert FieldReader().feed(text) == []


class Threaded:
    """A model that writes from a thread of its own, as a native one does."""

    async def generate(self, request):
        def work():
            for piece in ("Good ", "mor", "ning."):
                request.on_text(piece)

        thread = threading.Thread(target=work)
        thread.start()
        await asyncio.to_thread(thread.join)
        return Reply(text="Good morning.")


async def test_pieces_from_another_thread_come_before_the_answer():
    items = await collected(create_agent(model=Threaded()).stream("Hello"))
    types = [item.type for item in items]
    assert [item.text for item in items if item.type == "text"] == ["Good ", "mor", "ning."]
    assert types.index("answer") > len(types) - 1 - types[::-1].index("text")


async def test_the_result_can_be_awaited_without_iterating(play):
    result = await play([{"text": "Hello."}]).agent.stream("Hi").result()
    assert result.text == "Hello."


async def test_an_error_of_the_run_is_raised_by_the_iteration(play):
    def facts():
        raise LookupError("no clock")

    with pytest.raises(LookupError, match="no clock"):
        await collected(play([], facts=facts).agent.stream("Hi"))


async def test_leaving_early_cancels_the_run():
    finished = []

    class Slow:
        async def generate(self, request):
            request.on_text("Once ")
            await asyncio.sleep(60)

    class Watching:
        name = "watching"

        def on_finish(self, data):
            finished.append(data.outcome.status)

    agent = create_agent(model=Slow(), extensions=[Watching()])
    stream = agent.stream("A story")
    async for item in stream:
        if item.type == "text":
            break
    await stream.aclose()
    assert finished == ["aborted"]


async def test_handlers_are_still_called_while_streaming(play):
    seen = []
    p = play([{"text": "Hello."}], on_event=lambda event: seen.append(event.type))
    stream = p.agent.stream("Hi", on_event=lambda event: seen.append(event.type.upper()))
    items = await collected(stream)
    types = [item.type for item in items if item.type != "text"]
    assert seen == [name for kind in types for name in (kind, kind.upper())]
