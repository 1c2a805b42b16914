"""Text to token ids and back, by the model's own vocabulary.

Edge: native calls, but on memory that never changes, so any thread may ask while weights are
open. Bytes are exact in both directions.
"""

from __future__ import annotations

import ctypes
import re
import threading
from typing import TYPE_CHECKING, Final

import numpy as np

from goliath_local.errors import InvalidValue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goliath_local.engine.native.weights import Weights

# llama.cpp's token attributes: unknown 1, unused 2, normal 4, control 8, user-defined 16, byte 32.
_UNUSABLE: Final = 1 | 2
_NORMAL: Final = 4
_CONTROL: Final = 8
_USER_DEFINED: Final = 16

_MARK: Final = re.compile(rb"[<\[].*[^\W\d].*[>\]]", re.DOTALL)
"""What a user-defined token looks like that is more than a run of blanks: `<tool_call>`."""

_SAMPLES: Final = (
    *range(0xC0),  # every single byte, and every byte that continues
    *range(0xC0, 0x800, 0x40),  # every first byte of two, of three, of four
    *(code for code in range(0x800, 0x10000, 0x800) if not 0xD800 <= code < 0xE000),
    *range(0x10000, 0x110000, 0x10000),
)
"""Code points that between them have every byte of UTF-8."""


class Tokenizer:
    """One vocabulary."""

    def __init__(self, weights: Weights) -> None:
        self._library = weights.library
        self._vocab = weights.vocab
        self.path = weights.path
        self.size = int(self._library.llama_vocab_n_tokens(self._vocab))
        self._pieces: list[bytes] | None = None
        self._pieces_lock = threading.Lock()
        self._byte_ids: dict[int, int] | None = None
        library, vocab = self._library, self._vocab
        # One pass over the vocabulary, 60 ms; the few tokens that are not plain are asked again.
        attributes = [library.llama_vocab_get_attr(vocab, token) for token in range(self.size)]
        special = {token for token, kind in enumerate(attributes) if kind != _NORMAL}
        special |= {library.llama_vocab_eos(vocab), library.llama_vocab_eot(vocab)} - {-1}
        self.end_ids = frozenset(
            token for token in special if library.llama_vocab_is_eog(vocab, token)
        )
        self._control_ids = tuple(
            token for token in sorted(special) if attributes[token] & _CONTROL
        )
        self._silent_ids = self.end_ids.union(
            token for token in special if attributes[token] & (_CONTROL | _UNUSABLE)
        )
        self._marks = self._find_marks(attributes)
        self._spellable = self._find_spellable()

    @property
    def pieces(self) -> list[bytes]:
        """The bytes of every id; control tokens and unused ids have none. Read once, 0.2 s."""
        with self._pieces_lock:
            if self._pieces is None:
                buffer = ctypes.create_string_buffer(256)
                self._pieces = [self._read_piece(token, buffer) for token in range(self.size)]
            return self._pieces

    @property
    def start_id(self) -> int | None:
        """The id that every prompt of this model begins with, None when there is none."""
        if not self._library.llama_vocab_get_add_bos(self._vocab):
            return None
        token = int(self._library.llama_vocab_bos(self._vocab))
        return token if token >= 0 else None

    def control_texts(self) -> dict[str, int]:
        """Return every control token's text with its id."""
        return {self.control_text(token): token for token in self._control_ids}

    def text_of(self, token: object) -> str:
        """Return the spelling of an id read from metadata; empty when it is not one."""
        if not isinstance(token, int) or not 0 <= token < self.size:
            return ""
        return self.control_text(token)

    def control_text(self, token: int) -> str:
        """Return how the vocabulary spells a token, control tokens included."""
        text = self._library.llama_vocab_get_text(self._vocab, token)
        return (text or b"").decode("utf-8", "replace")

    def encode(self, text: str, *, control: bool) -> tuple[int, ...]:
        """Return the ids of a text; no start token is added.

        Args:
            text: any valid Unicode.
            control: read control tokens and marks out of the text; off for all but the
                template's own pieces. A mark such as `<tool_call>` is then spelled out.

        Raises:
            InvalidValue: the text has half of a surrogate pair.
        """
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            reason = (
                f"character {error.start} is half of a surrogate pair, which no text may hold; "
                "decode the text properly or remove it"
            )
            raise InvalidValue("", reason) from error
        data = self.spelled(data)
        if control or self._marks is None:
            return self._encode_utf8(data, control=control)
        ids: list[int] = []
        # llama.cpp reads user-defined tokens in any case; cut in two, none of them is there.
        for start, end in _pieces(data, self._marks):
            ids += self._encode_utf8(data[start:end], control=False)
        return tuple(ids)

    def spelled(self, data: bytes) -> bytes:
        """Return UTF-8 with U+FFFD for each character that this vocabulary has no bytes for.

        llama.cpp leaves such characters out without a word: SmolLM2 has no byte 0x04, nor 0xF1.
        """
        if not data.translate(None, self._spellable):
            return data
        return "".join(
            "\ufffd" if letter.encode().translate(None, self._spellable) else letter
            for letter in data.decode()
        ).encode()

    def encode_bytes(self, data: bytes) -> tuple[int, ...]:
        """Return the ids of bytes that may begin or end inside a character."""
        start = 0
        while start < min(len(data), 3) and data[start] & 0xC0 == 0x80:
            start += 1
        whole = data[start:].decode("utf-8", "ignore").encode()
        head, tail = data[:start], data[start + len(whole) :]
        byte_ids = self._ids_of_bytes() if head or tail else {}
        return (
            *(byte_ids[byte] for byte in head if byte in byte_ids),
            *self._encode_utf8(whole, control=False),
            *(byte_ids[byte] for byte in tail if byte in byte_ids),
        )

    def decode(self, ids: tuple[int, ...]) -> bytes:
        """Return the bytes of the ids, control tokens left out."""
        buffer = ctypes.create_string_buffer(256)
        return b"".join(self._read_piece(token, buffer) for token in ids)

    def _encode_utf8(self, data: bytes, *, control: bool) -> tuple[int, ...]:
        if not data:
            return ()
        room = len(data) + 2
        buffer = (ctypes.c_int32 * room)()
        count = self._library.llama_tokenize(
            self._vocab, data, len(data), buffer, room, False, control
        )
        return tuple(np.ctypeslib.as_array(buffer)[:count].tolist())

    def _find_marks(self, attributes: list[int]) -> re.Pattern[bytes] | None:
        """Return a pattern for the user-defined tokens that are marks; None without any."""
        read = self._library.llama_vocab_get_text
        texts = [
            bytes(read(self._vocab, token) or b"")
            for token, kind in enumerate(attributes)
            if kind & _USER_DEFINED
        ]
        marks = sorted((text for text in texts if _MARK.fullmatch(text)), key=len, reverse=True)
        return re.compile(b"|".join(map(re.escape, marks))) if marks else None

    def _find_spellable(self) -> bytes:
        """Return the bytes that come back when a character with them is encoded."""
        spellable: set[int] = set()
        for code in _SAMPLES:
            sample = chr(code).encode()
            if self.decode(self._encode_utf8(sample, control=False)) == sample:
                spellable.update(sample)
        return bytes(sorted(spellable))

    def _read_piece(self, token: int, buffer: ctypes.Array[ctypes.c_char]) -> bytes:
        if token in self._silent_ids:
            return b""
        read = self._library.llama_token_to_piece
        length = read(self._vocab, token, buffer, len(buffer), 0, False)
        if length < 0:
            buffer = ctypes.create_string_buffer(-length)
            length = read(self._vocab, token, buffer, len(buffer), 0, False)
        return ctypes.string_at(buffer, length)

    def _ids_of_bytes(self) -> dict[int, int]:
        if self._byte_ids is None:
            self._byte_ids = {
                piece[0]: token for token, piece in enumerate(self.pieces) if len(piece) == 1
            }
        return self._byte_ids


def _pieces(data: bytes, marks: re.Pattern[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where to cut so that no mark is whole: behind the first byte of each."""
    start, at = 0, 0
    while found := marks.search(data, at):
        # Marks may overlap, so the search goes on within this one.
        at = found.start() + 1
        yield start, at
        start = at
    yield start, len(data)
