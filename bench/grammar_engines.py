"""What is compared: each engine as one thing that can be asked about a schema and texts."""

from __future__ import annotations

import json
import select
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goliath_local.errors import GoliathError, InvalidValue
from goliath_local.grammar import Matcher, compile_schema, read_gbnf

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bench.grammar_data import Trial

PEER_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an engine said about one schema."""

    said: Mapping[str, str] = field(default_factory=dict)
    """Text → `whole`, `open` for a beginning, or `refused`."""

    reason: str | None = None
    """Why it refused the schema; None when it did not."""

    compile_ms: float = 0
    feed_ms: float = 0
    gbnf_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One engine of the comparison."""

    name: str
    version: str
    ask: Callable[[Trial], Answer]
    close: Callable[[], None] = lambda: None


def ours() -> Engine:
    """Return this project's own compiler and matcher, with the checks after decoding."""
    return Engine(name="goliath-local", version=version("goliath-local"), ask=_ask_ours)


def converter() -> Engine:
    """Return the converter that comes with llama-cpp-python."""
    from llama_cpp.llama_grammar import json_schema_to_gbnf

    return Engine(
        name="llama-cpp-python",
        version=version("llama-cpp-python"),
        ask=lambda trial: _ask_gbnf(trial, lambda: json_schema_to_gbnf(json.dumps(trial.schema))),
    )


def llama_cpp_converter(program: Path) -> Engine:
    """Return llama.cpp's own converter, built from `llama_cpp_converter.cpp`."""
    process = _Process([str(program)])

    def convert(schema: Any) -> str:
        made = process.ask(schema)
        if made is None or "error" in made:
            raise ValueError(made["error"] if made else "it died, or took too long")
        return str(made["gbnf"])

    return Engine(
        name="llama.cpp",
        version="checkout",
        ask=lambda trial: _ask_gbnf(trial, lambda: convert(trial.schema)),
        close=process.stop,
    )


def peer(name: str, python: str) -> Engine | None:
    """Return an engine in another environment; None when it is not there."""
    process = _Process([python, str(Path(__file__).parent / "grammar_peers.py"), name])
    first = process.ask({"version": True})
    if first is None:
        return None
    return Engine(
        name=name,
        version=first["version"],
        ask=lambda trial: _ask_peer(trial, process),
        close=process.stop,
    )


def _ask_peer(trial: Trial, process: _Process) -> Answer:
    request = {"schema": trial.schema, "texts": trial.texts, "closed": trial.closed}
    answer = process.ask(request)
    if answer is None:
        return Answer(reason=f"it died, or took more than {PEER_TIMEOUT_S} s")
    if "refused" in answer:
        return Answer(reason=answer["refused"])
    said = dict(zip(trial.texts, answer["said"], strict=True))
    return Answer(said=said, compile_ms=answer["compile_ms"], feed_ms=answer["feed_ms"])


def _ask_ours(trial: Trial) -> Answer:
    started = time.perf_counter()
    try:
        grammar = compile_schema(trial.schema, closed=trial.closed)
        start = grammar.matcher()
    except GoliathError as error:
        return Answer(reason=str(error))
    compiled = time.perf_counter()
    said = {text: _fed(start, text) for text in trial.texts}
    fed = time.perf_counter()
    for text in [text for text, verdict in said.items() if verdict == "whole"]:
        try:
            grammar.check(json.loads(text))
        except InvalidValue:
            said[text] = "refused"
    return Answer(
        said=said,
        compile_ms=(compiled - started) * 1e3,
        feed_ms=(fed - compiled) * 1e3,
        gbnf_bytes=len(grammar.gbnf.encode()),
    )


def _ask_gbnf(trial: Trial, convert: Callable[[], str]) -> Answer:
    started = time.perf_counter()
    try:
        gbnf = convert()
        compiled = time.perf_counter()
        start = Matcher.start(read_gbnf(gbnf, max_bytes=1 << 24))
    except Exception as error:  # noqa: BLE001 - a converter may raise anything
        return Answer(reason=f"{type(error).__name__}: {error}"[:300])
    began = time.perf_counter()
    said = {text: _fed(start, text) for text in trial.texts}
    return Answer(
        said=said,
        compile_ms=(compiled - started) * 1e3,
        feed_ms=(time.perf_counter() - began) * 1e3,
        gbnf_bytes=len(gbnf.encode()),
    )


def _fed(start: Matcher, text: str) -> str:
    after = start.advance(text.encode())
    if after is None:
        return "refused"
    return "whole" if after.is_complete else "open"


class _Process:
    """A program that answers JSON lines, started anew when it died or took too long."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._child: subprocess.Popen[str] | None = None

    def ask(self, request: Any) -> dict[str, Any] | None:
        """Return the answer; None when there is none."""
        with suppress(OSError):
            child = self._child = self._child or self._start()
            assert child.stdin is not None
            child.stdin.write(json.dumps(request) + "\n")
            child.stdin.flush()
            if (line := self._line(child)).startswith("{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
        self.stop()
        return None

    def stop(self) -> None:
        """End the process, if it runs."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def _line(self, child: subprocess.Popen[str]) -> str:
        assert child.stdout is not None
        ready, _, _ = select.select([child.stdout], [], [], PEER_TIMEOUT_S)
        return child.stdout.readline() if ready else ""
