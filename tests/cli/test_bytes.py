"""B10: bytes that are no UTF-8 are an error that says where, through every reader of a text."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.cli.asks import _decoded, verify_utf8
from goliath_local.cli.ready import _template
from goliath_local.cli.settings import load_settings
from goliath_local.errors import ConfigError, NotText
from goliath_local.filesystem import folder_filesystem
from tests.levers import slow_after

if TYPE_CHECKING:
    from collections.abc import Callable

WRONG = {
    "no first byte": b"\xff\xfe\x80",
    "half a surrogate pair": b"\xed\xa0\xbd",
    "an emoji cut in two": b"\xf0\x9f",
    "an overlong slash": b"\xc0\xaf",
}


@pytest.fixture(params=slow_after(1, WRONG.values()), ids=WRONG)
def wrong(request: pytest.FixtureRequest) -> bytes:
    """A text whose byte 5 is the first that is wrong."""
    return "né: ".encode() + request.param


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Put bytes where stdin is, as the C locale opens it: what is wrong passes unseen."""
    path = tmp_path / "stdin"
    path.touch()
    with (
        path.open("r+b") as raw,
        io.TextIOWrapper(raw, encoding="ascii", errors="surrogateescape") as stdin,
    ):
        monkeypatch.setattr(sys, "stdin", stdin)
        yield path.write_bytes
        monkeypatch.undo()


@pytest.fixture
def file(tmp_path: Path) -> Callable[[bytes], str]:
    """Write a file and return its name."""

    def write(data: bytes) -> str:
        path = tmp_path / "wrong.txt"
        path.write_bytes(data)
        return str(path)

    return write


async def test_the_view_of_a_folder(tmp_path: Path, wrong: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(wrong)
    with pytest.raises(NotText, match="byte 6 of it is not UTF-8"):  # counted from 1
        await folder_filesystem(tmp_path).read("/a.txt")


def test_a_file_behind_the_ask(goliath: Any, script: Any, file: Any, wrong: bytes) -> None:
    ran = goliath("run", "--engine", script({"text": "Hi."}), "-f", file(wrong), "Sum up.")
    assert (ran.code, ran.out) == (2, "")
    assert "wrong.txt is not UTF-8 text: byte 5 is wrong" in ran.err


@pytest.mark.parametrize("words", [("Sum up.",), ("-",), (), ("-f", "-", "Sum up.")])
def test_stdin_of_a_run(
    goliath: Any, script: Any, pipe: Any, wrong: bytes, words: tuple[str, ...]
) -> None:
    pipe(wrong)
    ran = goliath("run", "--engine", script({"text": "Hi."}), *words)
    assert (ran.code, ran.out) == (2, "")
    assert "stdin is not UTF-8 text: byte 5 is wrong" in ran.err


def test_the_words_of_the_command_line(goliath: Any, script: Any, wrong: bytes) -> None:
    words = os.fsdecode(wrong)
    ran = goliath("run", "--engine", script({"text": "Hi."}), words)
    assert (ran.code, ran.out) == (2, "")
    assert "The ask is not UTF-8 text: byte 5 is wrong" in ran.err


@pytest.mark.parametrize("before", [b"", b'"""\n'], ids=["a line", "a block"])
def test_lines_of_a_chat(
    goliath: Any, script: Any, pipe: Any, wrong: bytes, before: bytes
) -> None:
    pipe(b"hello\n" + before + wrong + b"\n")
    plan = {"json": {"why": "w", "kind": "answer", "brief": "b"}}
    ran = goliath("chat", "--engine", script(plan, {"text": "Hi."}))
    assert ran.code == 2
    line = 3 if before else 2
    assert f"Line {line} of stdin is not UTF-8 text: byte 5 is wrong" in ran.err


def test_texts_that_are_counted(goliath: Any, script: Any, file: Any, wrong: bytes) -> None:
    ran = goliath("tokens", "--engine", script(), file(wrong))
    assert (ran.code, ran.out) == (2, "")
    assert "byte 5 is wrong" in ran.err


def test_grammars_and_what_is_checked_by_them(
    goliath: Any, file: Any, pipe: Any, wrong: bytes, tmp_path: Path
) -> None:
    ran = goliath("grammar", "check", file(wrong))
    assert (ran.code, "byte 5 is not UTF-8" in ran.err) == (2, True)
    (tmp_path / "any.gbnf").write_text("root ::= [^x]*\n")
    pipe(wrong)
    ran = goliath("grammar", "check", str(tmp_path / "any.gbnf"), "-")
    assert (ran.code, "byte 5 is not UTF-8" in ran.err) == (2, True)


def test_the_form_of_an_answer(goliath: Any, script: Any, file: Any, wrong: bytes) -> None:
    ran = goliath("run", "--engine", script({"text": "1"}), "--schema", file(wrong), "How many?")
    assert (ran.code, "position 5" in ran.err) == (2, True)


def test_tool_servers(goliath: Any, script: Any, tmp_path: Path, wrong: bytes) -> None:
    pytest.importorskip("mcp")
    (tmp_path / "servers.json").write_bytes(wrong)
    ran = goliath("tools", "list", "-T", f"mcp:{tmp_path / 'servers.json'}")
    assert (ran.code, "position 5" in ran.err) == (2, True)


def test_settings_and_templates(home: Path, file: Any, wrong: bytes) -> None:
    with pytest.raises(ConfigError, match="not UTF-8: byte 5"):
        load_settings({}, config_file=Path(file(wrong)), environ={}, folder=home)
    with pytest.raises(ConfigError, match="byte 5 is not UTF-8"):
        _template(file(wrong))


def test_a_mark_at_the_start_counts_as_bytes(wrong: bytes) -> None:
    with pytest.raises(ConfigError, match="byte 8 is wrong"):
        _decoded(b"\xef\xbb\xbf" + wrong, "it")


@given(data=st.one_of(st.binary(), st.text().map(lambda t: t.encode("utf-8", "replace"))))
def test_any_bytes_are_the_very_text_or_the_first_wrong_one_is_said(data: bytes) -> None:
    # The same verdict whether the bytes come as they are or through Python's own stdin.
    text = data.decode("utf-8", "surrogateescape")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        at = f"byte {error.start} is wrong"
        for read in (lambda: _decoded(data, "it"), lambda: verify_utf8(text, "it")):
            with pytest.raises(ConfigError, match=at):
                read()
    else:
        verify_utf8(text, "it")
        read_back = _decoded(data, "it")
        assert read_back == text.removeprefix("\ufeff").replace("\r\n", "\n")
