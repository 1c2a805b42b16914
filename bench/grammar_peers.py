"""Other grammar engines, one a process: JSON lines in, JSON lines out.

Run by the Python that has them, so that they need not be installed beside goliath-local:
`PYTHON grammar_peers.py NAME`. A request asks for the version, or holds a schema and texts; then
the answer says for each text `whole`, `open` (a beginning) or `refused`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, TypeAlias

Feed: TypeAlias = Callable[[bytes], str]
Compile: TypeAlias = Callable[[Any, bool], Feed]
"""Schema, and whether objects are closed where they say nothing → what it says to a text."""


def llguidance() -> tuple[str, Compile]:
    """https://github.com/guidance-ai/llguidance, with its tokenizer of single bytes."""
    from llguidance import LLMatcher, LLTokenizer

    tokenizer = LLTokenizer("byte")

    def compile_(schema: Any, closed: bool) -> Feed:  # noqa: ARG001 - it has no such option
        grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema), None)
        first = LLMatcher(tokenizer, grammar)
        if first.is_error():
            raise ValueError(first.get_error())

        def feed(data: bytes) -> str:
            matcher = first.deep_copy()
            if matcher.try_consume_tokens(list(data)) < len(data) or matcher.is_error():
                return "refused"
            return "whole" if matcher.is_accepting() else "open"

        return feed

    return version("llguidance"), compile_


def xgrammar() -> tuple[str, Compile]:
    """https://github.com/mlc-ai/xgrammar, over a vocabulary of single bytes."""
    import xgrammar as xgr

    tokens = [bytes([byte]) for byte in range(256)] + [b"</s>"]
    info = xgr.TokenizerInfo(
        tokens, vocab_type=xgr.VocabType.RAW, vocab_size=257, stop_token_ids=[256]
    )
    compiler = xgr.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile_(schema: Any, closed: bool) -> Feed:
        grammar = compiler.compile_json_schema(json.dumps(schema), strict_mode=closed)

        def feed(data: bytes) -> str:
            matcher = xgr.GrammarMatcher(grammar, terminate_without_stop_token=True)
            if not all(matcher.accept_token(byte) for byte in data):
                return "refused"
            return "whole" if matcher.is_completed() else "open"

        return feed

    return version("xgrammar"), compile_


def outlines() -> tuple[str, Compile]:
    """https://github.com/dottxt-ai/outlines-core: the regular expression it makes of a schema."""
    import regex
    from outlines_core.json_schema import build_regex_from_schema

    def compile_(schema: Any, closed: bool) -> Feed:  # noqa: ARG001 - it has no such option
        pattern = regex.compile(build_regex_from_schema(json.dumps(schema)))

        def feed(data: bytes) -> str:
            found = pattern.fullmatch(data.decode(), partial=True)
            if found is None:
                return "refused"
            return "open" if found.partial else "whole"

        return feed

    return version("outlines_core"), compile_


PEERS = {"llguidance": llguidance, "xgrammar": xgrammar, "outlines-core": outlines}


def answer(compile_: Compile, request: dict[str, Any]) -> dict[str, Any]:
    """Return what the engine says to one request."""
    started = time.perf_counter()
    try:
        feed = compile_(request["schema"], request["closed"])
    except BaseException as error:  # noqa: BLE001 - engines end in all kinds of ways, panics too
        return {"refused": f"{type(error).__name__}: {error}"[:300]}
    compiled = time.perf_counter()
    said = [feed(text.encode()) for text in request["texts"]]
    return {
        "said": said,
        "compile_ms": (compiled - started) * 1e3,
        "feed_ms": (time.perf_counter() - compiled) * 1e3,
    }


def main() -> None:
    """Answer until there are no more requests."""
    name, compile_ = PEERS[sys.argv[1]]()
    for line in sys.stdin:
        request = json.loads(line)
        said = {"version": name} if "version" in request else answer(compile_, request)
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
