"""A place in a GGUF file: steps over numbers, texts and arrays, never past the file's end.

Edge: reads a file through one buffer. Limits come first and reading after: nothing is allocated
because a file asks for it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, BinaryIO, Final, NoReturn

if TYPE_CHECKING:
    from goliath_local.catalogue.gguf import Scalar

ARRAY_LIMIT: Final = 4 << 20
AGAIN: Final = "Get the file again."
SCALARS: Final = {
    0: struct.Struct("<B"),
    1: struct.Struct("<b"),
    2: struct.Struct("<H"),
    3: struct.Struct("<h"),
    4: struct.Struct("<I"),
    5: struct.Struct("<i"),
    6: struct.Struct("<f"),
    7: struct.Struct("<?"),
    10: struct.Struct("<Q"),
    11: struct.Struct("<q"),
    12: struct.Struct("<d"),
}
"""GGUF value type -> how it is packed."""

U32, U64 = SCALARS[4], SCALARS[10]
_BUFFER_BYTES = 1 << 20
_KEPT_TEXT_LIMIT_BYTES = 16 << 20


class Unsound(Exception):
    """Carries the reason up to the one place that knows the file's path."""


def refuse(reason: str) -> NoReturn:
    """Raise `Unsound`; `reason` continues a sentence that begins with the file's name."""
    raise Unsound(reason)


class Cursor:
    """A place in a file, with a buffer; every step is checked against the file's end."""

    __slots__ = (
        "_at",
        "_buffer",
        "_buffer_start",
        "_file",
        "_strings_left",
        "_text_left",
        "file_bytes",
    )

    def __init__(self, file: BinaryIO, file_bytes: int) -> None:
        self._file = file
        self._buffer = b""
        self._buffer_start = 0
        self._at = 0
        # Whole-file budgets: each array and text may be sound and all of them too much.
        self._strings_left = ARRAY_LIMIT
        self._text_left = _KEPT_TEXT_LIMIT_BYTES
        self.file_bytes = file_bytes

    @property
    def position(self) -> int:
        """Bytes from the start of the file."""
        return self._buffer_start + self._at

    def take(self, size: int) -> bytes:
        """Return the next bytes and step over them."""
        self._ensure(size)
        begin, self._at = self._at, self._at + size
        return self._buffer[begin : self._at]

    def number(self, packed: struct.Struct) -> Scalar:
        """Return the next number and step over it."""
        self._ensure(packed.size)
        value: Scalar = packed.unpack_from(self._buffer, self._at)[0]
        self._at += packed.size
        return value

    def count(self, limit: int, what: str) -> int:
        """Return the next count of something, if it is not a silly one."""
        value = int(self.number(U64))
        if value > limit:
            refuse(f"is damaged: it says it has {value:,} {what[:100]}. {AGAIN}")
        return value

    def text(self, limit: int, what: str) -> str:
        """Return the next string and step over it."""
        size = int(self.number(U64))
        self._verify_string(size, min(limit, self._text_left), what)
        self._text_left -= size
        try:
            return self.take(size).decode()
        except UnicodeDecodeError:
            refuse(f"is damaged: {what[:80]} is not sound text. {AGAIN}")

    def skip(self, size: int) -> None:
        """Step over bytes without reading them."""
        if self.position + size > self.file_bytes:
            self._refuse_as_short()
        target = self.position + size
        if self._at + size <= len(self._buffer):
            self._at += size
            return
        self._buffer, self._buffer_start, self._at = b"", target, 0

    def skip_strings(self, count: int, limit: int, what: str) -> None:
        """Step over strings, checking each length; the loop the reader's speed hangs on."""
        unpack = U64.unpack_from
        self._strings_left -= count
        if self._strings_left < 0:
            refuse(f"is damaged: it has too many strings, up to {what[:80]}. {AGAIN}")
        while count:
            self._ensure(8)
            buffer, at, last = self._buffer, self._at, len(self._buffer) - 8
            while count and at <= last:
                size = unpack(buffer, at)[0]
                if size > limit:
                    self._verify_string(size, limit, what)
                at += 8 + size
                count -= 1
            beyond = at - len(buffer)
            self._at = min(at, len(buffer))
            if beyond > 0:
                self.skip(beyond)

    def _verify_string(self, size: int, limit: int, what: str) -> None:
        if size > limit:
            refuse(f"is damaged: {what[:80]} is {size:,} bytes long. {AGAIN}")

    def _ensure(self, size: int) -> None:
        """Have the next bytes in the buffer."""
        if self._at + size <= len(self._buffer):
            return
        start = self.position
        if start + size > self.file_bytes:
            self._refuse_as_short()
        self._file.seek(start)
        chunks, have = [], 0
        while have < size:
            chunk = self._file.read(max(_BUFFER_BYTES, size - have))
            if not chunk:
                self._refuse_as_short()
            chunks.append(chunk)
            have += len(chunk)
        self._buffer, self._buffer_start, self._at = b"".join(chunks), start, 0

    def _refuse_as_short(self) -> NoReturn:
        refuse(
            f"is cut short: it ends at {self.file_bytes:,} bytes, inside its own header. {AGAIN}"
        )
