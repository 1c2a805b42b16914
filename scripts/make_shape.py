"""Writes a GGUF of a 3B model's shape with random 4-bit weights: speed and memory, no sense.

    python scripts/make_shape.py shape-3b.gguf --tokenizer qwen2.5-coder-1.5b
    goliath-local bench -m ./shape-3b.gguf --turn

Edge: reads an installed model for its tokenizer and template, writes a file of about 2 GB. What
comes out of it is noise; what it takes is what a model of this shape takes. Never committed.

The shape is that of a llama-like 3B: 36 layers of 2,560, 20 heads over 4 KV heads, 9,728 inside,
one matrix for embedding and output. Matrices are Q4_0, the shared embedding is Q6_K, as in usual
4-bit files; norms are 32-bit ones.
"""

from __future__ import annotations

import argparse
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from goliath_local.catalogue import locate_model, models_dir, read_gguf_header
from goliath_local.errors import GoliathError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goliath_local.catalogue import GgufHeader

_ALIGNMENT = 32
_F32, _Q4_0, _Q6_K = 0, 2, 14
_BLOCKS = {_F32: (1, 4), _Q4_0: (32, 18), _Q6_K: (256, 210)}
"""Numbers of a block, and its bytes. Source: ggml's type traits."""

_U32, _F32_KEY, _STRING = 4, 6, 8
_HEAD = 128
_ROWS_AT_ONCE = 1 << 14
_SCALE = 0.02
"""Standard deviation of the weights: large enough to compute with, small enough to stay finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of a llama-like model."""

    layers: int = 36
    width: int = 2560
    inside: int = 9728
    vocabulary: int
    window: int = 32_768

    @property
    def heads(self) -> int:
        """Attention heads, of 128 numbers each."""
        return self.width // _HEAD

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values: one for five, at least one."""
        return max(self.heads // 5, 1)

    @property
    def kv_width(self) -> int:
        """Numbers of a key, or a value, over all KV heads."""
        return _HEAD * self.kv_heads


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor that is to be written."""

    name: str
    shape: tuple[int, ...]
    """The fastest dimension first."""

    kind: int

    @property
    def size_bytes(self) -> int:
        """Bytes in the file."""
        numbers, size = _BLOCKS[self.kind]
        return int(np.prod(self.shape, dtype=np.int64)) // numbers * size


def tensors(shape: Shape) -> Iterator[Tensor]:
    """Yield all tensors of a model of that shape."""
    width, kv = shape.width, shape.kv_width
    yield Tensor(name="token_embd.weight", shape=(width, shape.vocabulary), kind=_Q6_K)
    for layer in range(shape.layers):
        for name, size, kind in (
            ("attn_norm", (width,), _F32),
            ("attn_q", (width, width), _Q4_0),
            ("attn_k", (width, kv), _Q4_0),
            ("attn_v", (width, kv), _Q4_0),
            ("attn_output", (width, width), _Q4_0),
            ("ffn_norm", (width,), _F32),
            ("ffn_gate", (width, shape.inside), _Q4_0),
            ("ffn_up", (width, shape.inside), _Q4_0),
            ("ffn_down", (shape.inside, width), _Q4_0),
        ):
            yield Tensor(name=f"blk.{layer}.{name}.weight", shape=size, kind=kind)
    yield Tensor(name="output_norm.weight", shape=(width,), kind=_F32)


def metadata(shape: Shape) -> list[tuple[str, int, Any]]:
    """Return our own entries: key, GGUF type, value."""
    return [
        ("general.architecture", _STRING, "llama"),
        ("general.name", _STRING, "shape only, random weights"),
        ("general.file_type", _U32, 2),
        ("llama.block_count", _U32, shape.layers),
        ("llama.context_length", _U32, shape.window),
        ("llama.embedding_length", _U32, shape.width),
        ("llama.feed_forward_length", _U32, shape.inside),
        ("llama.attention.head_count", _U32, shape.heads),
        ("llama.attention.head_count_kv", _U32, shape.kv_heads),
        ("llama.rope.freq_base", _F32_KEY, 1_000_000.0),
        ("llama.attention.layer_norm_rms_epsilon", _F32_KEY, 1e-6),
        ("llama.vocab_size", _U32, shape.vocabulary),
    ]


def main() -> int:
    """Write the file."""
    options = _options()
    try:
        donor = locate_model(options.tokenizer, models_dir()).path
        header = read_gguf_header(donor)
    except GoliathError as error:
        print(error, file=sys.stderr)
        return 3
    shape = Shape(
        vocabulary=header.vocabulary_size or 0,
        layers=options.layers,
        width=options.width,
        inside=options.inside,
    )
    if shape.width % 256 or shape.inside % 256 or shape.heads % shape.kv_heads:
        print("--width and --inside have to be multiples of 256.", file=sys.stderr)
        return 2
    if options.file.exists() and not options.force:
        print(f"{options.file} is there already. Give --force to write it anew.", file=sys.stderr)
        return 2
    write_shape(options.file, shape, tokenizer_entries(donor, header), seed=options.seed)
    numbers = sum(int(np.prod(tensor.shape, dtype=np.int64)) for tensor in tensors(shape))
    size = options.file.stat().st_size
    print(f"{options.file}: {numbers / 1e9:.2f} B random weights, {size / 1e9:.2f} GB, shape only")
    return 0


def write_shape(
    path: Path, shape: Shape, entries: Sequence[tuple[str, bytes]], *, seed: int
) -> None:
    """Write a GGUF of that shape.

    Args:
        path: where.
        shape: the sizes.
        entries: metadata of another file, as key and raw bytes: the tokenizer and the template.
        seed: of the weights.
    """
    wanted = list(tensors(shape))
    own = metadata(shape)
    chance = np.random.default_rng(seed)
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, len(wanted), len(own) + len(entries)))
        for key, kind, value in own:
            file.write(_text(key) + struct.pack("<I", kind) + _packed(kind, value))
        for key, raw in entries:
            file.write(_text(key) + raw)
        offset = 0
        for tensor in wanted:
            dimensions = struct.pack(f"<I{len(tensor.shape)}Q", len(tensor.shape), *tensor.shape)
            file.write(_text(tensor.name) + dimensions + struct.pack("<IQ", tensor.kind, offset))
            offset += _aligned(tensor.size_bytes)
        file.write(b"\0" * (_aligned(file.tell()) - file.tell()))
        for tensor in wanted:
            _write_tensor(file, tensor, chance)


def tokenizer_entries(path: Path, header: GgufHeader) -> list[tuple[str, bytes]]:
    """Return the entries of a file's tokenizer as key and raw bytes, type included."""
    wanted = [key for key in header.metadata if key.startswith("tokenizer.")]
    with path.open("rb") as file:
        return [(key, _raw_entry(file, header, key)) for key in wanted]


def _raw_entry(file: BinaryIO, header: GgufHeader, key: str) -> bytes:
    """Find the key in the header's bytes and return what stands behind it, up to the next one.

    The header reader has checked every length, so the walk here needs no checks of its own.
    """
    file.seek(0)
    data = file.read(header.data_offset_bytes)
    start = data.index(_text(key)) + len(_text(key))
    (kind,) = struct.unpack_from("<I", data, start)
    return data[start : _end_of_value(data, start + 4, kind)]


def _end_of_value(data: bytes, at: int, kind: int) -> int:
    widths = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
    if kind in widths:
        return at + widths[kind]
    if kind == _STRING:
        (length,) = struct.unpack_from("<Q", data, at)
        return int(at + 8 + length)
    inner, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if inner in widths:
        return int(at + widths[inner] * count)
    for _ in range(count):
        at = _end_of_value(data, at, inner)
    return at


def _write_tensor(file: BinaryIO, tensor: Tensor, chance: np.random.Generator) -> None:
    before = file.tell()
    if tensor.kind == _F32:
        file.write(np.ones(tensor.shape, dtype=np.float32).tobytes())
    else:
        blocks = tensor.size_bytes // _BLOCKS[tensor.kind][1]
        fill = {_Q4_0: _random_q4_0, _Q6_K: _random_q6_k}[tensor.kind]
        for done in range(0, blocks, _ROWS_AT_ONCE):
            file.write(fill(min(_ROWS_AT_ONCE, blocks - done), chance))
    written = file.tell() - before
    file.write(b"\0" * (_aligned(written) - written))


def _random_q4_0(blocks: int, chance: np.random.Generator) -> bytes:
    """Return blocks of a half-precision scale and 32 numbers of 4 bits: scale * (number - 8)."""
    out = chance.integers(0, 256, (blocks, 18), dtype=np.uint8)
    scale = np.full(blocks, _SCALE / 4.6, dtype=np.float16)  # 4.6: deviation of 0..15
    out[:, :2] = scale.view(np.uint8).reshape(blocks, 2)
    return out.tobytes()


def _random_q6_k(blocks: int, chance: np.random.Generator) -> bytes:
    """Return blocks of 256 numbers of 6 bits, their 16 small scales, and one scale for all."""
    out = chance.integers(0, 256, (blocks, 210), dtype=np.uint8)
    out[:, 192:208] = 16
    scale = np.full(blocks, _SCALE / 16 / 18.5, dtype=np.float16)  # 18.5: deviation of 0..63
    out[:, 208:] = scale.view(np.uint8).reshape(blocks, 2)
    return out.tobytes()


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _packed(kind: int, value: Any) -> bytes:
    if kind == _STRING:
        return _text(value)
    return struct.pack("<I" if kind == _U32 else "<f", value)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, help="the GGUF that is written")
    parser.add_argument(
        "--tokenizer", default="qwen2.5-coder-1.5b", help="the installed model it is taken from"
    )
    parser.add_argument("--layers", type=int, default=Shape(vocabulary=0).layers)
    parser.add_argument("--width", type=int, default=Shape(vocabulary=0).width)
    parser.add_argument("--inside", type=int, default=Shape(vocabulary=0).inside)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
