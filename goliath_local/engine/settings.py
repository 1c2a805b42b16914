"""How the engine is set up, and the ranges within which that is sound.

Pure. Everything is checked here, with its allowed range, before llama.cpp sees a number: the
library itself takes negative thread counts and reads a window of 0 as 8,192.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from goliath_local.errors import ConfigError

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

WINDOW_TOKENS: Final = 4096
MAX_SEED: Final = 2**32 - 1
MAX_TEXT_BYTES: Final = 1 << 20

GpuLayers: TypeAlias = int | Literal["auto", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """What may be chosen when a model is loaded."""

    window_tokens: int = WINDOW_TOKENS
    """Fixed; named so that asking for another size is refused in words."""

    threads: int | None = None
    """Threads of generation and prompts; None: the physical cores this process may use."""

    batch_tokens: int = 512
    """Tokens evaluated at once, 32 to 2,048. Part of what a reply depends on."""

    gpu_layers: GpuLayers = "auto"
    """Layers given to a GPU, where the build has one."""

    flash_attention: bool = False
    """Off: the logits are the same for every number of threads (docs/decisions)."""

    use_mmap: bool | None = None
    """Map the weights instead of reading them; None: where the build uses them as they lie and
    their disk stays (decision 22)."""

    seed: int | None = None
    """Of sampling when a request has none, 0 to 4,294,967,295; None: a new one each reply."""

    top_k: int = 40
    """Candidates that sampling draws from, 1 to 256. Greedy replies look at the best one."""

    top_p: float = 0.95
    """Share of probability that sampling draws from, above 0 and at most 1."""

    deterministic: bool = False
    """The profile of evals and replay: fixed date, seed 0, no flash attention, steady threads."""

    fresh: bool = False
    """Evaluate every prompt anew: the law says that the replies are the same."""

    wait: bool = True
    """Queue behind another caller; False raises `EngineBusy` instead."""

    snapshot_memory_bytes: int | None = None
    """Room for saved prompt states in memory; None: half as much again as the KV cache takes."""

    snapshot_dir: Path | None = None
    """Where static heads are kept across restarts; None: nowhere."""

    chat_template: str | None = None
    """A Jinja chat template, or `chatml`, instead of the one in the file."""

    template_variables: Mapping[str, Any] = field(default_factory=dict)
    """Handed to the template, for example `{"enable_thinking": False}`."""

    today: dt.date | None = None
    """The date that templates may print; None: the day of the load."""


def verify_settings(settings: EngineSettings, *, cpus: int) -> None:
    """Raise `ConfigError` for the first setting outside its range.

    Args:
        settings: what was asked for.
        cpus: processors of this machine; more threads than that never come to an end.
    """
    window = settings.window_tokens
    verify_whole("window_tokens", window, WINDOW_TOKENS, WINDOW_TOKENS, why="it is fixed")
    if settings.threads is not None:
        verify_whole("threads", settings.threads, 1, cpus, why=f"this machine has {cpus} CPUs")
    verify_whole("batch_tokens", settings.batch_tokens, 32, 2048)
    if settings.gpu_layers not in ("auto", "all"):
        verify_whole("gpu_layers", settings.gpu_layers, 0, 10_000, why="or auto, or all")
    if settings.seed is not None:
        verify_whole("seed", settings.seed, 0, MAX_SEED)
    verify_whole("top_k", settings.top_k, 1, 256)
    verify_real("top_p", settings.top_p, 0.0, 1.0)
    if settings.top_p == 0:
        _refuse("top_p", settings.top_p, "above 0 and at most 1")
    if settings.snapshot_memory_bytes is not None:
        verify_whole("snapshot_memory_bytes", settings.snapshot_memory_bytes, 0, 1 << 40)
    _verify_kinds(settings)
    if settings.deterministic and settings.flash_attention:
        _refuse("flash_attention", True, "off in the deterministic profile")


def _verify_kinds(settings: EngineSettings) -> None:
    for name in ("flash_attention", "deterministic", "fresh", "wait"):
        if not isinstance(getattr(settings, name), bool):
            _refuse(name, getattr(settings, name), "True or False")
    kinds = (("use_mmap", bool, "True, False or None"), ("snapshot_dir", Path, "a Path or None"))
    for name, kind, allowed in kinds:
        value = getattr(settings, name)
        if value is not None and not isinstance(value, kind):
            _refuse(name, value, allowed)


def verify_whole(name: str, value: object, least: int, most: int, *, why: str = "") -> None:
    """Raise `ConfigError` unless the value is a whole number within the range, ends included."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        reason = f" ({why})" if why else ""
        _refuse(name, value, f"a whole number from {least:,} to {most:,}{reason}")


def verify_real(name: str, value: object, least: float, most: float) -> None:
    """Raise `ConfigError` unless the value is a finite number within the range, ends included."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or not least <= value <= most
    ):
        _refuse(name, value, f"a number from {least:g} to {most:g}")


def _refuse(name: str, value: object, allowed: str) -> None:
    message = f"{name} is {value!r}; it must be {allowed}."
    raise ConfigError(message)
