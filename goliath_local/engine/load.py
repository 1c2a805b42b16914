"""Opens a model file as a `LocalModel`: checks first, native memory last.

Edge.
"""

from __future__ import annotations

import datetime as dt
import functools
import logging
import os
from typing import TYPE_CHECKING, Final

from goliath_local.catalogue import needed_bytes, read_gguf_header, read_machine
from goliath_local.engine.local_model import Loaded, LocalModel
from goliath_local.engine.native import Tokenizer, open_session, open_weights
from goliath_local.engine.prompt_cache import PromptCache
from goliath_local.engine.settings import WINDOW_TOKENS, EngineSettings, verify_settings
from goliath_local.engine.snapshots import Snapshots
from goliath_local.engine.template import CHATML, Setting, Shape, render_skeleton
from goliath_local.engine.threads import default_threads
from goliath_local.errors import BadModelFile, ConfigError, MachineError, NoModel
from goliath_local.model import Capabilities, Support, WindowSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goliath_local.catalogue import GgufHeader
    from goliath_local.engine.native import Session, Weights
    from goliath_local.engine.template import Skeleton

_LOG: Final = logging.getLogger(__name__)

_STEADY_DAY: Final = dt.date(2025, 1, 1)
_CHATML_TEXTS: Final = ("<|im_start|>", "<|im_end|>")


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
        path, gpu_layers=_gpu_layers(settings), use_mmap=settings.use_mmap is not False
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
            cache=_cache(session, header, settings, window_tokens=window),
            skeleton=_skeletons(header, tokenizer, settings),
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


def _gpu_layers(settings: EngineSettings) -> int:
    match settings.gpu_layers:
        case "auto" | "all":
            return -1  # a build without a GPU ignores it
        case count:
            return count


def _cache(
    session: Session, header: GgufHeader, settings: EngineSettings, *, window_tokens: int
) -> PromptCache:
    limit = settings.snapshot_memory_bytes
    if limit is None:
        limit = (header.kv_bytes_per_token or 0) * window_tokens
    return PromptCache(session, Snapshots(limit_bytes=limit), shelf=None, is_fresh=settings.fresh)


def _skeletons(
    header: GgufHeader, tokenizer: Tokenizer, settings: EngineSettings
) -> Callable[[Shape], Skeleton]:
    """Return the template's skeleton by shape, each made once; the commonest is made now."""
    template = _template(header, tokenizer, settings)
    today = settings.today or (_STEADY_DAY if settings.deterministic else _today())
    setting = Setting(
        start_text=tokenizer.text_of(header.metadata.get("tokenizer.ggml.bos_token_id")),
        end_text=tokenizer.text_of(header.metadata.get("tokenizer.ggml.eos_token_id")),
        today=today,
        variables=settings.template_variables,
    )

    @functools.lru_cache(maxsize=64)
    def skeleton(shape: Shape) -> Skeleton:
        return render_skeleton(template, shape, setting)

    skeleton(Shape(has_system=True, examples=0))
    return skeleton


def _template(header: GgufHeader, tokenizer: Tokenizer, settings: EngineSettings) -> str:
    given = settings.chat_template
    if given is not None and given.strip().lower() != "chatml":
        return given
    if given is None and header.chat_template is not None:
        return header.chat_template
    if all(len(tokenizer.encode(text, control=True)) == 1 for text in _CHATML_TEXTS):
        if given is None:
            _LOG.warning("The model file has no chat template; ChatML is used.")
        return CHATML
    if given is not None:
        raise ConfigError(
            "The model has no ChatML tokens, so --chat-template chatml cannot be used. "
            "Give the model's own template: --chat-template FILE"
        )
    raise BadModelFile(
        tokenizer.path, "has no chat template. Give one: --chat-template chatml|FILE"
    )


def _today() -> dt.date:
    return dt.datetime.now(tz=dt.UTC).astimezone().date()


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
