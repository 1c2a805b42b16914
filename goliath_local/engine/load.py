"""Opens a model file as a `LocalModel`: checks first, native memory last.

Edge.
"""

from __future__ import annotations

import functools
import logging
import os
from typing import TYPE_CHECKING, Final

from goliath_local.catalogue import needed_bytes, read_gguf_header, read_machine
from goliath_local.engine.chat_template import open_template
from goliath_local.engine.local_model import Loaded, LocalModel
from goliath_local.engine.mapping import may_map
from goliath_local.engine.native import (
    DiskShelf,
    Tokenizer,
    lays_out_anew,
    native_build,
    open_session,
    open_weights,
)
from goliath_local.engine.prompt_cache import PromptCache
from goliath_local.engine.settings import WINDOW_TOKENS, EngineSettings, verify_settings
from goliath_local.engine.snapshots import Snapshots
from goliath_local.engine.threads import default_threads
from goliath_local.errors import MachineError, NoModel
from goliath_local.model import Capabilities, Support, WindowSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goliath_local.catalogue import GgufHeader
    from goliath_local.engine.native import Session, Weights
    from goliath_local.engine.prompt_cache import Shelf

_LOG: Final = logging.getLogger(__name__)


def load_model(
    path: Path,
    *,
    name: str = "",
    sha256: str | None = None,
    settings: EngineSettings | None = None,
) -> LocalModel:
    """Return the model in a file, ready to reply.

    Args:
        path: a GGUF file.
        name: what to call the model; empty: as its file says.
        sha256: the file's hash, when known from its card; states on disk need it.
        settings: how the engine is set up.

    Raises:
        ConfigError: a setting is outside its range, or the chat template is unusable.
        NoModel: there is no such file.
        BadModelFile: it is not a sound GGUF, or has no chat template.
        MachineError: memory does not suffice, or llama-cpp-python is missing.
    """
    settings = settings or EngineSettings()
    verify_settings(settings, cpus=os.cpu_count() or 1)
    if not path.exists():
        message = f"There is no file {path}. Get a model: goliath-local models pull default"
        raise NoModel(message)
    header = read_gguf_header(path)
    window = min(settings.window_tokens, header.trained_window_tokens or settings.window_tokens)
    if window < settings.window_tokens:
        _LOG.warning("%s was trained on %d tokens: that is the window.", path.name, window)
    _verify_memory(header, window_tokens=window)
    threads = settings.threads or default_threads()
    weights = open_weights(
        path, gpu_layers=gpu_layers_of(settings), use_mmap=uses_mmap(path, settings)
    )
    freed: list[Callable[[], None]] = [weights.close]
    try:
        session = open_session(
            weights,
            window_tokens=window,
            batch_tokens=settings.batch_tokens,
            threads=threads,
            flash_attention=settings.flash_attention,
        )
        freed.insert(0, session.close)
        tokenizer = Tokenizer(weights)
        loaded = Loaded(
            session=session,
            tokenizer=tokenizer,
            cache=_cache(
                session,
                header,
                settings,
                shelf=_shelf(settings, sha256=sha256, window_tokens=window),
                window_tokens=window,
            ),
            skeleton=open_template(header, tokenizer, settings),
            stop_texts=_stop_texts(tokenizer),
            capabilities=_capabilities(
                header, weights, name=name, sha256=sha256, window_tokens=window
            ),
            window_tokens=window,
            threads=threads,
            free=functools.partial(_call_all, tuple(freed)),
        )
    except BaseException:
        _call_all(tuple(freed))
        raise
    return LocalModel(loaded, settings)


def _call_all(calls: tuple[Callable[[], None], ...]) -> None:
    for call in calls:
        call()


def _verify_memory(header: GgufHeader, *, window_tokens: int) -> None:
    needed = needed_bytes(
        header.file_bytes, header.kv_bytes_per_token or 0, window_tokens=window_tokens
    )
    available = read_machine().available_bytes
    if available < needed:
        message = (
            f"This model needs about {needed / 2**30:.1f} GiB, {available / 2**30:.1f} GiB is "
            "free. Close programs, or use a smaller model: goliath-local models list"
        )
        raise MachineError(message)


def uses_mmap(path: Path, settings: EngineSettings) -> bool:
    """Return whether the file is mapped: as the settings say, else where that saves memory.

    A build that lays the weights out anew for its processor holds its own copy of most of them;
    the mapped pages would be held beside it. What is read cannot be cut short under us either.
    """
    if settings.use_mmap is not None:
        return settings.use_mmap
    if lays_out_anew():
        return False
    may = may_map(path)
    if not may:
        _LOG.warning("%s is read, not mapped: its disk may go away.", path.name)
    return may


def gpu_layers_of(settings: EngineSettings) -> int:
    """Return how many layers a GPU is given, -1 for all."""
    match settings.gpu_layers:
        case "auto" | "all":
            return -1  # a build without a GPU ignores it
        case count:
            return count


def _cache(
    session: Session,
    header: GgufHeader,
    settings: EngineSettings,
    *,
    shelf: Shelf | None,
    window_tokens: int,
) -> PromptCache:
    limit = settings.snapshot_memory_bytes
    if limit is None:
        # The heads of one set of tools take about a window; the rest is for where a turn stands.
        # What a shelf holds can be pushed out: it is read again in a fraction of a step.
        quarters = 6 if shelf is None else 5
        limit = (header.kv_bytes_per_token or 0) * window_tokens * quarters // 4
    snapshots = Snapshots(limit_bytes=limit)
    return PromptCache(session, snapshots, shelf=shelf, is_fresh=settings.fresh)


def _shelf(settings: EngineSettings, *, sha256: str | None, window_tokens: int) -> Shelf | None:
    """Return where static heads are kept; nowhere without a folder, or without a hash."""
    if settings.snapshot_dir is None or sha256 is None or settings.fresh:
        return None
    identity: dict[str, str | int] = {
        "format": 1,
        "model": sha256,
        "build": native_build(),
        "window": window_tokens,
        "batch": settings.batch_tokens,
        "gpu_layers": str(settings.gpu_layers),
        "flash_attention": int(settings.flash_attention),
    }
    return DiskShelf(settings.snapshot_dir, identity)


def _stop_texts(tokenizer: Tokenizer) -> tuple[str, ...]:
    """Return the spellings of the tokens that end a turn: as text they end it, too."""
    texts = {tokenizer.control_text(token) for token in tokenizer.end_ids}
    return tuple(sorted(text for text in texts if len(text) > 2))


def _capabilities(
    header: GgufHeader, weights: Weights, *, name: str, sha256: str | None, window_tokens: int
) -> Capabilities:
    own_name = header.metadata.get("general.name")
    template = header.chat_template or ""
    is_short = window_tokens < WINDOW_TOKENS
    return Capabilities(
        name=name or (own_name if isinstance(own_name, str) else weights.path.stem),
        sha256=sha256,
        window_tokens=window_tokens,
        window_source=WindowSource.TRAINED if is_short else WindowSource.REPORTED,
        schema=Support.SUPPORTED,
        thinking=Support.SUPPORTED if "enable_thinking" in template else Support.UNKNOWN,
        tools=Support.SUPPORTED if "tools" in template else Support.UNKNOWN,
        parameters=weights.parameters,
        size_bytes=header.file_bytes,
    )
