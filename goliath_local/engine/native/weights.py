"""A model's weights in memory, and what their file says about them.

Edge: opens and frees native memory.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from goliath_local.engine.native.library import native_log, open_library
from goliath_local.errors import BadModelFile, MachineError

if TYPE_CHECKING:
    from pathlib import Path


class Weights:
    """An open model file. Owns native memory; `close` frees it, once."""

    def __init__(self, library: Any, model: Any, path: Path) -> None:
        self.library = library
        self.model = model
        self.path = path
        self.vocab = library.llama_model_get_vocab(model)
        self.trained_tokens = int(library.llama_model_n_ctx_train(model))
        self.parameters = int(library.llama_model_n_params(model))
        self.size_bytes = int(library.llama_model_size(model))

    @property
    def can_truncate(self) -> bool:
        """True when the tail of a prompt can be taken back; not so with a recurrent state."""
        return not (
            self.library.llama_model_is_recurrent(self.model)
            or self.library.llama_model_is_hybrid(self.model)
        )

    def metadata(self, key: str) -> str | None:
        """Return one metadata value as text, None when the file has no such key."""
        size = 4096
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = self.library.llama_model_meta_val_str(self.model, key.encode(), buffer, size)
            if length < 0:
                return None
            if length < size:
                return buffer.value.decode("utf-8", "replace")
            size = length + 1

    def close(self) -> None:
        """Free the memory."""
        if self.model is not None:
            self.library.llama_model_free(self.model)
            self.model = self.vocab = None


def open_weights(path: Path, *, gpu_layers: int, use_mmap: bool) -> Weights:
    """Load a model file.

    Args:
        path: a file that already passed the header reader.
        gpu_layers: layers for a GPU; -1 for all of them.
        use_mmap: map the file instead of reading it.

    Raises:
        BadModelFile: llama.cpp refuses the file; its last error lines are in the text.
        MachineError: there is not enough memory.
    """
    library = open_library()
    params = library.llama_model_default_params()
    params.n_gpu_layers = gpu_layers
    params.load_mode = library.LLAMA_LOAD_MODE_MMAP if use_mmap else library.LLAMA_LOAD_MODE_NONE
    native_log.clear()
    try:
        model = library.llama_model_load_from_file(bytes(path), params)
    except MemoryError as error:
        message = (
            f"There is not enough memory for {path.name}. Close programs, or use a smaller one."
        )
        raise MachineError(message) from error
    if not model:
        said = native_log.last_errors() or "llama.cpp gave no reason"
        raise BadModelFile(
            path, f"cannot be loaded: {said}. Fetch it again, or use another model."
        )
    return Weights(library, model, path)
