"""llama.cpp's own server, on this very machine, in a process of its own.

    python -m tests.llama_server MODEL WINDOW     prints its address; ends when stdin does

A process of its own, since two builds of llama.cpp in one process would be asking for trouble.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "key-of-the-test"


@contextmanager
def llama_server(model: Path, *, window_tokens: int = 2048) -> Iterator[str]:
    """Give the address of a server that serves the model."""
    command = [sys.executable, "-m", "tests.llama_server", str(model), str(window_tokens)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[1],
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), "llama.cpp's server did not start"
        try:
            yield address
        finally:
            process.stdin.close()
            process.wait(timeout=30)


def main() -> None:
    """Serve until nobody is interested any more."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.n_ctx = int(sys.argv[2])
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.warmup = False
    params.api_keys = [KEY]
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
