r"""What a disk holds after a power cut, worked out from the calls that were made.

Pure, but for `laid_out`, which writes an image into a folder. A folder's names and a file's bytes
are on the disk for sure only once they were synced; what was not may be lost, cut short or
zero-filled, and names may have come without their bytes, or bytes without their names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CALLS = (
    *("openat", "creat", "write", "pwrite64", "writev", "lseek", "ftruncate", "fsync"),
    *("fdatasync", "rename", "renameat", "renameat2", "unlink", "unlinkat", "close"),
)
Damage: TypeAlias = Literal["lost", "cut short", "zero-filled"]
DAMAGES: tuple[Damage, ...] = get_args(Damage)

_LINE = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+|\?)")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')
_NUMBER = re.compile(r"^-?\d+")


@dataclass(slots=True)
class _File:
    synced: bytes = b""
    now: bytes = b""
    pending: list[tuple[int, bytes]] = field(default_factory=list)

    def write(self, at: int, data: bytes) -> None:
        self.now = _with(self.now, at, data)
        self.pending.append((at, data))

    def cut(self, size: int) -> None:
        # As if it were on the disk at once: a later damage may only touch what is written.
        self.now = self.now[:size].ljust(size, b"\0")
        self.synced = self.synced[:size]
        self.pending = [(at, data[: max(size - at, 0)]) for at, data in self.pending]

    def sync(self) -> None:
        self.synced, self.pending = self.now, []

    def after(self, damage: Damage) -> bytes:
        """Return the bytes that are there when the power comes back."""
        found = self.synced
        kept = self.pending[: (len(self.pending) + 1) // 2]
        match damage:
            case "lost":
                return found
            case "cut short":
                for at, data in kept[:-1]:
                    found = _with(found, at, data)
                for at, data in kept[-1:]:
                    found = _with(found, at, data[: len(data) // 2])
            case "zero-filled":
                for at, data in self.pending:
                    found = _with(found, at, bytes(len(data)))
        return found


class Disk:
    """The files of one folder, as they are and as they are known to be on the disk."""

    def __init__(self, folder: Path) -> None:
        self._root = str(folder)
        self._names: dict[str, _File] = {}
        self._synced_names: dict[str, _File] = {}
        self._open: dict[str, tuple[_File | str, int, bool]] = {}
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                data = path.read_bytes()
                self._names[str(path)] = _File(synced=data, now=data)
        self._synced_names.update(self._names)

    def images(self) -> Iterator[tuple[str, dict[str, bytes]]]:
        """Yield, for a cut at this moment, each picture the disk may show: its name, its files."""
        for names, table in (("names kept", self._names), ("names lost", self._synced_names)):
            for damage in DAMAGES:
                files = {path: file.after(damage) for path, file in table.items()}
                yield f"{damage}, {names}", files

    def play(self, line: str) -> bool:
        """Take in one line of strace's log; return whether it changed anything."""
        found = _LINE.match(line)
        if found is None or found[3] == "?" or int(found[3]) < 0:
            return False
        name, arguments, result = found[1], found[2], int(found[3])
        step = getattr(self, f"_{name}", None)
        return bool(step(arguments, result)) if step else False

    def _openat(self, arguments: str, result: int) -> bool:
        (path,) = _texts(arguments)[:1]
        if not path.startswith(self._root):
            self._open.pop(str(result), None)
            return False
        if "O_DIRECTORY" in arguments or path == self._root:
            self._open[str(result)] = (path, 0, False)
            return False
        is_new = path not in self._names
        if is_new and "O_CREAT" not in arguments:
            self._open[str(result)] = (path, 0, False)  # a folder opened without the flag
            return False
        file = self._names.setdefault(path, _File())
        if "O_TRUNC" in arguments:
            file.cut(0)
        self._open[str(result)] = (file, 0, "O_APPEND" in arguments)
        return is_new

    def _write(self, arguments: str, result: int) -> bool:
        file, offset, appends = self._of(arguments)
        if file is None:
            return False
        at = len(file.now) if appends else offset
        file.write(at, _bytes(arguments)[:result])
        self._open[_descriptor(arguments)] = (file, at + result, appends)
        return True

    def _pwrite64(self, arguments: str, result: int) -> bool:
        file, _, _ = self._of(arguments)
        if file is None:
            return False
        file.write(int(arguments.rpartition(",")[2]), _bytes(arguments)[:result])
        return True

    def _lseek(self, arguments: str, result: int) -> bool:
        file, _, appends = self._of(arguments)
        if file is not None:
            self._open[_descriptor(arguments)] = (file, result, appends)
        return False

    def _ftruncate(self, arguments: str, _result: int) -> bool:
        file, _, _ = self._of(arguments)
        if file is not None:
            file.cut(int(arguments.rpartition(",")[2]))
        return file is not None

    def _fsync(self, arguments: str, _result: int) -> bool:
        held = self._open.get(_descriptor(arguments))
        if held is None:
            return False
        if isinstance(held[0], _File):
            held[0].sync()
            return True
        folder = held[0]
        self._synced_names = {
            path: file for path, file in self._synced_names.items() if not _lies_in(path, folder)
        } | {path: file for path, file in self._names.items() if _lies_in(path, folder)}
        return True

    _fdatasync = _fsync

    def _rename(self, arguments: str, _result: int) -> bool:
        old, new = _texts(arguments)[:2]
        file = self._names.pop(old, None)
        if file is not None:
            self._names[new] = file
        return file is not None

    _renameat = _renameat2 = _rename

    def _unlink(self, arguments: str, _result: int) -> bool:
        return self._names.pop(_texts(arguments)[0], None) is not None

    _unlinkat = _unlink

    def _close(self, arguments: str, _result: int) -> bool:
        self._open.pop(_descriptor(arguments), None)
        return False

    def _of(self, arguments: str) -> tuple[_File | None, int, bool]:
        held = self._open.get(_descriptor(arguments))
        if held is None or isinstance(held[0], str):
            return None, 0, False
        return held[0], held[1], held[2]


def whole_lines(log: str) -> list[str]:
    """Return the log's lines, a call that another thread interrupted put together again."""
    begun: dict[str, str] = {}
    lines: list[str] = []
    for line in log.splitlines():
        pid, _, text = line.partition(" ")
        text = text.strip()
        if text.endswith("<unfinished ...>"):
            begun[pid] = text.removesuffix("<unfinished ...>").rstrip()
        elif text.startswith("<... ") and pid in begun:
            lines.append(f"{pid} {begun.pop(pid)}{text.partition(' resumed>')[2].strip()}")
        else:
            lines.append(line)
    return lines


def laid_out(files: dict[str, bytes], *, source: Path, target: Path) -> None:
    """Write an image of the source folder into the target folder."""
    for path, data in files.items():
        place = target / PurePosixPath(path).relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def _with(before: bytes, at: int, data: bytes) -> bytes:
    return before[:at].ljust(at, b"\0") + data + before[at + len(data) :]


def _lies_in(path: str, folder: str) -> bool:
    return str(PurePosixPath(path).parent) == folder.rstrip("/")


def _descriptor(arguments: str) -> str:
    found = _NUMBER.match(arguments)
    return found[0] if found else ""


def _bytes(arguments: str) -> bytes:
    found = _TEXT.search(arguments)
    if found is None or found[2]:
        raise ValueError("strace cut a text short")
    return bytes.fromhex(found[1].replace("\\x", ""))


def _texts(arguments: str) -> list[str]:
    return [bytes.fromhex(one.replace("\\x", "")).decode() for one, _ in _TEXT.findall(arguments)]
