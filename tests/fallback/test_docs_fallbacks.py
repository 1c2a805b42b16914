from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tests.fallback.test_chat_fallback import DONE
from tests.loopback import Asked, loopback, reply

PAGE = Path(__file__).parents[2] / "docs" / "fallbacks.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


async def _answer(asked: Asked, out: asyncio.StreamWriter) -> None:
    await reply(out, {"text": "Done."} if asked.path == "/finish" else DONE)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
async def test_every_example_of_the_page_runs(block: str) -> None:
    async with loopback(_answer) as server:
        code = block.replace("http://localhost:8080", server.url)
        names: dict[str, Any] = {}
        await asyncio.to_thread(exec, compile(code, PAGE.name, "exec"), names)


def test_the_page_has_its_four_examples() -> None:
    assert len(BLOCKS) == 4
