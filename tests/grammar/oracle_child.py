"""llama.cpp's own grammar sampler, in a process of its own: JSON lines in, JSON lines out.

Started by the `oracle` fixture with the path of a model, of which only the vocabulary is loaded. A
request holds a grammar and texts; the answer says whether it loads and, for each text, how many
of its characters the sampler takes and whether it lets the text end after them. Characters are fed
whole where the vocabulary has them; the tests choose theirs so.
"""

from __future__ import annotations

import ctypes
import json
import sys

import llama_cpp as llama


class Oracle:
    def __init__(self, path: str) -> None:
        self._log = llama.llama_log_callback(lambda *_: None)
        llama.llama_log_set(self._log, None)
        params = llama.llama_model_default_params()
        params.vocab_only = True
        self._model = llama.llama_model_load_from_file(path.encode(), params)
        self._vocab = llama.llama_model_get_vocab(self._model)
        self.pieces = [self._piece(id_) for id_ in range(llama.llama_vocab_n_tokens(self._vocab))]
        self._ids = {piece: id_ for id_, piece in reversed(list(enumerate(self.pieces))) if piece}
        ends = (i for i in range(len(self.pieces)) if llama.llama_vocab_is_eog(self._vocab, i))
        self._end = next(ends)

    def _piece(self, id_: int) -> bytes:
        special = llama.LLAMA_TOKEN_ATTR_CONTROL | llama.LLAMA_TOKEN_ATTR_UNKNOWN
        if llama.llama_vocab_get_attr(self._vocab, id_) & special:
            return b""
        buffer = ctypes.create_string_buffer(512)
        length = llama.llama_token_to_piece(self._vocab, id_, buffer, 512, 0, False)
        return buffer.raw[: max(0, length)]

    def answer(self, request: dict[str, object]) -> dict[str, object]:
        gbnf = str(request["gbnf"]).encode()
        sampler = llama.llama_sampler_init_grammar(self._vocab, gbnf, b"root")
        if not sampler:
            return {"loads": False}
        try:
            reads = [self._read(sampler, text) for text in request.get("texts", ())]
            masks = [self._mask(sampler, text) for text in request.get("masks", ())]
        finally:
            llama.llama_sampler_free(sampler)
        return {"loads": True, "reads": reads, "masks": masks}

    def _read(self, sampler: object, text: str) -> tuple[int, bool]:
        """Return how many characters are taken, and whether the text may end after the last."""
        copy = llama.llama_sampler_clone(sampler)
        try:
            for count, char in enumerate(text):
                for id_ in self._tokens(char):
                    if not self._allowed(copy, [id_]):
                        return count, False
                    llama.llama_sampler_accept(copy, id_)
            return len(text), bool(self._allowed(copy, [self._end]))
        finally:
            llama.llama_sampler_free(copy)

    def _mask(self, sampler: object, text: str) -> list[int]:
        """Return the ids of all tokens that are allowed after a text."""
        copy = llama.llama_sampler_clone(sampler)
        try:
            for char in text:
                for id_ in self._tokens(char):
                    llama.llama_sampler_accept(copy, id_)
            return self._allowed(copy, [id_ for id_, piece in enumerate(self.pieces) if piece])
        finally:
            llama.llama_sampler_free(copy)

    def _tokens(self, char: str) -> list[int]:
        data = char.encode()
        whole = self._ids.get(data)
        return [whole] if whole is not None else [self._ids[bytes([byte])] for byte in data]

    def _allowed(self, sampler: object, ids: list[int]) -> list[int]:
        data = (llama.llama_token_data * len(ids))()
        for entry, id_ in zip(data, ids, strict=True):
            entry.id, entry.logit = id_, 0.0
        pointer = ctypes.cast(data, llama.llama_token_data_p)
        array = llama.llama_token_data_array(
            data=pointer, size=len(ids), selected=-1, sorted=False
        )
        llama.llama_sampler_apply(sampler, ctypes.byref(array))
        return [entry.id for entry in data if entry.logit > float("-inf")]


def main() -> None:
    oracle = Oracle(sys.argv[1])
    _say({"pieces": [piece.hex() for piece in oracle.pieces]})
    for line in sys.stdin:
        _say(oracle.answer(json.loads(line)))


def _say(answer: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
