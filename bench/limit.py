"""What the machine could do at most, and how much of it the engine gets.

Edge: compiles and runs `probe.c` where there is a C compiler, asks numpy where there is none.
A decoded token reads every weight once, and what of the KV cache is filled; a prompt token costs
two operations a weight. The share of one in the other is what is left to gain by better kernels.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.measures import Measure
from bench.run import skipped
from goliath_local.bench import Trials, measure_raw, ratio
from goliath_local.engine import EngineSettings, open_bare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.run import Run
    from goliath_local.catalogue import GgufHeader

SECTION = "limit"
_BUFFER_MB = 1024
_ROUNDS = 5
_SIDE = 2048
_EMBEDDING, _OUTPUT = "token_embd.weight", "output.weight"


def measure(run: Run) -> Iterator[Measure]:
    """Yield the limits, the bare speeds, and the shares."""
    header, threads = run.subject.header, run.subject.threads
    # The limits before and after: a machine that changed its pace in between is seen.
    before = list(limits(threads))
    depth = 1024
    trials = Trials(
        prompts=(512,),
        replies=(run.amounts.decode_tokens,),
        depths=(0, depth),
        repetitions=run.amounts.rounds,
        seed=run.subject.seed,
    )
    settings = EngineSettings(threads=threads)
    with open_bare(run.subject.path, settings) as bare:
        rows = {
            timed.row.test: timed.row
            for timed in measure_raw(
                bare.session, trials, vocabulary_tokens=bare.vocabulary_tokens
            )
        }
    found = _merged(before, list(limits(threads)))
    yield from found.values()
    for row in rows.values():
        yield Measure(section=SECTION, name=row.test, unit="tokens_per_s", samples=row.samples)
    decode = rows[f"tg{trials.replies[0]}"]
    yield from _decode_shares(found, decode.samples, bytes_per_token(header, depth_tokens=0))
    yield from _prefill_shares(found, rows["pp512"].samples, operations_per_token(header))
    deep = bytes_per_token(header, depth_tokens=depth)
    note = f"{deep / 1e6:.0f} MB a token"
    speeds = rows[f"{decode.test} @ d{depth}"].samples
    shares = _shares(speeds, deep, found["memory bandwidth, reading"], scale=1e9)
    name = f"decoding at depth {depth}: share of the bandwidth"
    yield Measure(section=SECTION, name=name, unit="ratio", samples=shares, note=note)


def bytes_per_token(header: GgufHeader, *, depth_tokens: int) -> int:
    """Return the bytes that must be read to decode one token.

    An embedding that is only looked up is not read; one that serves as the output layer is.
    """
    weights = sum(tensor.size_bytes for tensor in header.tensors if _is_read(header, tensor.name))
    return weights + depth_tokens * (header.kv_bytes_per_token or 0)


def operations_per_token(header: GgufHeader) -> int:
    """Return the multiplications and additions of one prompt token, output layer left out.

    Only the last token of a prompt passes the output layer.
    """
    numbers = 0
    for tensor in header.tensors:
        if len(tensor.shape) > 1 and tensor.name not in (_EMBEDDING, _OUTPUT):
            numbers += int(np.prod(tensor.shape, dtype=np.int64))
    return 2 * numbers


def limits(threads: int) -> Iterator[Measure]:
    """Yield the bandwidth and the matrix rates of this machine."""
    probed = list(_probed(threads))
    if probed:
        read = tuple(one["read_bytes_per_s"] / 1e9 for one in probed)
        operations = tuple(one["int8_ops_per_s"] / 1e9 for one in probed)
    else:
        read, operations = _numpy_read(threads), ()
    name = "memory bandwidth, reading"
    yield Measure(section=SECTION, name=name, unit="gb_per_s", samples=read)
    if any(operations):
        name = "8-bit multiply-add rate, on registers"
        yield Measure(section=SECTION, name=name, unit="gflop_per_s", samples=operations)
    name = "32-bit matrix rate, numpy"
    yield Measure(section=SECTION, name=name, unit="gflop_per_s", samples=_numpy_matrix())


def _merged(before: list[Measure], after: list[Measure]) -> dict[str, Measure]:
    return {
        one.name: Measure(
            section=SECTION, name=one.name, unit=one.unit, samples=(*one.samples, *other.samples)
        )
        for one, other in zip(before, after, strict=True)
    }


def _decode_shares(
    found: dict[str, Measure], speeds: tuple[float, ...], size_bytes: int
) -> Iterator[Measure]:
    shares = _shares(speeds, size_bytes, found["memory bandwidth, reading"], scale=1e9)
    note = f"{size_bytes / 1e6:.0f} MB a token"
    name = "decoding: share of the bandwidth"
    yield Measure(section=SECTION, name=name, unit="ratio", samples=shares, note=note)


def _prefill_shares(
    found: dict[str, Measure], speeds: tuple[float, ...], operations: int
) -> Iterator[Measure]:
    note = f"{operations / 1e9:.2f} GFLOP a token"
    for limit in ("8-bit multiply-add rate, on registers", "32-bit matrix rate, numpy"):
        if limit in found:
            shares = _shares(speeds, operations, found[limit], scale=1e9)
            name = f"prompt: share of the {limit}"
            yield Measure(section=SECTION, name=name, unit="ratio", samples=shares, note=note)


def _shares(
    speeds: tuple[float, ...], amount: int, limit: Measure, *, scale: float
) -> tuple[float, ...]:
    # The best round is the limit: a slower one was held up by something.
    return tuple(ratio(speed * amount, max(limit.samples) * scale) for speed in speeds)


def _is_read(header: GgufHeader, name: str) -> bool:
    has_output = any(tensor.name == _OUTPUT for tensor in header.tensors)
    return name != _EMBEDDING or not has_output


def _probed(threads: int) -> Iterator[dict[str, float]]:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        skipped("the probe in C", "there is no compiler; numpy measures instead")
        return
    source = Path(__file__).with_name("probe.c")
    program = Path(tempfile.gettempdir()) / f"goliath-bench-probe-{time.time_ns()}"
    build = [compiler, "-O3", "-march=native", "-pthread", str(source), "-o", str(program)]
    try:
        subprocess.run(build, check=True, capture_output=True)
        ran = subprocess.run(
            [str(program), str(threads), str(_BUFFER_MB), str(_ROUNDS)],
            check=True,
            capture_output=True,
            text=True,
        )
        yield from (json.loads(line) for line in ran.stdout.splitlines())
    except (OSError, subprocess.CalledProcessError) as error:
        skipped("the probe in C", error)
    finally:
        program.unlink(missing_ok=True)


def _numpy_read(threads: int) -> tuple[float, ...]:
    data = np.ones(_BUFFER_MB * (1 << 18), dtype=np.float32)
    slices = np.array_split(data, threads)
    found = []
    for _ in range(_ROUNDS):
        readers = [threading.Thread(target=np.dot, args=(part, part)) for part in slices]
        started = time.perf_counter()
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        found.append(data.nbytes / (time.perf_counter() - started) / 1e9)
    return tuple(found)


def _numpy_matrix() -> tuple[float, ...]:
    square = np.random.default_rng(0).random((_SIDE, _SIDE), dtype=np.float32)
    found = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        square @ square
        found.append(2 * _SIDE**3 / (time.perf_counter() - started) / 1e9)
    return tuple(found)
