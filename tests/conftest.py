"""Fixtures shared by all rooms: a home of one's own, the command line, weights by card name."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from goliath_local.catalogue import find_card, installed_path, models_dir
from tests import audit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_OWN = ("GOLIATH_", "HF_", "CI", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
_MODELS = models_dir()  # now, before a test gets a home of its own


def pytest_configure(config: pytest.Config) -> None:
    """Let each property be tried on few examples in the plain run, on many in the whole one.

    GOLIATH_TEST_EXAMPLES is another number (see `tests/levers.py`); the examples are then others
    each time, or those of `--hypothesis-seed`.
    """
    _take_own_cores(config)
    sys.addaudithook(audit.hook)
    patient: dict[str, Any] = {  # no example fails because a machine is slow
        "deadline": None,
        "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    }
    settings.register_profile("plain", max_examples=15, derandomize=True, **patient)
    settings.register_profile("whole", max_examples=100, derandomize=True, **patient)
    is_plain = "not slow" in config.option.markexpr
    chosen = "plain" if is_plain else "whole"
    if wanted := os.environ.get("GOLIATH_TEST_EXAMPLES"):
        settings.register_profile("wanted", max_examples=int(wanted), **patient)
        chosen = "wanted"
    settings.load_profile(chosen)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if diskcache read a class out of a pickle: its hole is accepted as long as it rests."""
    if audit.unpickled:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def touched() -> Iterator[Callable[[], list[tuple[str, Any, bool]]]]:
    """Every path that Python opens, lists, makes, moves or removes from now on.

    Each call gives what came since the last one, as (event, path, whether it may change it).
    """
    audit.watch(on=True)
    yield audit.take
    audit.watch(on=False)


def _take_own_cores(config: pytest.Config) -> None:
    """Give each of several test processes cores of its own.

    Two models at full threads on the same cores wait for each other most of the time.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or not hasattr(os, "sched_setaffinity"):
        return
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, set(cores[number::count]) or set(cores))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test whose name differs from process to process: it cannot be shared out."""
    odd = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if odd:
        message = f"These names hold an address. Give their parameters ids: {', '.join(odd)}"
        raise pytest.UsageError(message)


@dataclass(frozen=True)
class Ran:
    """What a command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def last_error_line(self) -> str:
        return self.err.rstrip("\n").rpartition("\n")[2]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, in which nothing of the real user can be seen or changed."""
    for name in list(os.environ):
        if name.startswith(_OWN):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name, place in (("DATA", ".local/share"), ("CONFIG", ".config"), ("CACHE", ".cache")):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / place))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return folder


@pytest.fixture
def goliath(home: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """The command line, run in this process."""
    from goliath_local.cli import main

    def run(*arguments: str) -> Ran:
        capfd.readouterr()
        code = main(list(arguments))
        out, err = capfd.readouterr()
        return Ran(code=code, out=out, err=err)

    return run


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Write a script of replies; what comes back is for `--engine`."""

    def write(*replies: dict[str, Any], **pace: float) -> str:
        path = tmp_path / f"script-{len(list(tmp_path.glob('script-*')))}.json"
        path.write_text(json.dumps({"replies": list(replies), **pace}), encoding="utf-8")
        return f"fake:{path}"

    return write


@pytest.fixture(scope="session")
def weights() -> Callable[[str], Path]:
    """The file of an installed model, by card name; a missing one fails the test."""

    def path_of(name: str) -> Path:
        card = find_card(name)
        path = installed_path(card, _MODELS)
        if path is None:
            pytest.fail(f"{name} is not installed. Get it: goliath-local models pull {name}")
        return path

    return path_of
