"""The native libraries are the pinned ones; a hole that is accepted has a reason and an end."""

from __future__ import annotations

import ctypes
import datetime as dt
import importlib.metadata
import io
import pickle
import tomllib
from typing import Any

import pytest

from scripts.bill import LOCK, ROOT, read_lock
from tests import audit

SUPPLY = tomllib.loads((ROOT / "packaging" / "supply.toml").read_text("utf-8"))
LOCKED = {package.name: package.version for package in read_lock(LOCK.read_text("utf-8"))}
MOST = dt.timedelta(days=90)


def test_the_lock_holds_the_binding_whose_versions_are_pinned() -> None:
    assert LOCKED["llama-cpp-python"] == SUPPLY["native"]["binding"]


@pytest.mark.slow
def test_the_libraries_that_are_loaded_report_the_pinned_versions() -> None:
    from goliath_local.engine.native.library import open_library

    library = open_library()
    from llama_cpp import _ggml

    def said(loaded: Any, name: str) -> str:
        function = getattr(loaded, name)
        function.restype, function.argtypes = ctypes.c_char_p, []
        return str(function().decode())

    assert importlib.metadata.version("llama-cpp-python") == SUPPLY["native"]["binding"]
    assert said(library._lib, "llama_version") == SUPPLY["native"]["llama"]
    assert said(_ggml.libggml, "ggml_version") == SUPPLY["native"]["ggml"]


@pytest.mark.parametrize("hole", SUPPLY["accepted"], ids=lambda hole: hole["hole"])
def test_an_accepted_hole_is_of_a_locked_package_has_a_reason_and_is_not_over(
    hole: dict[str, Any],
) -> None:
    assert LOCKED[hole["package"]] == hole["version"], "another version: look whether it is mended"
    assert len(hole["reason"].split()) > 10
    assert hole["looked_at"] < hole["until"] <= hole["looked_at"] + MOST
    today = dt.datetime.now(dt.UTC).date()
    over = f"{hole['hole']} was accepted until {hole['until']}: look at it anew"
    assert today <= hole["until"], over
    assert hole["hole"] in (ROOT / "SECURITY.md").read_text("utf-8")


# The end of the session looks at `audit.unpickled`: that it can be filled at all.

_READ = """
import io, pickle
def read(data):
    return pickle.Unpickler(io.BytesIO(data)).load()
"""


def _reader(file: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(_READ, file, "exec"), names)
    return names["read"]


def test_a_class_that_diskcache_reads_out_of_a_pickle_is_seen_and_stopped() -> None:
    data = pickle.dumps(io.BytesIO)
    assert _reader("/lib/python/json/core.py")(data) is io.BytesIO
    assert audit.unpickled == []
    with pytest.raises(RuntimeError, match="diskcache unpickles"):
        _reader("/lib/python/site-packages/diskcache/core.py")(data)
    assert [audit.unpickled.pop()] == ["_io.BytesIO"]


def test_the_real_package_is_seen_as_such(tmp_path: Any) -> None:
    diskcache = pytest.importorskip("diskcache")
    with diskcache.Cache(str(tmp_path)) as cache:
        cache["a"] = io.BytesIO  # a class: written as its name
        with pytest.raises(RuntimeError, match="diskcache unpickles"):
            cache["a"]
    assert audit.unpickled
    audit.unpickled.clear()
