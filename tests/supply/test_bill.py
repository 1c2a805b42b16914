"""What is shipped and where it comes from: the lock, the bill of materials, licences (S1, S5)."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from typing import TYPE_CHECKING

import pytest

from goliath_local.catalogue import cards
from scripts.bill import BILL, LICENCES, LOCK, PAGE, ROOT, bill, needed, page, read_lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGES = read_lock(LOCK.read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_every_package_of_the_lock_is_pinned_and_hashed() -> None:
    lines = LOCK.read_text("utf-8").splitlines()
    assert len(PACKAGES) == sum("==" in line and line[0].isalnum() for line in lines)
    for package in PACKAGES:
        assert package.sha256, package.name
        assert re.fullmatch(r"[\w.!+-]+", package.version)
    assert not any(word in LOCK.read_text() for word in ("git+", "http://", "https://", "file:"))


def test_every_dependency_that_is_declared_is_locked() -> None:
    locked = {package.name for package in PACKAGES}
    extras = PROJECT["optional-dependencies"].values()
    for line in (*PROJECT["dependencies"], *(each for extra in extras for each in extra)):
        assert re.split(r"[^a-z0-9._-]", line)[0] in locked, line


def test_the_bill_and_the_page_are_in_step_with_the_lock() -> None:
    document = bill(LOCK.read_text("utf-8"), cards())
    assert json.loads(BILL.read_text("utf-8")) == document
    assert PAGE.read_text("utf-8") == page(document)


def test_another_lock_gives_another_bill() -> None:
    changed = LOCK.read_text("utf-8").replace("jinja2==3.1.6", "jinja2==3.1.7")
    assert bill(changed, cards()) != json.loads(BILL.read_text("utf-8"))


def test_the_bill_has_the_form_of_cyclonedx() -> None:
    document = json.loads(BILL.read_text("utf-8"))
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    refs = [each["bom-ref"] for each in document["components"]]
    assert len(refs) == len(set(refs)) == len(PACKAGES) + len(cards())
    known = {*refs, "goliath-local"}
    for each in document["dependencies"]:
        assert {each["ref"], *each["dependsOn"]} <= known
    for each in document["components"]:
        assert each["type"] in {"library", "machine-learning-model"}
        assert each["licenses"][0]["expression"]


def test_a_line_of_the_lock_that_is_no_pin_is_refused() -> None:
    with pytest.raises(ValueError, match="is not NAME==VERSION"):
        read_lock("jinja2>=3\n")


def test_what_extras_bring_is_not_counted_as_needed() -> None:
    plain = needed(PACKAGES, frozenset({"pydantic"}))
    assert "pydantic-core" in plain
    assert "pytest" not in plain


_WORDS = {"bsd": "BSD", "mit": "MIT", "apache": "Apache", "mozilla": "MPL", "isc": "ISC"}


def test_the_licences_are_those_that_installed_packages_state() -> None:
    stated = tomllib.loads(LICENCES.read_text("utf-8"))
    assert stated.keys() == {package.name for package in PACKAGES}
    compared = 0
    for name, licence in stated.items():
        try:
            metadata = importlib.metadata.metadata(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        compared += 1
        expression = metadata.get("License-Expression")
        if expression:
            assert expression == licence, name
            continue
        words = " ".join([metadata.get("License") or "", *metadata.get_all("Classifier", [])])
        found = {short for word, short in _WORDS.items() if word in words.lower().split("::")[-1]}
        assert not found or any(short in licence for short in found), (name, words[:200])
    assert compared > 40


def test_every_card_has_a_licence_and_a_hash() -> None:
    for card in cards():
        assert re.fullmatch(r"[A-Za-z0-9.+-]+", card.licence)
        assert re.fullmatch(r"[0-9a-f]{64}", card.sha256)


# Dangerous calls (S5)

_NEVER = {
    *("eval", "exec", "compile", "os.system", "os.popen", "pickle.load", "pickle.loads"),
    *("marshal.load", "marshal.loads", "yaml.load", "tempfile.mktemp", "shelve.open"),
    *("tarfile.open", "shutil.unpack_archive", "subprocess.getoutput", "ctypes.pythonapi"),
}
_NEVER_METHODS = {"extractall", "extract", "unsafe_load"}
_NEVER_OPTIONS = {("shell", True), ("verify", False)}
_EXCUSED = {
    # A type hint of the application's own function, which Python itself would evaluate.
    ("tools/signature.py", "eval"),
    # Plain http has no certificate; the option then has no effect.
    ("wire/http.py", "verify"),
}


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted((ROOT / "goliath_local").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                yield str(path.relative_to(ROOT / "goliath_local")), node


def _dotted(func: ast.expr) -> str:
    """Return what is called, as far as it is names: `shutil.move`, `.read`."""
    match func:
        case ast.Name():
            return func.id
        case ast.Attribute():
            return f"{_dotted(func.value)}.{func.attr}"
        case _:
            return ""


def test_no_dangerous_call_is_made() -> None:
    seen = 0
    for where, call in _calls():
        seen += 1
        name = _dotted(call.func)
        is_bad = name in _NEVER and (where, name) not in _EXCUSED
        assert not is_bad, (where, name, call.lineno)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        assert method not in _NEVER_METHODS, (where, name, call.lineno)
        for option in call.keywords:
            value = option.value.value if isinstance(option.value, ast.Constant) else None
            is_bad = (option.arg, value) in _NEVER_OPTIONS
            assert not is_bad or (where, option.arg) in _EXCUSED, (where, option.arg, call.lineno)
    assert seen > 3000


# Installing (S1) and our own wheel (S4)


def _wheel(folder: Path) -> Path:
    path = folder / "tiny_thing-1.0-py3-none-any.whl"
    info = "tiny_thing-1.0.dist-info"
    files = {
        "tiny_thing.py": "x = 1\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in files))
    return path


@pytest.mark.slow
def test_one_changed_byte_of_a_wheel_stops_the_installation(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path)
    lock = tmp_path / "requirements.lock"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    lock.write_text(f"tiny-thing==1.0 \\\n    --hash=sha256:{digest}\n")

    def install() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pip", "install", "--require-hashes", "--no-index"]
        command += ["--find-links", str(tmp_path), "--target", str(tmp_path / "there")]
        return subprocess.run(
            [*command, "--upgrade", "-r", str(lock)], capture_output=True, text=True, check=False
        )

    assert install().returncode == 0
    data = bytearray(wheel.read_bytes())
    data[data.index(b"x = 1")] ^= 1
    wheel.write_bytes(data)
    changed = install()
    assert changed.returncode != 0
    assert "HASH" in changed.stderr.upper()


_NOT_SHIPPED = re.compile(
    r"\.(gguf|bin|safetensors|pem|key|sqlite|jsonl|pyc)$|(^|/)(tests|evals)/"
)


@pytest.mark.slow
def test_our_wheel_is_the_same_bytes_twice_and_holds_nothing_else(tmp_path: Path) -> None:
    built = []
    for number in range(2):
        folder = tmp_path / str(number)
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
            cwd=ROOT,
            check=True,
            capture_output=True,
            env={"PATH": "/usr/bin:/bin", "SOURCE_DATE_EPOCH": "1700000000"},
        )
        built += list(folder.glob("*.whl"))
    assert built[0].read_bytes() == built[1].read_bytes()
    with zipfile.ZipFile(built[0]) as archive:
        for name in archive.namelist():
            assert name.startswith(("goliath_local/", "goliath_local-")), name
            inside = name.removeprefix("goliath_local/evals/")
            assert not _NOT_SHIPPED.search(inside), name
            data = archive.read(name)
            assert str(ROOT).encode() not in data, name
            assert b"PRIVATE KEY" not in data
            assert archive.getinfo(name).file_size < 4 << 20
