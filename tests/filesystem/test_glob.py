from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.errors import FileError
from goliath_local.filesystem.glob import matches, read_glob


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("/**/*.md", ["/a.md", "/a/b.md", "/a/b/c.md"], ["/a.txt", "/a.md/b"]),
        ("/*.md", ["/a.md", "/.md"], ["/a/b.md", "/a.mdx"]),
        ("/a?c", ["/abc", "/aéc"], ["/ac", "/a/c", "/abbc"]),
        ("/docs/**", ["/docs/a", "/docs/a/b"], ["/docs", "/docs2/a"]),
        ("/**", ["/a", "/a/b"], []),
        ("/**/b/*", ["/b/x", "/a/b/x", "/a/b/b/x"], ["/b", "/ab/x"]),
        ("/a**z", ["/az", "/abz", "/a/b/z"], ["/a/b"]),
        ("/a[b]{c}+.x", ["/a[b]{c}+.x"], ["/ab.x", "/abcc.x"]),
        ("/a", ["/a"], ["/", "/a/b", "/aa"]),
        ("/*/x", ["/a/x"], ["/x", "/a/b/x"]),
    ],
)
def test_patterns_match_whole_paths(pattern: str, yes: list[str], no: list[str]) -> None:
    glob = read_glob(pattern)
    assert [path for path in yes if not matches(glob, path)] == []
    assert [path for path in no if matches(glob, path)] == []


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("*.md", "starts with /"),
        ("/../*", "no . or .."),
        ("/a/./*", "no . or .."),
        ("/a\\*", "no backslash"),
        ("/a\n*", "no backslash or control"),
        ("/" + "*" * 512, "513 characters"),
    ],
)
def test_patterns_that_are_none_are_refused(pattern: str, words: str) -> None:
    with pytest.raises(FileError, match=words):
        read_glob(pattern)


@pytest.mark.parametrize(
    ("pattern", "base"),
    [
        ("/**/*.md", "/"),
        ("/docs/a/*.md", "/docs/a"),
        ("/docs/a.md", "/docs/a.md"),
        ("/do?s/a.md", "/"),
    ],
)
def test_a_search_starts_in_the_deepest_folder_that_is_certain(pattern: str, base: str) -> None:
    assert read_glob(pattern).base == base


def test_many_stars_on_a_long_path_take_no_time() -> None:
    hostile = [
        "/**/**/**/**/*a*a*a*a*b",
        "/" + "*a" * 255,
        "/" + "**/" * 170,
        "/" + "**/*" * 120,
        "/" + "*?" * 255,
    ]
    path = "/" + "a" * 250 + "/" + "a" * 260
    start = time.perf_counter()
    for pattern in hostile:
        matches(read_glob(pattern), path)
    # A matcher that tries every way would not be done this year.
    assert time.perf_counter() - start < 30


def _as_regex(pattern: str) -> re.Pattern[str]:
    """The same meaning written as a regular expression: the slow but plain way."""
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.findall(r"\*\*/|\*\*|\*|\?|.", pattern)
    return re.compile("".join(meanings.get(piece) or re.escape(piece) for piece in pieces))


@given(
    pattern=st.text(alphabet="*?/ab", max_size=9),
    path=st.text(alphabet="/ab", max_size=9),
)
def test_matching_agrees_with_a_regular_expression(pattern: str, path: str) -> None:
    pattern, path = "/" + pattern, "/" + path
    assert matches(read_glob(pattern), path) == bool(_as_regex(pattern).fullmatch(path))
