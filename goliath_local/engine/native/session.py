"""The native token timeline: ids go in, logits come out, a state is saved and restored.

Edge. One sequence in one context, used by one thread at a time (the model's worker).
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from goliath_local.engine.native.library import native_log
from goliath_local.errors import MachineError, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from goliath_local.engine.native.weights import Weights

_ABORTED: Final = 2

MOST_OUTPUTS: Final = 32
"""Ids of one batch whose logits can be read; 512 rows of 151,936 would be 311 MB."""


class Aborted(Exception):
    """The stop flag ended an evaluation; the session was cleared."""


class StopFlag:
    """One reply's order to stop. Safe to raise from any thread.

    llama.cpp asks its abort callback before each operation of the graph. A Python callback would
    need the interpreter's lock each time, and wait 5 ms for it beside a busy thread; C's
    strlen() on these two bytes is such a callback as well, and needs no lock.
    """

    def __init__(self) -> None:
        self.buffer = ctypes.create_string_buffer(b"", 2)

    @property
    def is_raised(self) -> bool:
        """True once `stop` was called."""
        return self.buffer.raw[:1] != b"\0"

    def stop(self) -> None:
        """End the evaluation that runs with this flag, within one operation."""
        self.buffer[0] = b"x"


class Session:
    """A context and what is in its KV cache. Owns native memory; `close` frees it, once."""

    def __init__(self, weights: Weights, context: Any, *, batch_tokens: int) -> None:
        self._library = weights.library
        self._context = context
        self._memory = self._library.llama_get_memory(context)
        self._batch_tokens = batch_tokens
        self._batch = self._library.llama_batch_init(batch_tokens, 0, 1)
        self._vocab_size = int(self._library.llama_vocab_n_tokens(weights.vocab))
        self._flag = StopFlag()
        self._strlen = ctypes.cast(ctypes.CDLL(None).strlen, self._library.ggml_abort_callback)
        self.can_truncate = weights.can_truncate
        """Whether any number of tokens can be taken back; a recurrent state cannot be."""

        self.length = 0
        """Tokens in the KV cache."""

    @property
    def window_tokens(self) -> int:
        """Size of the live context."""
        return int(self._library.llama_n_ctx(self._context))

    def use_flag(self, flag: StopFlag) -> None:
        """Let this flag end evaluations from now on."""
        self._flag = flag
        self._library.llama_set_abort_callback(self._context, self._strlen, flag.buffer)

    def set_threads(self, count: int) -> None:
        """Use so many threads from the next evaluation on."""
        self._library.llama_set_n_threads(self._context, count, count)

    def evaluate(self, ids: Sequence[int], *, want_logits: bool = True) -> None:
        """Append the ids, in batches of `batch_tokens`; each call is a run of its own batches.

        Args:
            ids: at least one.
            want_logits: whether `logits` will be asked for the last id.

        Raises:
            Aborted: the flag was raised; the session is empty now.
            ModelUnavailable: llama.cpp gave up; the session is empty now.
        """
        for start in range(0, len(ids), self._batch_tokens):
            chunk = ids[start : start + self._batch_tokens]
            is_last = start + len(chunk) == len(ids)
            self._evaluate_batch(chunk, outputs=int(want_logits and is_last))

    def scores(self, ids: Sequence[int], *, given: int) -> npt.NDArray[np.float64]:
        """Append the ids and return how probable each but the first `given` was, in nats.

        Args:
            ids: at least one more than `given`.
            given: ids that are not asked about, at least one.

        Returns:
            shape (len(ids) - given,): log-probabilities, each behind all that stands before it.

        Raises:
            Aborted: the flag was raised; the session is empty now.
            ModelUnavailable: llama.cpp gave up; the session is empty now.
        """
        most, last = min(MOST_OUTPUTS, self._batch_tokens), len(ids) - 1
        asked = given - 1  # what is behind it is the first to be asked about
        begin = max(0, asked + most - self._batch_tokens)
        if begin:
            self.evaluate(ids[:begin], want_logits=False)
        found: list[float] = []
        while asked < last:
            end = min(asked + most, last)
            self._evaluate_batch(ids[begin:end], outputs=end - asked)
            found += [
                _log_probability(self._row(place - begin), ids[place + 1])
                for place in range(asked, end)
            ]
            begin = asked = end
        return np.array(found)

    def logits(self) -> npt.NDArray[np.float32]:
        """Return the logits of the last id, shape (vocabulary,); valid until the next call."""
        return self._row(-1)

    def truncate(self, length: int) -> bool:
        """Take back all but the first `length` tokens; False when this model cannot."""
        if length == self.length:
            return True
        if not self.can_truncate or length > self.length:
            return False
        if not self._library.llama_memory_seq_rm(self._memory, 0, length, -1):
            return False
        self.length = length
        return True

    def clear(self) -> None:
        """Empty the KV cache."""
        self._library.llama_memory_clear(self._memory, False)
        self.length = 0

    @property
    def state_bytes(self) -> int:
        """Size of the state as it would be saved now."""
        return int(self._library.llama_state_seq_get_size(self._context, 0))

    def save(self) -> npt.NDArray[np.uint8]:
        """Return a copy of the state, as bytes."""
        size = self.state_bytes
        state = np.empty(size, dtype=np.uint8)
        written = self._library.llama_state_seq_get_data(self._context, _bytes_of(state), size, 0)
        return state[:written]

    def restore(self, state: npt.NDArray[np.uint8], *, length: int) -> bool:
        """Replace what is there by a saved state of `length` tokens.

        Returns:
            False when llama.cpp refuses it; the session is empty then.
        """
        self.clear()
        read = self._library.llama_state_seq_set_data(
            self._context, _bytes_of(state), state.size, 0
        )
        last = self._library.llama_memory_seq_pos_max(self._memory, 0)
        if read != state.size or last != length - 1:
            self._library.llama_memory_clear(self._memory, True)
            return False
        self.length = length
        return True

    def close(self) -> None:
        """Free the memory."""
        if self._context is not None:
            self._library.llama_batch_free(self._batch)
            self._library.llama_free(self._context)
            self._context = self._batch = None

    def _row(self, index: int) -> npt.NDArray[np.float32]:
        pointer = self._library.llama_get_logits_ith(self._context, index)
        return np.ctypeslib.as_array(pointer, shape=(self._vocab_size,))

    def _evaluate_batch(self, ids: Sequence[int], *, outputs: int) -> None:
        """Append the ids in one batch; the logits of the last `outputs` can be read then."""
        batch, count = self._batch, len(ids)
        batch.n_tokens = count
        for index, token in enumerate(ids):
            batch.token[index] = token
            batch.pos[index] = self.length + index
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = 0
            batch.logits[index] = index >= count - outputs
        code = self._library.llama_decode(self._context, batch)
        if code == 0:
            self.length += count
            return
        # What an unfinished evaluation left behind is wiped, numbers and all.
        self._library.llama_memory_clear(self._memory, True)
        self.length = 0
        if code == _ABORTED or self._flag.is_raised:
            raise Aborted
        said = native_log.last_errors() or f"llama_decode returned {code}"
        message = f"llama.cpp could not evaluate the prompt: {said}. Try again."
        raise ModelUnavailable(message)


def open_session(
    weights: Weights,
    *,
    window_tokens: int,
    batch_tokens: int,
    threads: int,
    flash_attention: bool,
) -> Session:
    """Return an empty session on the weights.

    Raises:
        MachineError: there is no memory for the KV cache.
        ModelUnavailable: the context has another window than asked for.
    """
    library = weights.library
    params = library.llama_context_default_params()
    params.n_ctx = window_tokens
    params.n_batch = params.n_ubatch = batch_tokens
    params.n_seq_max = 1
    params.n_outputs_max = min(MOST_OUTPUTS, batch_tokens)
    params.n_threads = params.n_threads_batch = threads
    params.flash_attn_type = int(flash_attention)
    params.swa_full = True  # a sliding window can then be truncated like any other
    params.no_perf = True
    native_log.clear()
    context = library.llama_init_from_model(weights.model, params)
    if not context:
        said = native_log.last_errors() or "llama.cpp gave no reason"
        message = f"There is no room for the prompt's memory: {said}. Close other programs."
        raise MachineError(message)
    session = Session(weights, context, batch_tokens=batch_tokens)
    if session.window_tokens < window_tokens:
        actual = session.window_tokens
        session.close()
        message = f"The window is {actual:,} tokens instead of {window_tokens:,}. Report this."
        raise ModelUnavailable(message)
    return session


def _log_probability(logits: npt.NDArray[np.float32], token: int) -> float:
    most = logits.max()
    return float(logits[token] - most - np.log(np.exp(logits - most).sum()))


def _bytes_of(state: npt.NDArray[np.uint8]) -> Any:
    return state.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
