from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.errors import FileError
from goliath_local.filesystem.paths import confined, file_path, virtual_path, within

# Names and paths that other systems read in their own way, and what becomes of them here.
HOSTILE = [
    "../x",
    "/etc/passwd",
    "a/../../x",
    "..\\x",
    "C:\\x",
    "\\\\host\\share",
    "D:x",
    "CON",
    "nul.txt",
    "a:b",
    "a.",
    "é" * 255,
    "a" * 300,
    ".",
    "-rf",
    "~",
    "$HOME",
    "%2e%2e/x",
    "a\x00b",
    "a\nb",
]


@pytest.mark.parametrize(
    ("given_", "path"),
    [
        ("/", "/"),
        ("//", "/"),
        ("/a", "/a"),
        ("/a/", "/a"),
        ("//a///b//", "/a/b"),
        ("/...", "/..."),
        ("/.hidden", "/.hidden"),
        ("/%2e%2e/x", "/%2e%2e/x"),
        ("/C:", "/C:"),
        ("/" + "é" * 511, "/" + "é" * 511),
    ],
)
def test_a_path_has_one_spelling(given_: str, path: str) -> None:
    assert virtual_path(given_) == path


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ("", "starts with /"),
        ("a", "starts with /"),
        ("./a", "starts with /"),
        ("C:/a", "starts with /"),
        ("/a/../b", "no . or .."),
        ("/..", "no . or .."),
        ("/a/.", "no . or .."),
        ("/a\\b", "no backslash"),
        ("/a\x00", "no control"),
        ("/a\nb", "no control"),
        ("/a\x7f", "no control"),
        ("/" + "a" * 512, "513 characters; at most 512"),
        ("/\ud800", "valid Unicode"),
        (None, "a path is a text"),
        (7, "a path is a text"),
        (b"/a", "a path is a text"),
    ],
)
def test_what_is_no_path_is_refused_with_the_reason(given_: object, words: str) -> None:
    with pytest.raises(FileError, match=words):
        virtual_path(given_)


def test_the_root_is_no_file() -> None:
    with pytest.raises(FileError, match="root folder"):
        file_path("//")


def test_a_neighbour_with_the_same_beginning_is_not_within() -> None:
    assert within("/notes", "/notes")
    assert within("/notes/a", "/notes")
    assert within("/notes/a", "/")
    assert not within("/notes2", "/notes")
    assert not within("/", "/notes")
    with pytest.raises(FileError, match="only files under /notes"):
        confined("/notes2", "/notes")


def _refusal(text: str) -> str | None:
    try:
        virtual_path(text)
    except FileError as error:
        return str(error)
    return None


def test_a_refusal_says_its_reason_within_what_a_model_sees() -> None:
    said = [_refusal(name) for name in (*HOSTILE, "/" + "x" * 10_000, "/\x1b[31m" * 40)]
    refusals = [words for words in said if words is not None]
    assert len(refusals) > 15
    for words in refusals:
        assert words.endswith(".")
        assert len(words) <= 160
        assert "\x1b" not in words


@given(st.text(alphabet=st.sampled_from("/.ab\\\x00é:~"), max_size=20))
def test_a_spelling_is_its_own_spelling_and_stays_below_the_root(text: str) -> None:
    try:
        path = virtual_path(text)
    except FileError:
        return
    assert virtual_path(path) == path
    assert path.startswith("/")
    assert not {"", ".", ".."} & set(path[1:].split("/")) or path == "/"
