"""What is compared: each engine as one thing that can be asked about a schema and texts."""

from __future__ import annotations

import importlib.util
import json
import select
import subprocess
import time
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


def llama_cpp_converter(checkout: Path) -> Engine:
    """Return llama.cpp's own converter, from a checkout of it."""
    path = checkout / "examples" / "json_schema_to_grammar.py"
    spec = importlib.util.spec_from_file_location("json_schema_to_grammar", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def convert(schema: Any) -> str:
        made = module.SchemaConverter(
            prop_order={}, allow_fetch=False, dotall=False, raw_pattern=False
        )
        made.visit(made.resolve_refs(schema, ""), "")
        return str(made.format_grammar())

    def ask(trial: Trial) -> Answer:
        return _ask_gbnf(trial, lambda: convert(json.loads(json.dumps(trial.schema))))

    return Engine(name="llama.cpp", version="checkout", ask=ask)


def peer(name: str, python: str) -> Engine | None:
    """Return an engine in another environment; None when it is not there."""
    found = _Peer(name, python)
    if found.version is None:
        return None
    return Engine(name=name, version=found.version, ask=found.ask, close=found.stop)


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
        start = Matcher.start(read_gbnf(gbnf))
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


class _Peer:
    """A process with another engine, started anew when it died or took too long."""

    def __init__(self, name: str, python: str) -> None:
        script = Path(__file__).parent / "grammar_peers.py"
        self._command = [python, str(script), name]
        self._child: subprocess.Popen[str] | None = None
        first = self._start()
        self.version: str | None = first["version"] if first else None

    def ask(self, trial: Trial) -> Answer:
        request = {"schema": trial.schema, "texts": trial.texts, "closed": trial.closed}
        if self._child is None and self._start() is None:
            return Answer(reason="it does not start any more")
        assert self._child is not None
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(request) + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self._line()
        if answer is None:
            self.stop()
            return Answer(reason=f"it died, or took more than {PEER_TIMEOUT_S} s")
        if "refused" in answer:
            return Answer(reason=answer["refused"])
        said = dict(zip(trial.texts, answer["said"], strict=True))
        return Answer(said=said, compile_ms=answer["compile_ms"], feed_ms=answer["feed_ms"])

    def stop(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def _start(self) -> dict[str, Any] | None:
        try:
            self._child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        except OSError:
            return None
        return self._line()

    def _line(self) -> dict[str, Any] | None:
        assert self._child is not None
        assert self._child.stdout is not None
        ready, _, _ = select.select([self._child.stdout], [], [], PEER_TIMEOUT_S)
        line = self._child.stdout.readline() if ready else ""
        return json.loads(line) if line.startswith("{") else None
