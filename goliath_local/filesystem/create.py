"""`create_filesystem`: the six file tools over a back end, within a root and within limits.

Source: behaviour spec, sections 8.3 and 8.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from goliath_local.errors import ConfigError, FileError
from goliath_local.filesystem.backend import Eventually, FileBackend, is_writable, settled
from goliath_local.filesystem.cursors import START, Cursors, Query, is_blank
from goliath_local.filesystem.declared import declarations
from goliath_local.filesystem.editing import delete_file, edit_file, write_file
from goliath_local.filesystem.glob import read_glob
from goliath_local.filesystem.in_memory import in_memory_filesystem
from goliath_local.filesystem.limits import WRITE_TOOLS, Limits, read_limits, read_tool_names
from goliath_local.filesystem.pages import room_of
from goliath_local.filesystem.paths import confined, file_path, virtual_path, within
from goliath_local.filesystem.preview import preview_change
from goliath_local.filesystem.reading import page_start, read_page
from goliath_local.filesystem.search import Page, Source, glob_page, grep_page
from goliath_local.tools import Tool, ToolContext, define_tool

if TYPE_CHECKING:
    from goliath_local.records import Json

BackendFor: TypeAlias = Callable[[ToolContext], Eventually[FileBackend]]
Input: TypeAlias = Mapping[str, Any]

GREP_PATTERN_CHARS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Filesystem:
    """Virtual files as tools for an agent."""

    tools: Mapping[str, Tool]
    """The tools by name: what `create_agent` takes as `tools`."""


def create_filesystem(
    *,
    backend: FileBackend | BackendFor | None = None,
    root: str = "/",
    read_only: bool = True,
    tools: Sequence[str] | None = None,
    read: Mapping[str, int] | None = None,
    search: Mapping[str, int] | None = None,
) -> Filesystem:
    """Return tools over virtual files.

    Args:
        backend: where the files are, or a function that says so for a tool context, asked at
            each call; empty files in memory if left out.
        root: the folder that all tools are confined to; paths stay absolute.
        read_only: leave out the tools that change files.
        tools: names of the tools to have; those that `read_only` leaves if left out.
        read: `max_lines` (1 to 1000, 200) and `default_lines` (25) of one read.
        search: `max_matches` (1 to 100, 10) and `max_files` (1 to 1024, 128) of one page.

    Raises:
        ConfigError: an option is unknown, out of range, or contradicts another.
        FileError: the root is not a virtual path.
    """
    names = read_tool_names(tools, read_only=read_only)
    place = in_memory_filesystem() if backend is None else backend
    if _is_backend(place) and not is_writable(place) and set(names) & set(WRITE_TOOLS):
        raise ConfigError("This back end can only be read. Leave out the tools that change files.")
    limits = read_limits(read, search)
    calls = _Calls(place, root=virtual_path(root), limits=limits)
    declared = declarations(max_lines=limits.max_lines)
    made = {
        name: define_tool(
            name=name,
            description=declared[name].description,
            parameters=declared[name].parameters,
            execute=getattr(calls, name),
            writes=declared[name].writes,
            requires_confirmation=declared[name].writes,
            output_mode="summary" if declared[name].writes else "content",
            to_model_output=declared[name].render,
            preview=calls.preview if declared[name].writes and calls.has_preview else None,
        )
        for name in names
    }
    return Filesystem(tools=MappingProxyType(made))


class _Calls:
    """What each tool runs; shares one table of cursors."""

    def __init__(self, backend: FileBackend | BackendFor, *, root: str, limits: Limits) -> None:
        self._backend = backend
        self._root = root
        self._limits = limits
        self._cursors = Cursors()

    async def glob(self, given: Input, context: ToolContext) -> dict[str, Json]:
        pattern = given["pattern"]
        glob = read_glob(pattern)
        query = Query(tool="glob", root=self._root, pattern=pattern)
        start = self._cursors.resolve(given.get("cursor"), query) or START
        base = self._overlap(virtual_path(glob.base))
        if base is None:
            return {"matches": [], "nextCursor": None}
        source = await self._source(base, context)
        return await glob_page(
            source, query, glob=glob, start=start, page=self._page(context), cursors=self._cursors
        )

    async def grep(self, given: Input, context: ToolContext) -> dict[str, Json]:
        pattern = given["pattern"]
        if not 1 <= len(pattern) <= GREP_PATTERN_CHARS:
            reason = f"a text to look for has 1 to {GREP_PATTERN_CHARS} characters."
            raise FileError("grep", reason)
        base = confined(virtual_path(given.get("path") or self._root), self._root)
        ignore_case = given.get("ignoreCase")
        query = Query(
            tool="grep", root=base, pattern=pattern, ignore_case=ignore_case in {None, True}
        )
        start = self._cursors.resolve(given.get("cursor"), query) or START
        source = await self._source(base, context)
        return await grep_page(
            source, query, start=start, page=self._page(context), cursors=self._cursors
        )

    async def read_file(self, given: Input, context: ToolContext) -> dict[str, Json]:
        path = confined(file_path(given["path"]), self._root)
        offset, limit = given.get("offset") or 0, given.get("limit")
        limit = self._limits.default_lines if limit is None else limit
        if offset < 0 or not 1 <= limit <= self._limits.max_lines:
            reason = f"offset is 0 or more, limit is 1 to {self._limits.max_lines}."
            raise FileError(path, reason)
        query = Query(tool="read_file", root=path)
        paused = self._cursors.resolve(given.get("cursor"), query)
        source = await self._source(path, context)
        file = await source.read(path)
        start = page_start(file, offset=offset, paused=paused)
        return read_page(
            file, query, start, limit=limit, room=room_of(context), cursors=self._cursors
        )

    async def write_file(self, given: Input, context: ToolContext) -> dict[str, Json]:
        path = confined(file_path(given["path"]), self._root)
        revision = given.get("revision")
        backend = await self._resolved(context)
        return await write_file(
            backend, path, given["content"], revision=None if is_blank(revision) else revision
        )

    async def edit_file(self, given: Input, context: ToolContext) -> dict[str, Json]:
        path = confined(file_path(given["path"]), self._root)
        return await edit_file(
            await self._resolved(context),
            path,
            revision=given["revision"],
            old_text=given["old_text"],
            new_text=given["new_text"],
        )

    async def delete_file(self, given: Input, context: ToolContext) -> dict[str, Json]:
        path = confined(file_path(given["path"]), self._root)
        backend = await self._resolved(context)
        return await delete_file(backend, path, revision=given["revision"])

    @property
    def has_preview(self) -> bool:
        """True when the back end is known without a turn's context."""
        return _is_backend(self._backend)

    async def preview(self, given: Input) -> str:
        """Return what a change to the file would do."""
        path = confined(file_path(given["path"]), self._root)
        return await preview_change(cast("FileBackend", self._backend), path, given)

    async def _resolved(self, context: ToolContext) -> FileBackend:
        if _is_backend(self._backend):
            return cast("FileBackend", self._backend)
        return await settled(cast("BackendFor", self._backend)(context))

    async def _source(self, base: str, context: ToolContext) -> Source:
        cancel = getattr(context, "cancel", None)
        return Source(backend=await self._resolved(context), base=base, cancel=cancel)

    def _page(self, context: ToolContext) -> Page:
        return Page(
            room=room_of(context),
            max_matches=self._limits.max_matches,
            max_files=self._limits.max_files,
        )

    def _overlap(self, base: str) -> str | None:
        """Return where a search from `base` has to look within the root; None for nowhere."""
        if within(base, self._root):
            return base
        return self._root if within(self._root, base) else None


def _is_backend(value: object) -> bool:
    return callable(getattr(value, "read", None)) and callable(getattr(value, "list", None))
