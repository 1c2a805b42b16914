"""Paths as somebody typed them. Edge: asks the system for home folders and files."""

from __future__ import annotations

from pathlib import Path


def typed_path(text: str | Path) -> Path:
    """Return the path; `~` is the home folder, `~name` of nobody a name like any other."""
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:  # as a shell does, which leaves it as it is
        return path


def is_there(path: Path) -> bool:
    """True when there is such a file or folder; a name too long for the system is that of none."""
    try:
        return path.exists()
    except OSError:
        return False


def is_file(path: Path) -> bool:
    """True when there is such a file; a name too long for the system is that of none."""
    try:
        return path.is_file()
    except OSError:
        return False
