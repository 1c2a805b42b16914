"""Stands between this program and a tool server. Edge: processes; a program of its own.

    python -I -S guard.py COMMAND ARGUMENT…

Started in a process group of its own, it runs the server in that group, passes its lines on, and
ends the whole group when the program that wanted it is gone, however that ended: a server that
sleeps does not notice that nobody reads any more. A line without end is not passed on.

Only the standard library is used, so that it starts quickly. POSIX; elsewhere it is not needed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import IO, NoReturn

MAX_LINE_BYTES = 4_194_304
LOOK_EVERY_S = 0.5
GRACE_S = 1.0
NOT_STARTED = 127


def main(command: list[str]) -> int:
    """Run the command until it or its reader ends; return its exit status."""
    parent = os.getppid()
    try:
        server = subprocess.Popen(command, stdout=subprocess.PIPE)
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
        return NOT_STARTED
    # The group is told to end as a whole; this process ends when its server has.
    signal.signal(signal.SIGTERM, lambda *_: None)
    os.close(0)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    if server.stdout is not None and not _pass_on(server.stdout):
        _end_group()
    return server.wait()


def _pass_on(lines: IO[bytes]) -> bool:
    """Pass on line after line; return whether that went well to the end."""
    while line := lines.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            sys.stderr.write(f"a line of over {MAX_LINE_BYTES:,} bytes: the server was ended\n")
            return False
        try:
            while line:
                line = line[os.write(1, line) :]
        except OSError:
            return False
    return True


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    _end_group()


def _end_group() -> NoReturn:
    sys.stderr.flush()
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE_S)
    os.killpg(0, signal.SIGKILL)
    raise SystemExit


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
