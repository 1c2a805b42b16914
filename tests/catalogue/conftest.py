"""A models folder of one's own, a hub on this machine, and no patience."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.catalogue.server import Place, Reply, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    """An empty place for models; the real user's is out of sight."""
    return tmp_path / "models"


@pytest.fixture
def hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Place]]:
    """Start a hub that serves the content in the given ways."""
    with ExitStack() as stack:

        def start(content: bytes, *replies: Reply) -> Place:
            place = stack.enter_context(serving(content, *replies))
            monkeypatch.setenv("HF_ENDPOINT", place.url)
            monkeypatch.setenv("SSL_CERT_DIR", str(home))  # reading the system's takes 0.04 s
            return place

        yield start


@pytest.fixture
def pauses() -> list[float]:
    """Collects what the code would have waited for: pass `pauses.append` as the pause."""
    return []


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip looks at."""
    place = tmp_path / "index"
    place.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return place
