"""The network without the engine around it: for measuring what the machine can do.

Edge. The session is set up just as `load_model` sets it up; nothing is cached, nobody waits in
line, and the thread count stays as it is.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.catalogue import read_gguf_header
from goliath_local.engine.load import gpu_layers_of, uses_mmap
from goliath_local.engine.native import Tokenizer, open_session, open_weights
from goliath_local.engine.settings import EngineSettings, verify_settings
from goliath_local.engine.threads import default_threads

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goliath_local.engine.native import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Bare:
    """An open session, and what is known of its weights."""

    session: Session
    window_tokens: int
    vocabulary_tokens: int
    threads: int
    parameters: int
    size_bytes: int


@contextlib.contextmanager
def open_bare(path: Path, settings: EngineSettings | None = None) -> Iterator[Bare]:
    """Give an empty session on the file, for one thread, and free it afterwards.

    Raises:
        ConfigError: a setting is outside its range.
        BadModelFile: it is not a sound GGUF.
        MachineError: memory does not suffice, or llama-cpp-python is missing.
    """
    settings = settings or EngineSettings()
    verify_settings(settings, cpus=os.cpu_count() or 1)
    trained = read_gguf_header(path).trained_window_tokens
    window = min(settings.window_tokens, trained or settings.window_tokens)
    threads = settings.threads or default_threads()
    weights = open_weights(
        path, gpu_layers=gpu_layers_of(settings), use_mmap=uses_mmap(path, settings)
    )
    with contextlib.ExitStack() as opened:
        opened.callback(weights.close)
        session = open_session(
            weights,
            window_tokens=window,
            batch_tokens=settings.batch_tokens,
            threads=threads,
            flash_attention=settings.flash_attention,
        )
        opened.callback(session.close)
        yield Bare(
            session=session,
            window_tokens=window,
            vocabulary_tokens=Tokenizer(weights).size,
            threads=threads,
            parameters=weights.parameters,
            size_bytes=weights.size_bytes,
        )
