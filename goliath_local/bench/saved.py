"""Reports on disk.

Edge: one JSON document a file; what is read back is checked, since anybody may have edited it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from goliath_local.bench.rows import Report, Row, Setup, Unit
from goliath_local.bench.table import render
from goliath_local.errors import ConfigError, StorageError

if TYPE_CHECKING:
    from pathlib import Path


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    test: str
    unit: Unit
    samples: tuple[float, ...]
    n_prompt: Annotated[int, Field(ge=0)] = 0
    n_gen: Annotated[int, Field(ge=0)] = 0
    n_depth: Annotated[int, Field(ge=0)] = 0

    def row(self) -> Row:
        return Row(
            test=self.test,
            unit=self.unit,
            samples=self.samples,
            prompt_tokens=self.n_prompt,
            reply_tokens=self.n_gen,
            depth_tokens=self.n_depth,
        )


class _Setup(BaseModel):
    model: str
    sha256: str | None
    size_bytes: int
    parameters: int
    threads: int
    batch_tokens: int
    gpu_layers: str
    flash_attention: bool
    build: str
    processor: str
    version: str
    seed: int
    at: str


class _Report(BaseModel):
    setup: _Setup
    doubts: tuple[str, ...] = ()
    rows: tuple[_Row, ...]


def save_report(report: Report, path: Path) -> None:
    """Write the report.

    Raises:
        StorageError: it cannot be written there.
    """
    try:
        path.write_text(render(report, "json") + "\n", encoding="utf-8")
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}. Choose another place for --save."
        raise StorageError(message) from error


def read_report(path: Path) -> Report:
    """Return a report that was saved.

    Raises:
        ConfigError: there is none at the path, or it is none of ours.
    """
    try:
        read = _Report.model_validate_json(path.read_bytes())
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}. Make one: goliath-local bench --save"
        raise ConfigError(message) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = "/".join(str(step) for step in first["loc"])
        message = f"{path} is no saved benchmark: {first['msg']} at /{where}. Make a new one."
        raise ConfigError(message) from error
    return Report(
        setup=Setup(**read.setup.model_dump()),
        rows=tuple(row.row() for row in read.rows),
        doubts=read.doubts,
    )
