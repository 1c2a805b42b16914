"""Readers of foreign bytes, on input that is damaged by a seed, and every old fault again.

A fault that is found goes into tests/corpus/TARGET/, where the plain tests replay it for ever.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.targets import TARGETS, Target
from tests.levers import first_seed, many

CORPUS = Path(__file__).parents[1] / "corpus"
SEED = first_seed(1)
PLAIN_TRIALS, SLOW_TRIALS = 40, many(2_000)
"""Counted and not timed: a faster machine plays no other inputs."""

MOST_S = 20.0
"""A hang, not a speed: one input takes milliseconds."""

_WORDS = (
    *(b"\x00", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\x1b[2J", b"NaN", b"1e999", b"-1", b"null"),
    *(b"[", b"]", b"{", b"}", b'"', b"\\", b"'", b"#", b"%", b"(" * 50, b"[" * 3000, b"9" * 5000),
    *(b"../", b"\r\n", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"{{", b"}}", b"{%", b"%}", b"true", b""),
)


_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 5, 1.5, 1e300, 10**30, "", "x", "\ud800", [], {}, [None], {"a": 1}),
    *([[]], [{}], "x" * 5000),
)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the input, damaged: as bytes, or where it is JSON also as a value."""
    if chance.random() < 0.6:
        with contextlib.suppress(ValueError):
            lines = [json.loads(line) for line in data.splitlines()]
            at = chance.randrange(len(lines))
            for _ in range(chance.randint(1, 3)):
                lines[at] = replaced(lines[at], chance)
            return b"\n".join(json.dumps(line).encode() for line in lines)
    return garbled(data, chance)


def replaced(value: Any, chance: random.Random) -> Any:
    """Return the value with something in it left out, or another value in its place."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.25:
        return chance.choice(_VALUES)
    if isinstance(value, list):
        at = chance.randrange(len(value))
        return [*value[:at], replaced(value[at], chance), *value[at + 1 :]]
    key = chance.choice(list(value))
    if chance.random() < 0.1:
        return {name: item for name, item in value.items() if name != key}
    return {**value, key: replaced(value[key], chance)}


def garbled(data: bytes, chance: random.Random) -> bytes:
    body = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(body) + 1)
        match chance.randrange(6):
            case 0 if body:
                body[at % len(body)] ^= 1 << chance.randrange(8)
            case 1:
                body[at:at] = chance.choice(_WORDS)
            case 2:
                del body[at : at + chance.randint(1, 30)]
            case 3:
                body[at:at] = body[: chance.randint(0, 60)]
            case 4:
                body[at : at + 8] = chance.randbytes(8)
            case _:
                body[at : at + len(body) // 3] = chance.choice(_WORDS)
    return bytes(body[:20_000])


def tried(target: Target, data: bytes) -> str:
    """Read; anything but a value or one of the target's own errors fails the test."""
    began = time.process_time()
    try:
        target.read(data)
        came = "read"
    except target.may_raise as error:
        came = "refused" if str(error).strip() else "refused without a word"
    assert time.process_time() - began < MOST_S
    assert came != "refused without a word"
    return came


def fuzz(name: str, *, trials: int, seed: int) -> None:
    target, chance = TARGETS[name], random.Random(f"{seed} {name}")
    for _ in range(trials):
        data = mutated(chance.choice(target.seeds), chance)
        try:
            tried(target, data)
        except BaseException as error:
            # The input, so that it can go into the corpus.
            error.add_note(f"fault in {name}: {data!r}")
            raise


@pytest.mark.parametrize("name", TARGETS)
def test_sound_input_is_read(name: str) -> None:
    assert all(
        tried(TARGETS[name], data) == "read" or name in {"path", "glob", "cursor", "compression"}
        for data in TARGETS[name].seeds
    )


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_is_read_or_refused(name: str) -> None:
    fuzz(name, trials=PLAIN_TRIALS, seed=SEED)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_much_damaged_input_is_read_or_refused(name: str) -> None:
    faulthandler.dump_traceback_later(120)
    try:
        fuzz(name, trials=SLOW_TRIALS, seed=SEED + 1)
    finally:
        faulthandler.cancel_dump_traceback_later()


FOUND = sorted(path for path in CORPUS.glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_fault_that_was_found_is_no_more(path: Path) -> None:
    tried(TARGETS[path.parent.name], path.read_bytes())


def test_every_folder_of_the_corpus_has_its_target() -> None:
    assert {path.parent.name for path in FOUND} <= set(TARGETS)
    assert FOUND
