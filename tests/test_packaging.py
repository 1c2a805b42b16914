"""The wheel and the source archive: what is in them, and that they work away from the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goliath_local.cli.version import own_version

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
PACKAGING = ROOT / "packaging"
MAX_BYTES = 3_000_000
"""Far above what is in it, far below any weights."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive, built from what is tracked or new."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=800)
    return folder


def contents(built: Path) -> tuple[set[str], set[str]]:
    [wheel], [archive] = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as zipped, tarfile.open(archive) as tarred:
        return set(zipped.namelist()), {name.partition("/")[2] for name in tarred.getnames()}


def test_every_file_of_the_package_is_in_the_wheel_and_nothing_else(built: Path) -> None:
    wheel, archive = contents(built)
    tracked = subprocess.run(
        ["git", "ls-files", "goliath_local"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    here = {name for name in tracked if (ROOT / name).exists()}
    assert here <= wheel
    assert here <= archive
    manifests = {f"goliath_local/catalogue/manifests/{p.name}" for p in _manifests()}
    assert manifests <= wheel
    assert {name.partition("/")[0] for name in wheel} == {
        "goliath_local",
        f"goliath_local-{own_version()}.dist-info",
    }
    assert "LICENSE" in archive


def _manifests() -> list[Path]:
    found = sorted((ROOT / "models" / "manifests").glob("*.toml"))
    assert found
    return found


def test_no_weights_and_no_tests_are_in_either(built: Path) -> None:
    for name in set().union(*contents(built)):
        assert not re.search(r"\.(gguf|safetensors|bin|part|pyc|sqlite)$", name), name
        assert not name.startswith(("tests/", "evals/", "bench/", ".")) or name == ".gitignore"
    assert all(path.stat().st_size < MAX_BYTES for path in built.iterdir())


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Run something in an environment of its own that has the wheel, and no checkout."""
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    [packages] = (folder / "venv").glob("lib/python*/site-packages")
    # The dependencies are borrowed, so that llama.cpp is not compiled again; a path in a .pth file
    # is not looked through for further .pth files, so the checkout's own does not come along.
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    [wheel] = built.glob("*.whl")
    bin_ = folder / "venv" / "bin"
    pip = [sys.executable, "-m", "pip", "--python", bin_ / "python", "install", "--no-deps"]
    offline = ["--no-index", "--ignore-installed", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, *offline, wheel], check=True, timeout=800)
    home = folder / "home"
    home.mkdir()
    kept = {key: os.environ[key] for key in ("LANG", "LC_ALL", "TMPDIR") if key in os.environ}
    env = {"HOME": str(home), "PATH": f"{bin_}:/usr/bin:/bin", **kept}

    def run(*command: str) -> str:
        ran = subprocess.run(
            command, cwd=home, env=env, check=True, capture_output=True, text=True, timeout=800
        )
        return ran.stdout

    return run


def test_the_installed_command_works_without_the_checkout(
    installed: Callable[..., str], script: Callable[..., str]
) -> None:
    where = installed("python", "-c", "import goliath_local; print(goliath_local.__file__)")
    assert not Path(where).is_relative_to(ROOT)
    assert installed("goliath-local", "version") == f"goliath-local {own_version()}\n"
    assert "qwen2.5-coder-0.5b" in installed("goliath-local", "models", "list", "--all")
    assert "calculate: sound" in installed("goliath-local", "tools", "check", "-T", "numbers")
    replies = (
        {"json": {"why": "w", "kind": "tool", "tool": "list_tasks", "brief": "b"}},
        {"json": {"why": "w", "kind": "answer", "brief": "b"}},
        {"text": "Bread."},
    )
    ran = installed("goliath-local", "run", "-T", "demo", "--engine", script(*replies), "List?")
    assert ran == "Bread.\n"


def test_the_types_are_told_to_those_who_install_it(installed: Callable[..., str]) -> None:
    code = "from importlib.resources import files; print(files('goliath_local') / 'py.typed')"
    assert Path(installed("python", "-c", code).strip()).is_file()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_the_unit_and_its_timer_are_sound(tmp_path: Path) -> None:
    for kind in ("service", "timer"):
        text = (PACKAGING / f"goliath-local@.{kind}").read_text(encoding="utf-8")
        # Only the program is not where it will be.
        text = text.replace("/opt/goliath-local/bin/goliath-local", "/bin/true")
        for name in ("goliath-local@", "goliath-local@morning"):
            (tmp_path / f"{name}.{kind}").write_text(text)
    units = [str(tmp_path / f"goliath-local@morning.{kind}") for kind in ("service", "timer")]
    ran = subprocess.run(
        ["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_the_settings_in_unit_and_container_are_ones_that_exist() -> None:
    from goliath_local.cli.settings import load_settings

    for name in ("goliath-local@.service", "Containerfile"):
        text = (PACKAGING / name).read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        said = dict(re.findall(r"(GOLIATH_[A-Z_]+)=(\S+)", "\n".join(lines)))
        assert "GOLIATH_DATA_DIR" in said
        load_settings({}, environ=said, folder=PACKAGING)


def test_every_file_that_the_container_copies_is_there() -> None:
    text = (PACKAGING / "Containerfile").read_text(encoding="utf-8")
    copied = re.findall(r"^COPY (?!--from)(\S+) ", text, re.MULTILINE)
    assert copied == ["requirements.lock", "."]
    assert all((ROOT / name).exists() for name in copied)
