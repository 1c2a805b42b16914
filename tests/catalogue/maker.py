"""Writes small GGUF files and wheels, sound ones and others."""

from __future__ import annotations

import hashlib
import random
import struct
import zipfile
from typing import TYPE_CHECKING, Any

from goliath_local.catalogue import Card, HubSource
from goliath_local.catalogue.card import Package, PackagesSource, Source

if TYPE_CHECKING:
    from pathlib import Path

U8, U32, F32, BOOL, STRING, ARRAY, U64 = 0, 4, 6, 7, 8, 9, 10
REVISION = "0123456789abcdef0123456789abcdef01234567"


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def entry(key: str, kind: int, payload: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + payload


def strings(items: list[str]) -> bytes:
    return struct.pack("<IQ", STRING, len(items)) + b"".join(map(text, items))


def numbers(kind: int, form: str, items: list[Any]) -> bytes:
    return struct.pack("<IQ", kind, len(items)) + struct.pack(f"<{len(items)}{form}", *items)


def tensor(name: str, shape: tuple[int, ...], kind: int, offset: int) -> bytes:
    return (
        text(name)
        + struct.pack("<I", len(shape))
        + struct.pack(f"<{len(shape)}Q", *shape)
        + struct.pack("<IQ", kind, offset)
    )


METADATA = (
    entry("general.architecture", STRING, text("llama")),
    entry("general.languages", ARRAY, strings(["en", "de"])),
    entry("llama.block_count", U32, struct.pack("<I", 3)),
    entry("llama.context_length", U32, struct.pack("<I", 8192)),
    entry("llama.embedding_length", U32, struct.pack("<I", 576)),
    entry("llama.attention.head_count", U32, struct.pack("<I", 9)),
    entry("llama.attention.head_count_kv", U32, struct.pack("<I", 3)),
    entry("tokenizer.ggml.tokens", ARRAY, strings([f"t{n}" for n in range(2000)])),
    entry("tokenizer.ggml.scores", ARRAY, numbers(F32, "f", [0.5] * 2000)),
    entry("tokenizer.chat_template", STRING, text("{{ messages }}")),
    entry("general.tied", BOOL, b"\x01"),
)
TENSORS = (tensor("a.weight", (64, 300), 2, 0), tensor("b.weight", (32,), 0, 10816))
DATA_BYTES = 10816 + 128  # 64 * 300 numbers as Q4_0, padded to 32, and 32 floats


def gguf(
    *,
    magic: bytes = b"GGUF",
    version: int = 3,
    metadata: tuple[bytes, ...] = METADATA,
    tensors: tuple[bytes, ...] = TENSORS,
    counts: tuple[int, int] | None = None,
    data_bytes: int = DATA_BYTES,
) -> bytes:
    """Return a GGUF file, a sound one by default."""
    tensor_count, key_count = counts or (len(tensors), len(metadata))
    head = magic + struct.pack("<IQQ", version, tensor_count, key_count)
    head += b"".join(metadata) + b"".join(tensors)
    head += bytes(-len(head) % 32)
    return head + random.Random(7).randbytes(data_bytes)


def large_gguf(size_bytes: int = 600_000) -> bytes:
    """Return a sound GGUF of about that size, for transfers."""
    rows = size_bytes // 36
    return gguf(tensors=(tensor("a.weight", (64, rows), 2, 0),), data_bytes=rows * 36)


def card(content: bytes, *, sources: tuple[Source, ...] = (), **changes: Any) -> Card:
    """Return a card for the content, from the hub unless told otherwise."""
    values: dict[str, Any] = {
        "name": "tiny",
        "role": "general",
        "size_class": "1M",
        "file": "tiny.gguf",
        "size_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "licence": "Apache-2.0",
        "trained_window_tokens": 8192,
        "kv_bytes_per_token": 2304,
        "sources": sources
        or (HubSource(repository="some/repo", revision=REVISION, file="tiny.gguf"),),
    }
    return Card(**values | changes)


def packages(count: int) -> PackagesSource:
    return PackagesSource(
        packages=tuple(
            Package(name=f"carrier-part{n}", version="1.0", member=f"carrier/part{n}.bin")
            for n in range(1, count + 1)
        )
    )


def wheel(folder: Path, name: str, members: list[tuple[zipfile.ZipInfo | str, bytes]]) -> Path:
    """Write a wheel pip will take, with those members."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = name.replace("-", "_")
    path = folder / f"{plain}-1.0-py3-none-any.whl"
    info = f"{plain}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"{info}/RECORD", "")
        for member, data in members:
            archive.writestr(member, data)
    return path


def wheels(folder: Path, content: bytes, count: int) -> PackagesSource:
    """Write wheels that carry the content in parts, and return the source."""
    size = -(-len(content) // count)
    source = packages(count)
    for n, package in enumerate(source.packages):
        data = content[n * size : (n + 1) * size]
        wheel(folder, package.name, [("../out.txt", b"no"), (package.member, data)])
    return source
