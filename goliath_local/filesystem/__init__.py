"""Virtual files: texts under virtual paths, in several kinds of places, and tools over them."""

from goliath_local.filesystem.backend import (
    File,
    FileBackend,
    FileInfo,
    Listing,
    WritableBackend,
)
from goliath_local.filesystem.composite import CompositeFilesystem, Mount, composite_filesystem
from goliath_local.filesystem.create import Filesystem, create_filesystem
from goliath_local.filesystem.folder import FolderFilesystem, folder_filesystem
from goliath_local.filesystem.in_memory import (
    InMemoryFilesystem,
    StaticFilesystem,
    in_memory_filesystem,
    static_filesystem,
)
from goliath_local.filesystem.sqlite import SqliteFilesystem, sqlite_filesystem

__all__ = [
    "CompositeFilesystem",
    "File",
    "FileBackend",
    "FileInfo",
    "Filesystem",
    "FolderFilesystem",
    "InMemoryFilesystem",
    "Listing",
    "Mount",
    "SqliteFilesystem",
    "StaticFilesystem",
    "WritableBackend",
    "composite_filesystem",
    "create_filesystem",
    "folder_filesystem",
    "in_memory_filesystem",
    "sqlite_filesystem",
    "static_filesystem",
]
