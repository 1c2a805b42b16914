"""`goliath-local models`: what it prints, where, and with which exit code."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.catalogue import Fetched, Moved, Restarted, Trying, find_card
from goliath_local.catalogue.record import remember
from goliath_local.cli.pulling import Progress
from goliath_local.cli.terminal import Terminal
from tests.catalogue import server
from tests.catalogue.maker import gguf, large_gguf
from tests.catalogue.server import Place, Reply, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CONTENT = large_gguf(300_000)
DIGEST = hashlib.sha256(CONTENT).hexdigest()
CARD = find_card("smollm2-135m")


@pytest.fixture
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "models"
    place.mkdir()
    monkeypatch.setenv("GOLIATH_MODELS_DIR", str(place))
    return place


@pytest.fixture
def web(home: Path) -> Iterator[Callable[..., Place]]:
    with ExitStack() as stack:
        yield lambda *replies: stack.enter_context(serving(CONTENT, *replies))


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    from goliath_local.catalogue import fetch as door

    assert door.__kwdefaults__ is not None
    monkeypatch.setitem(door.__kwdefaults__, "pause", lambda _: None)


def install(folder: Path, name: str = "own") -> Path:
    path = folder / f"{name}.gguf"
    path.write_bytes(gguf())
    digest = hashlib.sha256(gguf()).hexdigest()
    remember(
        folder, file=path.name, name=name, size_bytes=len(gguf()), sha256=digest, source="here"
    )
    return path


def pretend(folder: Path, name: str) -> Path:
    """Put a file of the card's size in place, and a record that it was verified."""
    card = find_card(name)
    path = folder / card.file
    with path.open("wb") as file:
        file.truncate(card.size_bytes)
    remember(
        folder,
        file=card.file,
        name=name,
        size_bytes=card.size_bytes,
        sha256=card.sha256,
        source="here",
    )
    return path


def test_list_shows_each_model_its_size_and_its_state(goliath, folder: Path) -> None:
    small = find_card("qwen2.5-coder-0.5b")
    pretend(folder, "qwen2.5-coder-1.5b")
    with (folder / f"{small.file}.part").open("wb") as part:
        part.truncate(small.size_bytes * 415 // 1000)
    shown = goliath("models", "list")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines() == [
        "granite-4.0-micro    3.4B    2.10 GB  available",
        "smollm3-3b           3.1B    1.92 GB  available",
        "qwen2.5-coder-1.5b   1.5B    1.12 GB  installed  default",
        "qwen2.5-coder-0.5b   0.5B  491.40 MB  partial 41 %",
    ]
    assert "smollm2-135m" in goliath("models", "list", "--all").out


def test_list_shows_a_damaged_file_and_a_model_of_ones_own(goliath, folder: Path) -> None:
    install(folder)
    (folder / CARD.file).write_bytes(b"cut")
    shown = goliath("models", "list").out
    assert "damaged (wrong size)" in shown
    assert "own" in shown


def test_list_as_json_is_one_document(goliath, folder: Path) -> None:
    install(folder)
    document = goliath("models", "list", "--json").json
    assert document["modelsDir"] == str(folder)
    assert document["default"] is None
    own = next(model for model in document["models"] if model["name"] == "own")
    assert own["state"] == "installed"
    assert own["sha256"] == hashlib.sha256(gguf()).hexdigest()


def test_pull_prints_the_path_on_stdout_and_progress_on_stderr(goliath, folder, web) -> None:
    ran = goliath("models", "pull", f"{web().url}/own.gguf", "--sha256", DIGEST)
    assert ran.code == 0
    assert ran.out == f"{folder / 'own.gguf'}\n"
    assert "own: from 127.0.0.1" in ran.err
    assert "own 100 %" in ran.err
    assert "\x1b" not in ran.out + ran.err
    again = goliath("models", "pull", f"{web().url}/own.gguf", "--sha256", DIGEST, "--json")
    assert again.json["models"][0]["already"] is True


def test_quiet_pull_prints_the_path_alone(goliath, folder, web) -> None:
    ran = goliath("-q", "models", "pull", f"{web().url}/own.gguf", "--sha256", DIGEST)
    assert (ran.out, ran.err) == (f"{folder / 'own.gguf'}\n", "")


def test_a_broken_pull_ends_with_5_and_the_same_command_goes_on(goliath, folder, web) -> None:
    place = web(server.cut_at(120_000))
    command = ("models", "pull", f"{place.url}/own.gguf", "--sha256", DIGEST)
    first = goliath(*command)
    assert first.code == 5
    assert first.last_error_line == (
        "The connection broke at 120.00 of 333.43 kB. The part is kept; run the same command to "
        "go on."
    )
    assert "partial 35 %" in goliath("models", "list").out
    place.replies[:] = [server.honest]
    assert goliath(*command).code == 0
    assert place.ranges()[-1] == "bytes=120000-"


def test_a_flipped_byte_ends_with_4_and_both_digests(goliath, folder, web) -> None:
    place = web(server.flipped(1000))
    ran = goliath("models", "pull", f"{place.url}/own.gguf", "--sha256", DIGEST)
    assert ran.code == 4
    assert DIGEST in ran.last_error_line
    assert "It was not installed. Often a proxy or a full disk." in ran.last_error_line
    assert not (folder / "own.gguf").exists()


@pytest.mark.parametrize(
    ("reply", "code", "words"),
    [
        (server.page, 4, 'own.gguf starts with "<html": a web page, not a model'),
        (server.empty, 4, "empty file"),
        (server.status(404), 5, "127.0.0.1 answered 404"),
        (server.status(500), 5, "it answered 500"),
    ],
)
def test_what_else_may_come_has_its_code_and_words(
    goliath, folder, web, reply: Reply, code: int, words: str
) -> None:
    ran = goliath("models", "pull", f"{web(reply).url}/own.gguf", "--sha256", DIGEST)
    assert ran.code == code
    assert words in ran.err
    assert "Traceback" not in ran.err


def test_a_gated_model_ends_with_5_and_three_lines_without_the_token(
    goliath, folder, web, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = web(server.status(403, X_Error_Code="GatedRepo"))
    monkeypatch.setenv("HF_ENDPOINT", place.url)
    monkeypatch.setenv("HF_TOKEN", "hf_secret123")
    ran = goliath("-vv", "models", "pull", "granite-4.0-micro")
    assert ran.code == 5
    assert ran.err.splitlines()[-3:] == [
        "127.0.0.1 does not give ibm-granite/granite-4.0-micro-GGUF to everyone (403, GatedRepo).",
        f"Sign in and accept its terms at {place.url}/ibm-granite/granite-4.0-micro-GGUF",
        "Then check that the token in HF_TOKEN may read it, and run it again.",
    ]
    assert "hf_secret123" not in ran.err + ran.out


def test_pull_of_an_unknown_name_ends_with_3_and_the_nearest(goliath, folder) -> None:
    ran = goliath("models", "pull", "granite-4.0-mirco")
    assert ran.code == 3
    assert ran.last_error_line == (
        'No model "granite-4.0-mirco". Did you mean "granite-4.0-micro"? '
        "See: goliath-local models list"
    )


def test_pull_default_takes_what_is_installed_says_why_and_remembers_it(goliath, folder) -> None:
    pretend(folder, "qwen2.5-coder-0.5b")
    first = goliath("models", "pull", "default")
    assert first.code == 0
    assert "default is qwen2.5-coder-0.5b, which is installed here." in first.err
    pretend(folder, "qwen2.5-coder-1.5b")
    assert "qwen2.5-coder-0.5b, as chosen before." in goliath("models", "pull").err


def test_pull_default_offline_without_a_model_ends_with_3(goliath, folder) -> None:
    ran = goliath("--offline", "models", "pull")
    assert ran.code == 3
    assert ran.err == (
        "No model is installed. Get the default (2.1 GB): goliath-local models pull default\n"
        f"Looked in: {folder}\n"
    )


@pytest.mark.parametrize("offline", ["1", ""])
def test_a_run_without_a_model_says_where_it_looked_and_how_to_get_one(
    goliath, folder, monkeypatch, offline
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", offline)
    ran = goliath("run", "hi")
    assert ran.code == 3
    assert "goliath-local models pull default" in ran.err
    assert str(folder) in ran.last_error_line


def test_several_names_are_pulled_one_after_the_other(goliath, folder) -> None:
    paths = [pretend(folder, name) for name in ("smollm2-135m", "qwen2.5-coder-0.5b")]
    ran = goliath("models", "pull", "smollm2-135m", "qwen2.5-coder-0.5b")
    assert ran.out.splitlines() == [str(path) for path in paths]


def test_one_hash_for_several_files_is_wrong_usage(goliath, folder) -> None:
    assert goliath("models", "pull", "a.gguf", "b.gguf", "--sha256", DIGEST).code == 2


def test_a_linked_file_is_a_model_and_removing_it_leaves_the_file(
    goliath, folder: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(CONTENT)
    assert goliath("models", "pull", str(own), "--link").code == 0
    assert goliath("models", "path", "own").out == f"{folder / 'own.gguf'}\n"
    assert goliath("models", "rm", "own").code == 0
    assert own.read_bytes() == CONTENT


def test_verify_names_the_sound_and_ends_with_4_on_a_flipped_bit(goliath, folder: Path) -> None:
    install(folder, "good")
    path = install(folder, "own")
    assert goliath("models", "verify").code == 0
    data = bytearray(gguf())
    data[-1] ^= 1
    path.write_bytes(data)
    ran = goliath("models", "verify", "--all")
    assert ran.code == 4
    assert "own.gguf" in ran.last_error_line
    assert "good: sound" in ran.out
    assert goliath("models", "verify", "good").code == 0


def test_verify_without_any_model_ends_with_3(goliath, folder: Path) -> None:
    assert goliath("models", "verify").code == 3
    ran = goliath("models", "verify", "smollm2-135m")
    assert ran.code == 3
    assert str(folder / CARD.file) in ran.last_error_line


def test_info_shows_card_file_and_header(goliath, folder: Path) -> None:
    install(folder)
    document = goliath("models", "info", "own", "--json").json
    assert document["architecture"] == "llama"
    assert document["trainedWindow"] == 8192
    card = goliath("models", "info", "smollm3-3b", "--json").json
    assert card["sizeClass"] == "3.1B"
    assert card["state"] == "available"
    assert "licence" in goliath("models", "info", "smollm3-3b").out


def test_info_of_a_web_page_ends_with_4(goliath, folder: Path) -> None:
    path = install(folder)
    path.write_bytes(b"<html>" + bytes(len(gguf()) - 6))
    ran = goliath("models", "info", "own")
    assert ran.code == 4
    assert ran.last_error_line.startswith('own.gguf starts with "<html"')


def test_rm_removes_parts_too_and_says_what_became_free(goliath, folder: Path) -> None:
    with (folder / f"{CARD.file}.part").open("wb") as part:
        part.truncate(40_000_000)
    ran = goliath("models", "rm", "smollm2-135m")
    assert ran.out == "smollm2-135m: removed, 40.00 MB freed\n"
    assert list(folder.iterdir()) == []
    assert goliath("models", "rm", "smollm2-135m").code == 3


def test_path_is_the_folder_or_a_file(goliath, folder: Path) -> None:
    assert goliath("models", "path").out == f"{folder}\n"
    path = pretend(folder, "qwen2.5-coder-0.5b")
    assert goliath("models", "path", "default").out == f"{path}\n"
    assert goliath("models", "path", "smollm3-3b").code == 3


def test_models_dir_may_be_a_flag(goliath, folder: Path, tmp_path: Path) -> None:
    assert goliath("models", "path", "--models-dir", str(tmp_path)).out == f"{tmp_path}\n"


def test_help_ends_with_two_examples(goliath, home: Path) -> None:
    for command in ("list", "pull", "verify", "info", "rm", "path"):
        shown = goliath("models", command, "--help")
        assert shown.code == 0
        examples = shown.out.partition("Examples:")[2]
        assert examples.count(f"goliath-local models {command}") == 2


def test_with_a_model_here_no_command_opens_a_socket(folder: Path) -> None:
    install(folder)
    pretend(folder, "qwen2.5-coder-0.5b")
    code = (
        "import sys\n"
        "def stop(event, args):\n"
        "    if event.startswith('socket.'): raise RuntimeError(event)\n"
        "sys.addaudithook(stop)\n"
        "from goliath_local.cli import main\n"
        "for line in (['list'], ['list', '--all', '--json'], ['info', 'own'], ['path', 'own'],\n"
        "             ['verify', 'own'], ['pull', 'default'], ['rm', 'own']):\n"
        "    assert main(['models', *line]) == 0, line\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert ran.returncode == 0, ran.stderr


class Screen:
    """A terminal's stderr that says it is one."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True


def test_a_person_sees_a_bar_with_speed_and_time_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen: Any = Screen()
    seconds = iter(range(100))
    monkeypatch.setenv("COLUMNS", "100")
    terminal = Terminal(out=screen, err=screen, environ={"TERM": "xterm"})
    progress = Progress(terminal, "own", clock=lambda: float(next(seconds)))
    progress(Trying(source="the hub (h)"))
    for done in range(0, 2_000_000_001, 500_000_000):
        progress(Moved(done_bytes=done, total_bytes=2_000_000_000))
    progress(Restarted(reason="its sha256 is another"))
    progress.finish(Fetched(path=tmp_path, source="the hub (h)", already=False))
    assert "━" * 5 + "─" * 18 in screen.text
    assert "MB/s" in screen.text
    assert screen.text.endswith("own: complete, sha256 as pinned, from the hub (h).\n")
