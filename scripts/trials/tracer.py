"""One change of a store in a child process, with a fault at one of its system calls.

Edge: forks, and lets strace hold on to the child. Needs Linux and strace.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.errors import GoliathError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_ANY_TRACER = (0x59616D61, ctypes.c_ulong(-1))
"""PR_SET_PTRACER, PR_SET_PTRACER_ANY: where Yama forbids strangers to trace."""

DONE, REFUSED, BROKEN = 0, 3, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a child came to its end."""

    code: int
    """0 done, 3 refused with a typed error, 4 any other exception, -9 killed."""

    said: str
    """The text of the exception."""

    log: str
    """What strace wrote."""

    @property
    def was_hit(self) -> bool:
        """True when the fault came to pass."""
        return self.code < 0 or "(INJECTED)" in self.log


def run_traced(job: Callable[[], None], log: Path, options: Sequence[str]) -> Ended:
    """Run the job in a child under strace with these options, and return how it ended."""
    reading, writing = os.pipe()
    said = mmap.mmap(-1, 65_536)
    child = os.fork()
    if child == 0:
        _be_the_child(job, reading, said)
    os.close(reading)
    command = ["strace", "-f", "-o", str(log), *options, "-p", str(child)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
        assert tracer.stderr is not None
        while "attached" not in (line := tracer.stderr.readline()):
            if not line:
                os.close(writing)
                os.waitpid(child, 0)
                raise RuntimeError("strace could not hold on to the child")
        os.write(writing, b"x")
        os.close(writing)
        _, status = os.waitpid(child, 0)
        tracer.communicate(timeout=60)
    text = said.read(65_536).rstrip(b"\0").decode("utf-8", "replace")
    return Ended(
        code=os.waitstatus_to_exitcode(status), said=text, log=log.read_text(errors="replace")
    )


def _be_the_child(job: Callable[[], None], gate: int, said: mmap.mmap) -> None:
    code = BROKEN
    try:
        ctypes.CDLL(None).prctl(*_ANY_TRACER, 0, 0, 0)
        os.read(gate, 1)
        job()
        code = DONE
    except GoliathError as error:
        code = REFUSED
        said.write(str(error).encode()[:60_000])
    except BaseException:  # noqa: BLE001 - whatever it is, the trial is told
        said.write(traceback.format_exc().encode()[:60_000])
    finally:
        os._exit(code)
