"""What a benchmark found: one row a test, under the names that llama-bench gives them.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from goliath_local.bench.figures import deviation, mean, median

Unit: TypeAlias = Literal["t/s", "s", "ms", "MB"]

IS_BETTER_HIGH: dict[Unit, bool] = {"t/s": True, "s": False, "ms": False, "MB": False}
"""Whether more of the unit is good news."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One test and its samples."""

    test: str
    """`pp512`, `tg128 @ d2048`, `turn: step, warm` …"""

    unit: Unit
    samples: tuple[float, ...]
    prompt_tokens: int = 0
    reply_tokens: int = 0
    depth_tokens: int = 0

    @property
    def mean(self) -> float:
        """Mean of the samples."""
        return mean(self.samples)

    @property
    def deviation(self) -> float:
        """Their standard deviation."""
        return deviation(self.samples)

    @property
    def median(self) -> float:
        """Their median."""
        return median(self.samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What was measured, and on what; two reports with different ones are two different things."""

    model: str
    sha256: str | None
    """Of the weights, when their card knows it."""

    size_bytes: int
    parameters: int
    threads: int
    batch_tokens: int
    gpu_layers: str
    flash_attention: bool
    build: str
    """Version and features of the native library."""

    processor: str
    version: str
    """Of goliath-local."""

    seed: int
    at: str
    """When it began, ISO 8601."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole benchmark."""

    setup: Setup
    rows: tuple[Row, ...]
    doubts: tuple[str, ...] = ()
    """Why the figures are not to be relied on; none when they are."""

    @property
    def reliable(self) -> bool:
        """True when nothing speaks against the figures."""
        return not self.doubts


def row_name(*, prompt: int = 0, reply: int = 0, depth: int = 0) -> str:
    """Return llama-bench's name of a test: `pp512`, `tg128`, with ` @ d2048` behind it."""
    name = f"pp{prompt}" if prompt else f"tg{reply}"
    return f"{name} @ d{depth}" if depth else name
