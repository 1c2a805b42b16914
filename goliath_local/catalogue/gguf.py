"""The header of a GGUF file: what it says of itself, and whether the file holds what it says.

Pure values. `gguf_reader` reads them; it refuses what is not sound, so that llama.cpp only ever
sees a file whose every tensor lies inside it. Source: the GGUF specification of the ggml project.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

KV_CACHE_BYTES = 2
"""Bytes of one number in the KV cache: half precision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedArray:
    """A long array, walked over and checked but not kept: tokens, scores, merges."""

    element_type: int
    """The GGUF value type, 8 for strings."""

    count: int
    offset_bytes: int
    """Where its first element begins in the file."""


Scalar: TypeAlias = bool | int | float | str
Value: TypeAlias = Scalar | tuple[Scalar, ...] | SkippedArray


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorInfo:
    """One tensor as the header declares it."""

    name: str
    shape: tuple[int, ...]
    """Numbers along each dimension, the fastest first."""

    ggml_type: int
    offset_bytes: int
    """From the start of the tensor data."""

    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
    """A sound header."""

    version: int
    metadata: Mapping[str, Value]
    tensors: tuple[TensorInfo, ...]
    alignment_bytes: int
    data_offset_bytes: int
    """Where the tensor data begins in the file."""

    file_bytes: int

    @property
    def architecture(self) -> str:
        """The model family, `llama` or `qwen2`; empty when the file does not say."""
        return self._text("general.architecture")

    @property
    def trained_window_tokens(self) -> int | None:
        """The window the model was trained on, None when the file does not say."""
        return self._number("context_length")

    @property
    def chat_template(self) -> str | None:
        """The template's source, None when there is none."""
        return self._text("tokenizer.chat_template") or None

    @property
    def template_sha256(self) -> str | None:
        """The hash of the template's source, None when there is none."""
        template = self.chat_template
        return hashlib.sha256(template.encode()).hexdigest() if template else None

    @property
    def vocabulary_size(self) -> int | None:
        """How many tokens the tokenizer has, None when the file does not say."""
        tokens = self.metadata.get("tokenizer.ggml.tokens")
        match tokens:
            case SkippedArray(count=count):
                return count
            case tuple():
                return len(tokens)
            case _:
                return None

    @property
    def kv_bytes_per_token(self) -> int | None:
        """Layers * KV heads * head size * 2 * 2 bytes; None when the file does not say.

        A file may give the KV heads layer by layer.
        """
        layers, heads = self._number("block_count"), self._number("attention.head_count")
        if layers is None or not heads:
            return None
        per_layer = self.metadata.get(f"{self.architecture}.attention.head_count_kv", heads)
        match per_layer:
            case int():
                kv_heads = layers * per_layer
            case tuple():
                kv_heads = sum(count for count in per_layer if isinstance(count, int))
            case _:
                return None
        both = self._head_size("key_length", heads) + self._head_size("value_length", heads)
        return kv_heads * both * KV_CACHE_BYTES

    def _head_size(self, key: str, heads: int) -> int:
        explicit = self._number(f"attention.{key}")
        return (
            explicit if explicit is not None else (self._number("embedding_length") or 0) // heads
        )

    def _number(self, key: str) -> int | None:
        value = self.metadata.get(f"{self.architecture}.{key}")
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def _text(self, key: str) -> str:
        value = self.metadata.get(key)
        return value if isinstance(value, str) else ""
