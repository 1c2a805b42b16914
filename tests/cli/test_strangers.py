"""Model files that no card names: a yes first, then a child, then this process (B1)."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import random
import sys
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local import catalogue
from goliath_local.catalogue import find_card
from goliath_local.cli import load_probe, strangers
from goliath_local.cli.problems import ExitCode, NeededYes
from goliath_local.cli.settings import load_settings
from goliath_local.cli.terminal import Terminal
from scripts.hostile import files
from tests.catalogue.maker import gguf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOADED = int(os.environ.get("GOLIATH_TEST_EXAMPLES", "3"))
SEED = int(os.environ.get("GOLIATH_TEST_SEED", "1"))
DIES = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"]
LIVES = [sys.executable, "-c", "print('{\"tokens\": 1}')"]


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def person(answer: str, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setattr(sys, "stdin", Tty(answer))
    return Terminal(out=Tty(), err=Tty(), environ={"TERM": "dumb"})


@pytest.fixture
def stranger(home: Path, tmp_path: Path) -> Path:
    path = tmp_path / "strange.gguf"
    path.write_bytes(gguf())
    return path


@pytest.fixture
def settings(home: Path) -> Any:
    return load_settings({}, environ={})


@pytest.mark.parametrize("command", [("run", "hello"), ("chat",), ("bench",), ("tokens", "x")])
def test_without_a_yes_nothing_native_sees_the_file(
    goliath: Any, stranger: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_probe, "run_probe", lambda *_, **__: pytest.fail("a child started"))
    monkeypatch.setattr("goliath_local.engine.load_model", lambda *_, **__: pytest.fail("loaded"))
    if command[0] == "tokens":
        words = stranger.with_name("words.txt")
        words.write_text("x")
        command = ("tokens", str(words))
    ran = goliath(*command, "-m", str(stranger))
    assert ran.code == ExitCode.NEEDED_A_YES
    assert f"goliath-local models pull {stranger} --link, then -m strange" in ran.err


@pytest.mark.parametrize("answer", ["", "\n", "n\n", "maybe\n", "y es\n", "yy\n", "Y\x08n\n"])
def test_whatever_is_not_a_clear_yes_keeps_it_out(
    stranger: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    with pytest.raises(NeededYes):
        strangers.verify_let_in(stranger, settings, person(answer, monkeypatch))
    assert not settings.places.let_in.exists()


def test_a_yes_holds_until_the_file_changes(
    stranger: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    strangers.verify_let_in(stranger, settings, person("yes\n", monkeypatch))
    strangers.verify_let_in(stranger, settings, person("", monkeypatch))
    assert settings.places.let_in.stat().st_mode & 0o777 == 0o600
    stranger.write_bytes(gguf() + b"more")
    with pytest.raises(NeededYes):
        strangers.verify_let_in(stranger, settings, person("", monkeypatch))


def test_a_file_with_the_hash_of_a_card_is_no_stranger_and_is_not_tried(
    stranger: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = stranger.read_bytes()
    card = dataclasses.replace(
        find_card("smollm2-135m"),
        size_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
    )
    monkeypatch.setattr(catalogue, "cards", lambda: (card,))
    strangers.verify_let_in(stranger, settings, person("", monkeypatch))
    monkeypatch.setattr(load_probe, "run_probe", lambda *_, **__: pytest.fail("a child started"))
    strangers.try_first(stranger, settings)


def test_one_other_byte_than_the_cards_makes_a_stranger(
    stranger: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytearray(stranger.read_bytes())
    card = dataclasses.replace(
        find_card("smollm2-135m"), size_bytes=len(data), sha256=hashlib.sha256(data).hexdigest()
    )
    monkeypatch.setattr(catalogue, "cards", lambda: (card,))
    data[-1] ^= 1
    stranger.write_bytes(data)
    with pytest.raises(NeededYes):
        strangers.verify_let_in(stranger, settings, person("", monkeypatch))


def test_pulling_a_file_is_a_yes_to_it(goliath: Any, stranger: Path, settings: Any) -> None:
    assert goliath("models", "pull", str(stranger), "--link").code == 0
    installed = settings.models_folder / stranger.name
    strangers.verify_let_in(installed, settings, Terminal(out=io.StringIO(), err=io.StringIO()))


def test_a_file_that_ends_the_child_does_not_end_this_process(
    goliath: Any, stranger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_probe, "model_command", lambda _: DIES)
    monkeypatch.setattr("goliath_local.engine.load_model", lambda *_, **__: pytest.fail("loaded"))
    goliath("models", "pull", str(stranger), "--link")
    ran = goliath("run", "-m", "strange", "hello")
    assert ran.code == ExitCode.BAD_MODEL_FILE
    assert "tried in a process of its own" in ran.err
    assert "SIGSEGV" in ran.err


def test_a_file_is_tried_once(
    stranger: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    strangers.verify_let_in(stranger, settings, person("y\n", monkeypatch))
    monkeypatch.setattr(load_probe, "model_command", lambda _: LIVES)
    strangers.try_first(stranger, settings)
    monkeypatch.setattr(load_probe, "model_command", lambda _: DIES)
    strangers.try_first(stranger, settings)


@pytest.mark.parametrize("text", ["", "{", "null", "5", "[[]]", '[{"path": 5}]', "[" * 9999])
def test_a_list_that_cannot_be_read_lets_nobody_in(
    stranger: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    settings.places.data.mkdir(parents=True)
    settings.places.let_in.write_text(text)
    with pytest.raises(NeededYes):
        strangers.verify_let_in(stranger, settings, person("", monkeypatch))
    strangers.verify_let_in(stranger, settings, person("y\n", monkeypatch))
    assert len(json.loads(settings.places.let_in.read_text())) == 1


@pytest.mark.slow
def test_a_made_up_file_is_refused_by_a_true_child(goliath: Any, stranger: Path) -> None:
    goliath("models", "pull", str(stranger), "--link")
    ran = goliath("run", "-m", "strange", "hello")
    assert ran.code == ExitCode.BAD_MODEL_FILE
    assert "tried in a process of its own" in ran.err


@pytest.mark.model
@pytest.mark.slow
def test_damaged_models_that_pass_our_reader_end_a_child_at_most(
    weights: Callable[[str], Path],
) -> None:
    said, faults = files(weights("smollm2-135m"), LOADED, random.Random(SEED))
    assert faults == []
    assert sum(said.values()) - said["refused by our reader"] == LOADED
