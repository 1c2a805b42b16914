"""Reads the header of a GGUF file and refuses what is not sound, in words.

Edge: reads the first megabytes of a file. Long arrays are walked over, not kept, so that a
vocabulary of 150,000 tokens costs a tenth of a second and one buffer. Limits come first and
reading after: nothing is allocated because a file asks for it.
"""

from __future__ import annotations

import stat
import struct
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from goliath_local.catalogue.ggml_types import BLOCKS
from goliath_local.catalogue.gguf import GgufHeader, Scalar, SkippedArray, TensorInfo, Value
from goliath_local.errors import BadModelFile, NoModel

if TYPE_CHECKING:
    from pathlib import Path

_BUFFER_BYTES = 1 << 20
_STRING_LIMIT_BYTES = 1 << 20
_TEMPLATE_LIMIT_BYTES = 8 << 20
_KEY_LIMIT_BYTES = (1 << 16) - 1
_ARRAY_LIMIT = 4 << 20
_KEPT_ARRAY = 1024
_KEPT_TEXT_LIMIT_BYTES = 16 << 20
_ALIGNMENT_LIMIT = 4096
_COUNT_LIMIT = 1 << 16
_DIMENSIONS_LIMIT = 4
_MODEL_LIMIT_BYTES = 1 << 50

_STRING, _ARRAY = 8, 9
_SCALARS = {
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
_U32, _U64 = _SCALARS[4], _SCALARS[10]
_LONG_STRINGS = ("tokenizer.chat_template", "tokenizer.ggml.merges")
_AGAIN = "Get the file again."


class _Unsound(Exception):
    """Carries the reason up to the one place that knows the file's path."""


def _refuse(reason: str) -> NoReturn:
    raise _Unsound(reason)


def read_gguf_header(path: Path) -> GgufHeader:
    """Return the header of a GGUF file, with every tensor checked to lie inside the file.

    Raises:
        NoModel: there is nothing at the path.
        BadModelFile: it is not a sound GGUF; the message says in words what it is instead.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise BadModelFile(path, "is a directory, not a model file. Give the .gguf inside it.")
        if not stat.S_ISREG(status.st_mode):
            raise BadModelFile(path, "is not a regular file. Give a .gguf file.")
        with path.open("rb", buffering=0) as file:
            return _read(_Reader(file, status.st_size))
    except FileNotFoundError as error:
        msg = f"There is no file {path}. See: goliath-local models list"
        raise NoModel(msg) from error
    except OSError as error:
        raise BadModelFile(
            path, f"cannot be read ({error.strerror}). Look at its permissions and the disk."
        ) from error
    except _Unsound as error:
        raise BadModelFile(path, str(error)) from error


def _read(reader: _Reader) -> GgufHeader:
    _verify_beginning(reader)
    version = _read_version(reader)
    tensor_count = reader.count(_COUNT_LIMIT, "tensors")
    key_count = reader.count(_COUNT_LIMIT, "metadata entries")
    metadata = _read_metadata(reader, key_count)
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or not _is_alignment(alignment):
        _refuse(f"is damaged: its alignment is {alignment!r}. {_AGAIN}")
    tensors = tuple(_read_tensor(reader, alignment) for _ in range(tensor_count))
    data_offset = -(-reader.position // alignment) * alignment
    _verify_tensors(tensors, data_offset, reader.file_bytes)
    return GgufHeader(
        version=version,
        metadata=MappingProxyType(metadata),
        tensors=tensors,
        alignment_bytes=alignment,
        data_offset_bytes=data_offset,
        file_bytes=reader.file_bytes,
    )


def _verify_beginning(reader: _Reader) -> None:
    if reader.file_bytes == 0:
        _refuse(f"is an empty file. {_AGAIN}")
    magic = reader.take(min(4, reader.file_bytes))
    if magic == b"GGUF":
        return
    begin = (magic + reader.take(min(60, reader.file_bytes - len(magic)))).lstrip()
    if begin.startswith(b"<"):
        shown = begin.split(b" ")[0].split(b">")[0][:9].decode("ascii", "replace")
        _refuse(
            f'starts with "{_plain(shown)}": a web page, not a model. '
            "Was it saved from a login page?"
        )
    if begin.startswith(b"version https://git-lfs"):
        _refuse("is a Git LFS pointer, not the model itself. Fetch it with git lfs pull.")
    shown = _plain(magic.decode("ascii", "replace"))
    _refuse(f'starts with "{shown}" where a model starts with "GGUF". {_AGAIN}')


def _read_version(reader: _Reader) -> int:
    version = int(reader.number(_U32))
    if version in {2, 3}:
        return version
    if version in {2 << 24, 3 << 24}:
        _refuse("is a big-endian GGUF. Get the little-endian file.")
    _refuse(f"is GGUF version {version}; versions 2 and 3 can be read. Get a newer file.")


def _read_metadata(reader: _Reader, count: int) -> dict[str, Value]:
    metadata: dict[str, Value] = {}
    for _ in range(count):
        key = reader.text(_KEY_LIMIT_BYTES, "a metadata key")
        if not key or key in metadata:
            _refuse(f"is damaged: the key {key[:80]!r} is blank or there twice. {_AGAIN}")
        metadata[key] = _read_value(reader, key)
    return metadata


def _read_value(reader: _Reader, key: str) -> Value:
    kind = int(reader.number(_U32))
    limit = _TEMPLATE_LIMIT_BYTES if key in _LONG_STRINGS else _STRING_LIMIT_BYTES
    if kind == _STRING:
        return reader.text(limit, key)
    if kind == _ARRAY:
        return _read_array(reader, key, limit)
    return reader.number(_scalar(kind, key))


def _read_array(reader: _Reader, key: str, limit: int) -> Value:
    kind = int(reader.number(_U32))
    count = reader.count(_ARRAY_LIMIT, f"elements in {key}")
    offset = reader.position
    if kind == _STRING:
        if count <= _KEPT_ARRAY and key.startswith("general."):
            return tuple(reader.text(limit, key) for _ in range(count))
        reader.skip_strings(count, limit, key)
        return SkippedArray(element_type=kind, count=count, offset_bytes=offset)
    packed = _scalar(kind, key)
    if count <= _KEPT_ARRAY:
        return tuple(reader.number(packed) for _ in range(count))
    reader.skip(packed.size * count)
    return SkippedArray(element_type=kind, count=count, offset_bytes=offset)


def _scalar(kind: int, key: str) -> struct.Struct:
    if kind not in _SCALARS:
        _refuse(f"is damaged: {key[:80]!r} has the value type {kind}. {_AGAIN}")
    return _SCALARS[kind]


def _read_tensor(reader: _Reader, alignment: int) -> TensorInfo:
    name = reader.text(_KEY_LIMIT_BYTES, "a tensor's name")
    dimensions = int(reader.number(_U32))
    if not 1 <= dimensions <= _DIMENSIONS_LIMIT:
        _refuse(f"is damaged: tensor {name[:80]!r} has {dimensions} dimensions. {_AGAIN}")
    shape = tuple(int(reader.number(_U64)) for _ in range(dimensions))
    kind, offset = int(reader.number(_U32)), int(reader.number(_U64))
    if kind not in BLOCKS:
        _refuse(f"has a tensor of type {kind}, which is unknown here. Get another file.")
    if offset % alignment:
        _refuse(f"is damaged: tensor {name[:80]!r} begins at {offset}. {_AGAIN}")
    size = _tensor_bytes(shape, kind, name)
    return TensorInfo(name=name, shape=shape, ggml_type=kind, offset_bytes=offset, size_bytes=size)


def _tensor_bytes(shape: tuple[int, ...], kind: int, name: str) -> int:
    numbers_per_block, block_bytes = BLOCKS[kind]
    numbers = 1
    for length in shape:
        numbers *= length
    if not 0 < numbers < _MODEL_LIMIT_BYTES or shape[0] % numbers_per_block:
        _refuse(f"is damaged: tensor {name[:80]!r} has the shape {shape}. {_AGAIN}")
    return numbers // numbers_per_block * block_bytes


def _verify_tensors(tensors: tuple[TensorInfo, ...], data_offset: int, file_bytes: int) -> None:
    if len({tensor.name for tensor in tensors}) < len(tensors):
        _refuse(f"is damaged: it names a tensor twice. {_AGAIN}")
    end = max((tensor.offset_bytes + tensor.size_bytes for tensor in tensors), default=0)
    if tensors and data_offset + end > file_bytes:
        _refuse(
            f"is cut short: it has {file_bytes:,} bytes and its tensors need "
            f"{data_offset + end:,}. {_AGAIN}"
        )


def _is_alignment(value: int) -> bool:
    return 8 <= value <= _ALIGNMENT_LIMIT and value & (value - 1) == 0


def _plain(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text)


class _Reader:
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
        self._strings_left = _ARRAY_LIMIT
        self._text_left = _KEPT_TEXT_LIMIT_BYTES
        self.file_bytes = file_bytes

    @property
    def position(self) -> int:
        return self._buffer_start + self._at

    def take(self, size: int) -> bytes:
        """Return the next bytes and step over them."""
        self._ensure(size)
        begin, self._at = self._at, self._at + size
        return self._buffer[begin : self._at]

    def number(self, packed: struct.Struct) -> Scalar:
        self._ensure(packed.size)
        value: Scalar = packed.unpack_from(self._buffer, self._at)[0]
        self._at += packed.size
        return value

    def count(self, limit: int, what: str) -> int:
        value = int(self.number(_U64))
        if value > limit:
            _refuse(f"is damaged: it says it has {value:,} {what[:100]}. {_AGAIN}")
        return value

    def text(self, limit: int, what: str) -> str:
        size = int(self.number(_U64))
        self._verify_string(size, min(limit, self._text_left), what)
        self._text_left -= size
        try:
            return self.take(size).decode()
        except UnicodeDecodeError:
            _refuse(f"is damaged: {what[:80]} is not sound text. {_AGAIN}")

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
        unpack = _U64.unpack_from
        self._strings_left -= count
        if self._strings_left < 0:
            _refuse(f"is damaged: it has too many strings, up to {what[:80]}. {_AGAIN}")
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
            _refuse(f"is damaged: {what[:80]} is {size:,} bytes long. {_AGAIN}")

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
        _refuse(
            f"is cut short: it ends at {self.file_bytes:,} bytes, inside its own header. {_AGAIN}"
        )
