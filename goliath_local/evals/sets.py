"""Where eval sets lie, and how one is read.

Edge: reads files. `builtin` is in the package; `dev` and the BFCL files lie in the `evals/`
folder of a checkout; anything else is a path to a JSONL file of the user's.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ConfigError
from goliath_local.evals.bfcl import BfclCase, read_cases
from goliath_local.evals.fixture import Fixture, read_fixtures
from goliath_local.evals.samples import fixtures as built_in

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parents[2] / "evals"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSet:
    """Fixtures or function-calling cases, under a name."""

    name: str
    fixtures: tuple[Fixture, ...] = ()
    toolsets: Mapping[str, Any] = field(default_factory=dict)
    cases: tuple[BfclCase, ...] = ()


def set_names(folder: Path = FOLDER) -> tuple[str, ...]:
    """Return the names of the sets that are here."""
    found = ["builtin"]
    found += sorted(path.stem for path in (folder / "fixtures").glob("*.jsonl"))
    found += sorted(f"bfcl/{path.name.split('.')[0]}" for path in (folder / "bfcl").glob("*.gz"))
    return tuple(found)


def read_set(name: str, *, folder: Path = FOLDER) -> EvalSet:
    """Return the set of that name, or the one in that file.

    Raises:
        ConfigError: there is none, or its file is unsound.
    """
    if name == "builtin":
        return EvalSet(name=name, fixtures=built_in)
    if name.startswith("bfcl/"):
        path = folder / f"{name}.jsonl.gz"
        _verify_exists(path, name)
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            return EvalSet(name=name, cases=read_cases(lines))
    own = Path(name)
    path = own if own.suffix else folder / "fixtures" / f"{name}.jsonl"
    _verify_exists(path, name)
    beside = path.parent / "toolsets.json"
    return EvalSet(
        name=path.stem,
        fixtures=read_fixtures(path.read_text(encoding="utf-8").splitlines(), source=path.name),
        toolsets=json.loads(beside.read_text(encoding="utf-8")) if beside.exists() else {},
    )


def _verify_exists(path: Path, name: str) -> None:
    if not path.is_file():
        message = (
            f"There is no eval set {name!r} ({path} is not there). "
            f"Known: {', '.join(set_names())}, or the path of a JSONL file."
        )
        raise ConfigError(message)
