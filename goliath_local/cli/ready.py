"""From settings to a model that is ready to reply.

Edge: looks for the file, checks it and the memory before anything native is touched, loads it
beside the event loop so that Ctrl-C is heard meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from goliath_local.errors import ConfigError, RunCancelled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from goliath_local.cancel import CancelToken
    from goliath_local.catalogue import Located
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal
    from goliath_local.model import Model

T = TypeVar("T")

_GRACE_S = 0.9
"""How long something that was told to stop may take to end; promise 5 gives it a second."""

_QUANT = re.compile(r"(?i)[-_.](i?q\d\w*|f16|bf16|f32)(?=[-_.]|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A loaded model, and what to say about it."""

    model: Model
    name: str
    label: str
    """Name and quantisation, for the first line of `chat`."""

    sha256: str | None
    window: int
    threads: int | None
    load_s: float
    close: Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A model that can be loaded: its file was found and looks sound."""

    name: str
    label: str
    sha256: str | None
    window: int
    path: Path | None
    """None for a scripted engine."""

    variables: dict[str, Any]


def find_model(settings: Settings) -> Found:
    """Return the model that the settings name, checked as far as that is cheap.

    Raises:
        NoModel: nothing of that name is here.
        BadModelFile: the file is not a sound GGUF, or not of its card's size.
        ConfigError: the scripted engine's file is unusable.
    """
    if settings.engine != "llama.cpp":
        from goliath_local.cli.scripted import read_script

        read_script(settings.engine)
        return Found(
            name="scripted",
            label="scripted",
            sha256=None,
            window=settings.window,
            path=None,
            variables={},
        )
    from goliath_local.catalogue import read_gguf_header

    located = _locate(settings)
    header = read_gguf_header(located.path)
    card = located.card
    trained = card.trained_window_tokens if card else header.trained_window_tokens
    return Found(
        name=located.name,
        label=f"{located.name} {_quant(located.path)}".strip(),
        sha256=card.sha256 if card else None,
        window=min(settings.window, trained or settings.window),
        path=located.path,
        variables=dict(card.template_variables) if card else {},
    )


def _locate(settings: Settings) -> Located:
    from goliath_local.catalogue import (
        cards,
        choose_default_installed,
        locate_model,
        no_model,
    )

    name = settings.model
    if name == "default":
        choice = choose_default_installed(settings.models_folder)
        if choice is None:
            raise no_model(cards())
        name = choice.card.name
    return locate_model(name, settings.models_folder)


def _quant(path: Path) -> str:
    found = _QUANT.search(path.stem)
    return found.group(1).lower() if found else ""


async def load(
    found: Found,
    settings: Settings,
    terminal: Terminal,
    *,
    cancel: CancelToken,
    steady: bool = False,
) -> Ready:
    """Return the model, loaded.

    Args:
        found: which one.
        settings: how it is to run.
        terminal: where remarks of llama.cpp go, when they are wanted.
        cancel: stops the wait.
        steady: the deterministic profile, for replays.

    Raises:
        BadModelFile: it cannot be loaded after all.
        MachineError: memory or llama-cpp-python are missing.
        RunCancelled: it was told to stop.
    """
    started_s = time.monotonic()
    if found.path is None:
        return await _scripted(found, settings, cancel=cancel, started_s=started_s)
    path = found.path
    model = await until(
        in_thread(lambda: _open(path, found, settings, terminal, steady=steady)), cancel
    )
    return Ready(
        model=model,
        name=found.name,
        label=found.label,
        sha256=found.sha256,
        window=model.window_tokens,
        threads=model.threads,
        load_s=time.monotonic() - started_s,
        close=model.close,
    )


def _open(
    path: Path, found: Found, settings: Settings, terminal: Terminal, *, steady: bool
) -> Any:
    from goliath_local.engine import EngineSettings, load_model

    _hear(settings, terminal)
    return load_model(
        path,
        name=found.name,
        sha256=found.sha256,
        settings=EngineSettings(
            threads=settings.threads,
            gpu_layers=settings.gpu_layers,
            seed=settings.seed,
            deterministic=steady,
            chat_template=_template(settings.chat_template),
            template_variables=found.variables,
        ),
    )


def _template(name: str | None) -> str | None:
    if name is None or name.lower() == "chatml":
        return name
    try:
        return Path(name).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"--chat-template {name}: {error}. Give chatml, or a file with a Jinja template."
        raise ConfigError(msg) from error


def _hear(settings: Settings, terminal: Terminal) -> None:
    """Pass on what llama.cpp says, as far as `-v` and `-vv` ask for it."""
    from goliath_local.engine.native import native_log

    least = {0: logging.CRITICAL, 1: logging.INFO}.get(settings.verbose, logging.DEBUG)

    def pass_on(level: int, line: str) -> None:
        if level >= least:
            terminal.complain(f"llama.cpp: {line}")

    native_log.listen(pass_on if settings.verbose else None)


async def _scripted(
    found: Found, settings: Settings, *, cancel: CancelToken, started_s: float
) -> Ready:
    from goliath_local.cli.scripted import ScriptedModel, read_script

    script = read_script(settings.engine)
    await until(asyncio.ensure_future(asyncio.sleep(script.load_s)), cancel)
    return Ready(
        model=ScriptedModel(script),
        name=found.name,
        label=found.label,
        sha256=None,
        window=found.window,
        threads=None,
        load_s=time.monotonic() - started_s,
        close=lambda: None,
    )


def in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run the work in a thread that never keeps the program alive."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - it is raised where the future is awaited
            _tell(loop, _fail, future, error)
        else:
            _tell(loop, _settle, future, result)

    threading.Thread(target=run, daemon=True).start()
    return future


def _tell(loop: asyncio.AbstractEventLoop, *call: Any) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(*call)


def _settle(future: asyncio.Future[Any], result: object) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


async def until(work: Awaitable[T], cancel: CancelToken) -> T:
    """Return what the work returns; once cancelled, give it a moment to end and then leave it.

    Raises:
        RunCancelled: the token was cancelled and the work did not end otherwise.
    """
    cancel.raise_if_cancelled()
    loop = asyncio.get_running_loop()
    stop = loop.create_future()
    forget = cancel.on_cancel(lambda: _tell(loop, _settle, stop, None))
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await asyncio.wait({task}, timeout=_GRACE_S)
        if task.done():
            return task.result()
        task.cancel()
    finally:
        forget()
        stop.cancel()
    raise RunCancelled(cancel.reason)
