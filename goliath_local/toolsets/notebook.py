"""A folder of Markdown files as notes. Edge: disk.

A note is a `.md` file; its title is its path in the folder, without the ending. What is read goes
through the read-only view of a folder, what is written is opened step by step from it: no link is
followed in either, so nothing outside is touched. Nothing is deleted or overwritten.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from goliath_local.errors import FileError, StorageError
from goliath_local.filesystem import folder_filesystem
from goliath_local.toolsets.note_text import file_name, joined, match, meant, unknown
from goliath_local.typed_paths import typed_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

MOST_NOTES = 2000
MAX_TEXT_CHARACTERS = 20_000
_ENDING = ".md"
_PAGE = 256
_TAIL_BYTES = 2048
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class Notebook:
    """The notes of one folder, which is made when it is not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = typed_path(folder)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            msg = f"The folder {folder} cannot be made: {error.strerror}. Name another one."
            raise StorageError(msg) from error
        self._files = folder_filesystem(self._folder)

    async def titles(self) -> tuple[str, ...]:
        """Return the titles in order, at most 2,000."""
        found: list[str] = []
        after: str | None = None
        while len(found) < MOST_NOTES:
            page = await self._files.list("/", after=after, limit=_PAGE)
            found += [
                file.path[1:].removesuffix(_ENDING)
                for file in page.files
                if file.path.endswith(_ENDING)
            ]
            after = page.next
            if after is None:
                break
        return tuple(found[:MOST_NOTES])

    async def meant(self, title: str) -> str:
        """Return the exact title of the note that is meant.

        Raises:
            LookupError: none is, or several could be.
        """
        titles = await self.titles()
        found = meant(title, titles)
        if found is None:
            raise unknown(title, titles)
        return found

    async def read(self, title: str) -> str:
        """Return the text of the note that is meant. Raises `LookupError`."""
        exact = await self.meant(title)
        return (await self._files.read(f"/{exact}{_ENDING}")).content

    async def find(self, words: Sequence[str]) -> list[tuple[str, str]]:
        """Return title and best line of the notes that match, the best first."""
        ranked: list[tuple[int, str, str]] = []
        for title in await self.titles():
            try:
                text = (await self._files.read(f"/{title}{_ENDING}")).content
            except FileError:
                # Gone by now, or no text: its title can still match.
                text = ""
            score, line = match(words, title, text)
            if score:
                ranked.append((-score, title, line))
        return [(title, line) for _, title, line in sorted(ranked)]

    async def create(self, title: str, text: str) -> str:
        """Write a new note and return its title.

        Raises:
            ValueError: the title is blank, too long or taken, or the text too long.
        """
        name = file_name(title)
        plain = name.removesuffix(_ENDING)
        if any(one.casefold() == plain.casefold() for one in await self.titles()):
            msg = f'There is a note "{plain}" already. Use add_to_note to add to it.'
            raise ValueError(msg)
        content = f"# {plain}\n\n{_checked(text)}\n"
        await asyncio.to_thread(self._write_new, name, content)
        return plain

    async def append(self, title: str, text: str) -> str:
        """Write a text behind the note that is meant and return its title.

        Raises:
            LookupError: no single note is meant.
            ValueError: the text is blank or too long.
        """
        exact = await self.meant(title)
        await asyncio.to_thread(self._append, f"{exact}{_ENDING}", _checked(text))
        return exact

    def _write_new(self, name: str, content: str) -> None:
        with self._opened([]) as folder:
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | _NO_LINK
            file = os.open(name, flags, 0o600, dir_fd=folder)
            with os.fdopen(file, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(content)

    def _append(self, path: str, text: str) -> None:
        *folders, name = path.split("/")
        with self._opened(folders) as folder:
            file = os.open(name, os.O_RDWR | os.O_APPEND | _NO_LINK, dir_fd=folder)
            with os.fdopen(file, "r+b", buffering=0) as stream:
                end = stream.seek(0, os.SEEK_END)
                stream.seek(max(0, end - _TAIL_BYTES))
                tail = stream.read(_TAIL_BYTES).decode("utf-8", "replace")
                stream.write(joined(tail, text).encode())

    @contextmanager
    def _opened(self, folders: Sequence[str]) -> Iterator[int]:
        here = os.open(self._folder, _FOLDER)
        try:
            for name in folders:
                inner = os.open(name, _FOLDER | _NO_LINK, dir_fd=here)
                os.close(here)
                here = inner
            yield here
        finally:
            os.close(here)


def _checked(text: str) -> str:
    if not text.strip():
        raise ValueError("The text is blank. Ask the user what is to be written.")
    if len(text) > MAX_TEXT_CHARACTERS:
        msg = f"The text has {len(text):,} characters. At most {MAX_TEXT_CHARACTERS:,} go at once."
        raise ValueError(msg)
    return text.strip()
