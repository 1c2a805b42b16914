"""Grammars in the native library, in a process that may die of it: JSON lines in and out.

Edge. Started by `scripts/hostile.py` with the path of a model, of which only the vocabulary is
loaded. Each line is a grammar; the answer says whether it loads, how long that took, and how many
tokens it lets begin.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import resource
import sys
import time

import llama_cpp as llama

ADDRESS_SPACE_BYTES = 4 << 30
CPU_S = 600


class Vocabulary:
    """The vocabulary of a model, and room for one number a token."""

    def __init__(self, path: str) -> None:
        self._log = llama.llama_log_callback(lambda *_: None)
        llama.llama_log_set(self._log, None)
        params = llama.llama_model_default_params()
        params.vocab_only = True
        self._model = llama.llama_model_load_from_file(path.encode(), params)
        self._vocab = llama.llama_model_get_vocab(self._model)
        self._size = llama.llama_vocab_n_tokens(self._vocab)
        self._tokens = (llama.llama_token_data * self._size)()

    def tried(self, gbnf: str) -> dict[str, object]:
        """Return what became of the grammar."""
        began = time.process_time()
        sampler = llama.llama_sampler_init_grammar(self._vocab, gbnf.encode(), b"root")
        if not sampler:
            return {"loads": False}
        try:
            return {"loads": True, "s": time.process_time() - began, "begin": self._mask(sampler)}
        finally:
            llama.llama_sampler_free(sampler)

    def _mask(self, sampler: object) -> int:
        for number, entry in enumerate(self._tokens):
            entry.id, entry.logit = number, 0.0
        array = llama.llama_token_data_array(
            data=ctypes.cast(self._tokens, llama.llama_token_data_p),
            size=self._size,
            selected=-1,
            sorted=False,
        )
        llama.llama_sampler_apply(sampler, ctypes.byref(array))
        return sum(entry.logit > float("-inf") for entry in self._tokens)


def main() -> None:
    """Answer line by line, within limits of memory and time."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    vocabulary = Vocabulary(sys.argv[1])
    for line in sys.stdin:
        answer = vocabulary.tried(json.loads(line))
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
