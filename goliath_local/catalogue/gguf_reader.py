"""Reads the header of a GGUF file and refuses what is not sound, in words.

Edge: reads the first megabytes of a file. Long arrays are walked over, not kept, so that a
vocabulary of 150,000 tokens costs a tenth of a second and one buffer. Limits come first and
reading after: nothing is allocated because a file asks for it.
"""

from __future__ import annotations

import stat
from types import MappingProxyType
from typing import TYPE_CHECKING

from goliath_local.catalogue.ggml_types import BLOCKS
from goliath_local.catalogue.gguf import GgufHeader, SkippedArray, TensorInfo, Value
from goliath_local.catalogue.gguf_cursor import (
    AGAIN,
    ARRAY_LIMIT,
    SCALARS,
    U32,
    U64,
    Cursor,
    Unsound,
    refuse,
)
from goliath_local.errors import BadModelFile, NoModel

if TYPE_CHECKING:
    import struct
    from pathlib import Path

_STRING_LIMIT_BYTES = 1 << 20
_TEMPLATE_LIMIT_BYTES = 8 << 20
_KEY_LIMIT_BYTES = (1 << 16) - 1
_KEPT_ARRAY = 1024
_ALIGNMENT_LIMIT = 4096
_COUNT_LIMIT = 1 << 16
_DIMENSIONS_LIMIT = 4
_MODEL_LIMIT_BYTES = 1 << 50

_STRING, _ARRAY = 8, 9
_LONG_STRINGS = ("tokenizer.chat_template", "tokenizer.ggml.merges")


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
            return _read(Cursor(file, status.st_size))
    except FileNotFoundError as error:
        msg = f"There is no file {path}. See: goliath-local models list"
        raise NoModel(msg) from error
    except OSError as error:
        raise BadModelFile(
            path, f"cannot be read ({error.strerror}). Look at its permissions and the disk."
        ) from error
    except Unsound as error:
        raise BadModelFile(path, str(error)) from error


def _read(cursor: Cursor) -> GgufHeader:
    _verify_beginning(cursor)
    version = _read_version(cursor)
    tensor_count = cursor.count(_COUNT_LIMIT, "tensors")
    key_count = cursor.count(_COUNT_LIMIT, "metadata entries")
    metadata = _read_metadata(cursor, key_count)
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or not _is_alignment(alignment):
        refuse(f"is damaged: its alignment is {alignment!r}. {AGAIN}")
    tensors = tuple(_read_tensor(cursor, alignment) for _ in range(tensor_count))
    data_offset = -(-cursor.position // alignment) * alignment
    _verify_tensors(tensors, data_offset, cursor.file_bytes)
    return GgufHeader(
        version=version,
        metadata=MappingProxyType(metadata),
        tensors=tensors,
        alignment_bytes=alignment,
        data_offset_bytes=data_offset,
        file_bytes=cursor.file_bytes,
    )


def what_it_is_instead(begin: bytes) -> str | None:
    """Return in words what a file is that begins so, when it is a page or pointer, not a model."""
    begin = begin.lstrip()
    if begin.startswith(b"<"):
        tag = begin.split(b" ")[0].split(b">")[0][:9].decode("ascii", "replace")
        return (
            f'starts with "{_plain(tag)}": a web page, not a model. '
            "Was it saved from a login page?"
        )
    if begin.startswith(b"version https://git-lfs"):
        return "is a Git LFS pointer, not the model itself. Fetch it with git lfs pull."
    return None


def _verify_beginning(cursor: Cursor) -> None:
    if cursor.file_bytes == 0:
        refuse(f"is an empty file. {AGAIN}")
    magic = cursor.take(min(4, cursor.file_bytes))
    if magic == b"GGUF":
        return
    begin = magic + cursor.take(min(60, cursor.file_bytes - len(magic)))
    if instead := what_it_is_instead(begin):
        refuse(instead)
    shown = _plain(magic.decode("ascii", "replace"))
    refuse(f'starts with "{shown}" where a model starts with "GGUF". {AGAIN}')


def _read_version(cursor: Cursor) -> int:
    version = int(cursor.number(U32))
    if version in {2 << 24, 3 << 24}:
        refuse("is a big-endian GGUF. Get the little-endian file.")
    if version not in {2, 3}:
        refuse(f"is GGUF version {version}; versions 2 and 3 can be read. Get a newer file.")
    return version


def _read_metadata(cursor: Cursor, count: int) -> dict[str, Value]:
    metadata: dict[str, Value] = {}
    for _ in range(count):
        key = cursor.text(_KEY_LIMIT_BYTES, "a metadata key")
        if not key or key in metadata:
            refuse(f"is damaged: the key {key[:80]!r} is blank or there twice. {AGAIN}")
        metadata[key] = _read_value(cursor, key)
    return metadata


def _read_value(cursor: Cursor, key: str) -> Value:
    kind = int(cursor.number(U32))
    limit = _TEMPLATE_LIMIT_BYTES if key in _LONG_STRINGS else _STRING_LIMIT_BYTES
    if kind == _STRING:
        return cursor.text(limit, key)
    if kind == _ARRAY:
        return _read_array(cursor, key, limit)
    return cursor.number(_scalar(kind, key))


def _read_array(cursor: Cursor, key: str, limit: int) -> Value:
    kind = int(cursor.number(U32))
    count = cursor.count(ARRAY_LIMIT, f"elements in {key}")
    offset = cursor.position
    if kind == _STRING:
        if count <= _KEPT_ARRAY and key.startswith("general."):
            return tuple(cursor.text(limit, key) for _ in range(count))
        cursor.skip_strings(count, limit, key)
        return SkippedArray(element_type=kind, count=count, offset_bytes=offset)
    packed = _scalar(kind, key)
    if count <= _KEPT_ARRAY:
        return tuple(cursor.number(packed) for _ in range(count))
    cursor.skip(packed.size * count)
    return SkippedArray(element_type=kind, count=count, offset_bytes=offset)


def _scalar(kind: int, key: str) -> struct.Struct:
    if kind not in SCALARS:
        refuse(f"is damaged: {key[:80]!r} has the value type {kind}. {AGAIN}")
    return SCALARS[kind]


def _read_tensor(cursor: Cursor, alignment: int) -> TensorInfo:
    name = cursor.text(_KEY_LIMIT_BYTES, "a tensor's name")
    dimensions = int(cursor.number(U32))
    if not 1 <= dimensions <= _DIMENSIONS_LIMIT:
        refuse(f"is damaged: tensor {name[:80]!r} has {dimensions} dimensions. {AGAIN}")
    shape = tuple(int(cursor.number(U64)) for _ in range(dimensions))
    kind, offset = int(cursor.number(U32)), int(cursor.number(U64))
    if kind not in BLOCKS:
        refuse(f"has a tensor of type {kind}, which is unknown here. Get another file.")
    if offset % alignment:
        refuse(f"is damaged: tensor {name[:80]!r} begins at {offset}. {AGAIN}")
    size = _tensor_bytes(shape, kind, name)
    return TensorInfo(name=name, shape=shape, ggml_type=kind, offset_bytes=offset, size_bytes=size)


def _tensor_bytes(shape: tuple[int, ...], kind: int, name: str) -> int:
    numbers_per_block, block_bytes = BLOCKS[kind]
    numbers = 1
    for length in shape:
        numbers *= length
    if not 0 < numbers < _MODEL_LIMIT_BYTES or shape[0] % numbers_per_block:
        refuse(f"is damaged: tensor {name[:80]!r} has the shape {shape}. {AGAIN}")
    return numbers // numbers_per_block * block_bytes


def _verify_tensors(tensors: tuple[TensorInfo, ...], data_offset: int, file_bytes: int) -> None:
    if len({tensor.name for tensor in tensors}) < len(tensors):
        refuse(f"is damaged: it names a tensor twice. {AGAIN}")
    end = max((tensor.offset_bytes + tensor.size_bytes for tensor in tensors), default=0)
    if tensors and data_offset + end > file_bytes:
        refuse(
            f"is cut short: it has {file_bytes:,} bytes and its tensors need "
            f"{data_offset + end:,}. {AGAIN}"
        )


def _is_alignment(value: int) -> bool:
    return 8 <= value <= _ALIGNMENT_LIMIT and value & (value - 1) == 0


def _plain(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text)
