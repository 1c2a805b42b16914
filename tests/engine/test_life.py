"""Processes with a model in them: exit, fork, spawn, threads that write meanwhile (F8, F9)."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.slowness import without_slowness

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.model, pytest.mark.slow]

START = """
import asyncio, multiprocessing, os, sys, threading, time
from pathlib import Path
from goliath_local.engine import EngineSettings, load_model
from goliath_local.errors import GoliathError, ModelUnavailable
from goliath_local.model import Part, Request, Stage

def ask(text="Say hello.", **more):
    more = {"max_tokens": 4, **more}
    return Request(stage=Stage.ANSWER, system=(), user=(Part(name="ask", text=text),), **more)

def reply(model, **more):
    return asyncio.run(model.generate(ask(**more))).text

def begin(model):
    loop, began = asyncio.get_running_loop(), asyncio.Event()
    story = ask("A story.", max_tokens=500,
                on_text=lambda _: loop.call_soon_threadsafe(began.set))
    return asyncio.create_task(model.generate(story)), began

def load(**settings):
    return load_model(Path(sys.argv[1]), settings=EngineSettings(deterministic=True, **settings))
"""


@pytest.fixture
def run(
    weights: Callable[[str], Path], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(code: str, *flags: str) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "script.py"
        script.write_text(START + textwrap.dedent(code))
        return subprocess.run(
            [sys.executable, *flags, str(script), str(weights("smollm2-135m"))],
            capture_output=True,
            text=True,
            timeout=600,  # a hang, not a speed
            check=False,
        )

    return run


ENDINGS = {
    "never closed": "model = load(); print(reply(model))",
    "closed twice": "model = load(); print(reply(model)); model.close(); model.close()",
    "dropped": "model = load(); print(reply(model)); del model",
    "never used": "print(load().threads)",
    "failed construction": """
        try:
            load_model(Path(__file__))
        except GoliathError as error:
            print(error)
    """,
    "out of range": """
        try:
            load(threads=10_000)
        except GoliathError as error:
            print(error)
    """,
    "cancelled, then closed": """
        model = load()
        async def main():
            task, began = begin(model)
            await began.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            model.close()
            print("closed")
        asyncio.run(main())
    """,
    "left while a reply is made": """
        model = load()
        async def main():
            task, began = begin(model)
            await began.wait()
            print("leaving")
        asyncio.run(main())
    """,
    "in a cycle": "model = load(); model.itself = model; print(reply(model)); del model",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_process_ends_quietly_however_the_model_is_left(
    ending: str, run: Callable[..., subprocess.CompletedProcess[str]]
):
    ended = run(ENDINGS[ending], "-X", "dev", "-W", "error")
    assert (ended.returncode, without_slowness(ended.stderr)) == (0, "")
    assert ended.stdout.strip()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_forked_child_is_told_to_spawn_and_the_parent_goes_on(
    threads: int, run: Callable[..., subprocess.CompletedProcess[str]]
):
    if threads > (os.cpu_count() or 1):
        threads = 1
    ended = run(f"""
        model = load(threads={threads})
        before = reply(model)
        child = os.fork()
        if child == 0:
            try:
                reply(model)
            except ModelUnavailable as error:
                assert "spawn" in str(error)
                try:
                    model.count_text("x")
                except ModelUnavailable:
                    model.close()
                    sys.exit(7)  # runs the exit hooks, too
            os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 7, status
        assert reply(model) == before
        print("fine")
    """)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "fine\n", "")


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_load_their_own_model(
    method: str, run: Callable[..., subprocess.CompletedProcess[str]]
):
    ended = run(f"""
        def work(queue):
            with load() as model:
                queue.put(reply(model))

        if __name__ == "__main__":
            context = multiprocessing.get_context("{method}")
            queue = context.Queue()
            child = context.Process(target=work, args=(queue,))
            child.start()
            print(queue.get(timeout=500))
            child.join(500)
            assert child.exitcode == 0
    """)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()


def test_lines_that_others_write_meanwhile_all_arrive(
    run: Callable[..., subprocess.CompletedProcess[str]],
):
    ended = run("""
        def write():
            for number in range(200):
                print(f"line {number}", file=sys.stderr)
                time.sleep(0.001)

        model = load()
        writer = threading.Thread(target=write)
        writer.start()
        reply(model, max_tokens=40)
        writer.join()
    """)
    assert ended.stderr.splitlines() == [f"line {number}" for number in range(200)]


def test_a_model_that_is_never_loaded_costs_no_llama_cpp(
    run: Callable[..., subprocess.CompletedProcess[str]],
):
    ended = run("print('llama_cpp' in sys.modules, 'numpy' in sys.modules)")
    assert ended.stdout.split()[0] == "False"
