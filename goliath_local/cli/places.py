"""Where goliath-local keeps things on this machine, and how it makes folders and files there.

Edge: reads the platform's folders, makes directories. Folders are 0700 and files 0600, whatever
the umask.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import platformdirs

from goliath_local.errors import ConfigError
from goliath_local.typed_paths import typed_path

if TYPE_CHECKING:
    from pathlib import Path

APP = "goliath-local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folders and files that commands read and write."""

    data: Path
    """Everything that is kept: models, conversations, traces, the demo's tasks."""

    config_file: Path
    """The user's own settings; need not exist."""

    @property
    def conversations(self) -> Path:
        """The SQLite file with what is remembered of each conversation."""
        return self.data / "conversations.sqlite"

    @property
    def traces(self) -> Path:
        """Folder of trace files, one a turn."""
        return self.data / "traces"

    @property
    def tasks(self) -> Path:
        """The SQLite file of the demo's to-do list."""
        return self.data / "tasks.sqlite"

    @property
    def states(self) -> Path:
        """Folder of evaluated prompt heads, so that a new process need not read them again."""
        return self.data / "states"

    @property
    def let_in(self) -> Path:
        """List of model files outside the catalogue that somebody said yes to."""
        return self.data / "let-in.json"

    @property
    def locks(self) -> Path:
        """Folder of locks, one for each conversation that is open in a chat."""
        return self.data / "locks"

    @property
    def logs(self) -> Path:
        """Folder of crash reports."""
        return self.data / "logs"


def find_places(data_dir: Path | None = None) -> Places:
    """Return the places of this user; `data_dir` replaces the platform's own."""
    return Places(
        data=data_dir or platformdirs.user_data_path(APP, appauthor=False),
        config_file=platformdirs.user_config_path(APP, appauthor=False) / "config.toml",
    )


def make_folder(path: Path) -> Path:
    """Make the folder and its parents, readable by the user alone; return it."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
        path.chmod(0o700)
    return path


def make_file(path: Path) -> Path:
    """Make the file, empty and readable by the user alone, unless it is there; return it."""
    make_folder(path.parent)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        path.chmod(0o600)
    return path


def verify_target(path: Path) -> Path:
    """Return where something is to be written, its `~` filled in, before any work is done for it.

    Raises:
        ConfigError: it is a folder, or in none.
    """
    path = typed_path(path)
    if path.is_dir():
        msg = f"{path} is a folder. Name a file in it."
        raise ConfigError(msg)
    if not path.parent.is_dir():
        msg = f"There is no folder {path.parent}. Make it first: mkdir -p {path.parent}"
        raise ConfigError(msg)
    return path
