"""From settings to a model that is ready to reply.

Edge: looks for the file, checks it and the memory before anything native is touched, loads it
beside the event loop so that Ctrl-C is heard meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.cli.room import is_room_short, try_in_child
from goliath_local.cli.waiting import in_thread, until
from goliath_local.errors import ConfigError
from goliath_local.typed_paths import typed_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goliath_local.cancel import CancelToken
    from goliath_local.catalogue import Located
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal
    from goliath_local.model import Model

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
    is_stranger: bool = False
    """True for a file that no card names: it was let in by a yes, and a child loads it first."""

    is_trial: bool = False
    """True in such a child, which tries nothing first."""


def find_model(settings: Settings, *, let_in: bool = False) -> Found:
    """Return the model that the settings name, checked as far as that is cheap.

    Args:
        settings: which one.
        let_in: load even a file that no card names and nobody said yes to; for the child in
            which such a file is tried.

    Raises:
        NeededYes: no card names the file, and nobody said yes to it.
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
    is_stranger = card is None and not let_in
    if is_stranger:
        from goliath_local.cli.strangers import verify_let_in
        from goliath_local.cli.terminal import open_terminal

        verify_let_in(located.path, settings, open_terminal())
    trained = card.trained_window_tokens if card else header.trained_window_tokens
    return Found(
        name=located.name,
        label=f"{located.name} {_quant(located.path)}".strip(),
        sha256=card.sha256 if card else None,
        window=min(settings.window, trained or settings.window),
        path=located.path,
        variables=dict(card.template_variables) if card else {},
        is_stranger=is_stranger,
        is_trial=let_in,
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
            raise no_model(cards(), folder=settings.models_folder)
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
    snapshot_memory_bytes: int | None = None,
) -> Ready:
    """Return the model, loaded.

    Args:
        found: which one.
        settings: how it is to run.
        terminal: where remarks of llama.cpp go, when they are wanted.
        cancel: stops the wait.
        steady: the deterministic profile, for replays and evals.
        snapshot_memory_bytes: room for prompt heads; None leaves that to the engine.

    Raises:
        BadModelFile: it cannot be loaded after all.
        MachineError: memory or llama-cpp-python are missing.
        RunCancelled: it was told to stop.
    """
    started_s = time.monotonic()
    if found.path is None:
        return await _scripted(found, settings, cancel=cancel, started_s=started_s)
    path = found.path
    _template(settings.chat_template)  # a file that is not there is told before the slow part
    is_short = is_room_short(found.name, path, window_tokens=settings.window)
    if is_short and not found.is_trial:
        await until(in_thread(lambda: try_in_child(found.name, settings)), cancel)
    if found.is_stranger:
        from goliath_local.cli.strangers import try_first

        await until(in_thread(lambda: try_first(path, settings)), cancel)
    model = await until(
        in_thread(
            lambda: _open(
                path, found, settings, terminal, steady=steady, room_bytes=snapshot_memory_bytes
            )
        ),
        cancel,
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
    path: Path,
    found: Found,
    settings: Settings,
    terminal: Terminal,
    *,
    steady: bool,
    room_bytes: int | None,
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
            snapshot_memory_bytes=room_bytes,
            # A replay proves that the same bytes come out without any help.
            snapshot_dir=None if steady else settings.places.states,
        ),
    )


def _template(name: str | None) -> str | None:
    if name is None or name.lower() == "chatml":
        return name
    try:
        return typed_path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = (
            f"byte {error.start} is not UTF-8"
            if isinstance(error, UnicodeDecodeError)
            else error.strerror
        )
        msg = f"--chat-template {name}: {why}. Give chatml, or a file with a Jinja template."
        raise ConfigError(msg) from error


def _hear(settings: Settings, terminal: Terminal) -> None:
    """Pass on what llama.cpp says, as far as `-v` and `-vv` ask for it."""
    from goliath_local.engine.native import native_log

    least = {0: logging.CRITICAL, 1: logging.INFO}.get(settings.verbose, logging.DEBUG)

    def pass_on(level: int, line: str) -> None:
        if level >= least:
            terminal.complain(f"llama.cpp: {line}")

    native_log.listen(pass_on if settings.verbose else None)
    remarks = logging.getLogger("goliath_local")
    remarks.handlers = [_Remarks(terminal)]
    remarks.setLevel(least if settings.verbose else logging.WARNING)
    remarks.propagate = False


class _Remarks(logging.Handler):
    """Shows what the engine remarks."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__()
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        """Show one remark."""
        self._terminal.complain(f"engine: {record.getMessage()}")


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
