"""Model files that are missing, cut, something else, or too large: a sentence and its code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goliath_local.catalogue import Machine, find_card
from goliath_local.cli import strangers
from goliath_local.cli.problems import ExitCode
from goliath_local.cli.settings import load_settings
from tests.catalogue.maker import METADATA, U32, entry, gguf

if TYPE_CHECKING:
    from pathlib import Path


def said_yes_to(path: Path) -> None:
    settings = load_settings({}, environ={})
    strangers._remember(strangers._guest(path), settings)


def refused(goliath, command: str, path: Path):
    words = ["hello"] if command == "run" else []
    ran = goliath(command, "-m", str(path), *words)
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert "llama" not in ran.err.lower()  # nothing native was reached
    return ran


@pytest.mark.parametrize("command", ["run", "chat"])
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"<html><body>Please log in</body></html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", None),
        (b"PK\x03\x04 a zip file", None),
        (gguf()[:200], None),
        (gguf()[:-1], None),
        (gguf(magic=b"GGML"), None),
    ],
    ids=["empty", "web page", "pointer", "zip", "cut in the header", "cut in the data", "magic"],
)
def test_a_file_that_is_no_sound_model_is_code_4(
    goliath, tmp_path, command, content, says
) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    ran = refused(goliath, command, path)
    assert ran.code == ExitCode.BAD_MODEL_FILE
    assert "model.gguf" in ran.err
    assert says is None or says in ran.err


def test_a_folder_and_a_missing_file_are_told_apart(goliath, tmp_path) -> None:
    (tmp_path / "folder.gguf").mkdir()
    ran = refused(goliath, "run", tmp_path / "folder.gguf")
    assert (ran.code, "folder" in ran.err) == (ExitCode.BAD_MODEL_FILE, True)
    ran = refused(goliath, "run", tmp_path / "none.gguf")
    assert (ran.code, "There is no file" in ran.err) == (ExitCode.NOT_READY, True)


def test_an_installed_model_of_the_wrong_size_is_refused_before_it_is_loaded(
    goliath, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("GOLIATH_MODELS_DIR", str(tmp_path))
    (tmp_path / find_card("qwen2.5-coder-0.5b").file).write_bytes(gguf())
    ran = goliath("run", "-m", "qwen2.5-coder-0.5b", "hello")
    assert ran.code == ExitCode.BAD_MODEL_FILE
    assert "491,400,064" in ran.err


@pytest.mark.parametrize("command", ["run", "chat"])
def test_a_model_that_does_not_fit_the_memory_is_not_loaded(
    goliath, tmp_path, monkeypatch, command
) -> None:
    path = tmp_path / "big.gguf"
    path.write_bytes(gguf())
    with path.open("r+b") as file:
        file.truncate(2 << 30)
    said_yes_to(path)
    machine = Machine(total_bytes=4 << 30, available_bytes=1 << 30, cores=2)
    monkeypatch.setattr("goliath_local.catalogue.read_machine", lambda: machine)
    monkeypatch.setattr("goliath_local.engine.load_model", lambda *_, **__: pytest.fail("loaded"))
    ran = goliath(command, "-m", str(path), *(["hello"] if command == "run" else []))
    assert ran.code == ExitCode.NOT_READY
    assert "big needs about 2.2 GiB, 1.0 GiB is free" in ran.err
    assert "or use -m qwen2.5-coder-0.5b" in ran.err


def test_a_window_above_the_trained_size_becomes_the_trained_size(tmp_path, home) -> None:
    from goliath_local.cli.ready import find_model

    short = entry("llama.context_length", U32, (2048).to_bytes(4, "little"))
    path = tmp_path / "short.gguf"
    path.write_bytes(gguf(metadata=(*METADATA[:3], short, *METADATA[4:])))
    said_yes_to(path)
    assert find_model(load_settings({"model": str(path)}, environ={})).window == 2048


def test_a_template_file_that_is_not_there_is_wrong_usage(goliath, tmp_path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf())
    said_yes_to(path)
    ran = goliath("run", "-m", str(path), "--chat-template", "nowhere.jinja", "hello")
    assert ran.code == ExitCode.USAGE
    assert "--chat-template nowhere.jinja" in ran.err
