"""Grammars to try things on, and llama.cpp's own sampler to compare with."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HERE = Path(__file__).parent
ANSWER_TIMEOUT_S = 20


class OracleChild:
    """A process in which llama.cpp reads grammars; started anew after it died."""

    def __init__(self, model: Path) -> None:
        self._model = model
        self._child: subprocess.Popen[str] | None = None
        self.pieces: list[bytes] = []

    def ask(self, gbnf: str, *, texts: tuple[str, ...] = (), masks: tuple[str, ...] = ()) -> Any:
        """The answer of `oracle_child.py`; None when the process died or fell silent."""
        child = self.start()
        assert child.stdin is not None
        request = {"gbnf": gbnf, "texts": texts, "masks": masks}
        try:
            child.stdin.write(json.dumps(request) + "\n")
            child.stdin.flush()
            return self._line()
        except (BrokenPipeError, ValueError):
            self.stop()
            return None

    def stop(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def start(self) -> subprocess.Popen[str]:
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, str(_HERE / "oracle_child.py"), str(self._model)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            self.pieces = [bytes.fromhex(piece) for piece in self._line()["pieces"]]
        return self._child

    def _line(self) -> Any:
        """The next line of the child; `ValueError` when none comes."""
        assert self._child is not None
        assert self._child.stdout is not None
        ready, _, _ = select.select([self._child.stdout], [], [], ANSWER_TIMEOUT_S)
        return json.loads(self._child.stdout.readline() if ready else "")


@pytest.fixture(scope="session")
def oracle(weights: Callable[[str], Path]) -> Iterator[OracleChild]:
    """llama.cpp's grammar sampler over the vocabulary of the tiny model."""
    child = OracleChild(weights("smollm2-135m"))
    yield child
    child.stop()


@pytest.fixture(scope="session")
def examples() -> dict[str, str]:
    """All grammars in `gbnf/`, by name."""
    return gbnf_examples()


def gbnf_examples() -> dict[str, str]:
    """The grammars in `gbnf/`, by name."""
    return {path.stem: path.read_text("utf-8") for path in sorted(_HERE.glob("gbnf/*.gbnf"))}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that ask for an `example` on every grammar in `gbnf/`."""
    if "example" in metafunc.fixturenames:
        examples = gbnf_examples()
        metafunc.parametrize("example", list(examples.values()), ids=list(examples))
