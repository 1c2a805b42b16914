"""What a stranger hands the native library, in children that may die of it (B1, B3).

    python scripts/hostile.py --way files --count 60         # damaged copies of a model
    python scripts/hostile.py --way grammars --count 5000    # garbled grammars

Our reader sees each of them first. Files that it lets pass go to llama.cpp's loader the way a
file does that somebody said yes to: in a child with limits. Grammars that it lets pass go to
llama.cpp's reader, and are begun with. A file may kill the child: then it has to be told with
the signal's name, and this process lives. A grammar may not. Exit code 1 if not as promised.
"""

from __future__ import annotations

import argparse
import json
import random
import select
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from goliath_local.catalogue import find_card, installed_path, read_gguf_header  # noqa: E402
from goliath_local.cli.load_probe import library_command, run_probe  # noqa: E402
from goliath_local.errors import GrammarError, ModelFileError  # noqa: E402
from goliath_local.grammar import read_gbnf  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from goliath_local.cli.load_probe import Probed

ODD = (0, 1, 2**16, 2**20, 2**22, 2**31, 2**32 - 1, 2**53, 2**63, 2**64 - 1)
LOAD_S = 60
ANSWER_S = 30
COMPILE_S = 1.0
A_CHILD = 50
"""Inputs of one child."""

_PIECES = ('"', "[", "]", "(", ")", "{", "}", "*", "+", "?", "|", "^", "-", "\\", "::=", "\n", " ")
_ATOMS = ("root", "r1", '"a"', "[a-z]", "[^\\n]", "{2,5}", "{0,300}", "\\x41", "\\u0041", ".")


def damaged(data: bytes, head_bytes: int, chance: random.Random) -> bytes:
    """Return the file with one to three damages, mostly in the part that says what it is."""
    body = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(head_bytes if chance.random() < 0.8 else len(body))
        match chance.randrange(6):
            case 0:
                body[at] ^= 1 << chance.randrange(8)
            case 1:
                body[at : at + 8] = struct.pack("<Q", chance.choice(ODD))
            case 2:
                size = chance.randint(1, 200)
                body[at : at + size] = bytes(size)
            case 3:
                other = chance.randrange(head_bytes)
                body[at : at + 32] = body[other : other + 32]
            case 4:
                body[at : at + 4] = struct.pack("<f", chance.choice([float("nan"), 1e38, -1.0]))
            case _:
                body[at : at + 64] = chance.randbytes(64)
    # A cut or a longer file is refused by size; here the size stays.
    return bytes(body[: len(data)].ljust(len(data), b"\0"))


def files(model: Path, count: int, chance: random.Random) -> tuple[Counter[str], list[str]]:
    """Damage copies until so many have passed our reader, and load those in a child."""
    data, head_bytes = model.read_bytes(), read_gguf_header(model).data_offset_bytes
    said: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.gguf"
        command = [*library_command(), "--model", str(path), "--models-dir", folder]
        command += ["--threads", "1"]  # two wait for each other where others compute
        while sum(said.values()) - said["refused by our reader"] < count:
            path.write_bytes(damaged(data, head_bytes, chance))
            try:
                read_gguf_header(path)
            except ModelFileError:
                said["refused by our reader"] += 1
                continue
            said[_outcome(run_probe(command, timeout_s=LOAD_S))] += 1
    return said, [what for what in said if what.startswith("told nothing")]


def _outcome(tried: Probed) -> str:
    if tried.ok:
        return "replied"
    if tried.signal is not None:
        return f"child ended by {tried.signal}, told"
    if "did not end" in tried.why:
        return "child took too long, told"
    is_told = bool(tried.why) and "Traceback" not in tried.why
    return "refused in words" if is_told else f"told nothing: {tried.why[-200:]}"


class Child:
    """The process that hands grammars to llama.cpp, started anew after some, or when it died."""

    def __init__(self, model: Path) -> None:
        self._command = [sys.executable, "-m", "scripts.trials.grammar_child", str(model)]
        self._process: subprocess.Popen[str] | None = None
        self._answered = 0

    def tried(self, gbnf: str) -> dict[str, Any]:
        """Return the answer; `fault` in it says how the child ended instead."""
        if self._process is None or self._answered % A_CHILD == 0:
            self.close()
            self._process = subprocess.Popen(
                self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        self._answered += 1
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(gbnf) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            return self._died(process)
        if not select.select([process.stdout], [], [], ANSWER_S)[0]:
            process.kill()
            return {"fault": f"no answer within {ANSWER_S} s"} | self._died(process, told="")
        line = process.stdout.readline()
        return json.loads(line) if line else self._died(process)

    def close(self) -> None:
        """End the child."""
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def _died(self, process: subprocess.Popen[str], told: str = "ended with") -> dict[str, Any]:
        process.wait()
        self._process = None
        return {"fault": f"{told} {process.returncode}"} if told else {}


def grammars(model: Path, count: int, chance: random.Random) -> tuple[Counter[str], list[str]]:
    """Garble grammars, and hand what passes our reader to llama.cpp."""
    seeds = [path.read_text() for path in sorted((ROOT / "grammars").glob("*.gbnf"))]
    seeds += ['root ::= "a" r1*\nr1 ::= [a-z] | "b"? | (r1x "c"){2,4}\nr1x ::= [^"\\\\] .\n'] * 4
    said: Counter[str] = Counter()
    faults: list[str] = []
    child = Child(model)
    for _ in range(count):
        text = garbled(chance.choice(seeds), chance)
        began = time.process_time()
        try:
            read_gbnf(text)
        except GrammarError:
            said["refused by our reader"] += 1
            continue
        finally:
            if time.process_time() - began > COMPILE_S:
                faults.append(f"our reader took {time.process_time() - began:.1f} s: {text!r}")
        answer = child.tried(text)
        said["loads" if answer.get("loads") else "refused by llama.cpp"] += 1
        if "fault" in answer or answer.get("s", 0.0) > COMPILE_S:
            faults.append(f"{answer}: {text!r}")
    child.close()
    return said, faults


def garbled(text: str, chance: random.Random) -> str:
    """Return the grammar with a few letters, pieces or lines changed."""
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(text) + 1)
        match chance.randrange(6):
            case 0:
                text = text[:at] + text[at + chance.randint(1, 8) :]
            case 1:
                text = text[:at] + chance.choice(_PIECES) + text[at:]
            case 2:
                text = text[:at] + f" {chance.choice(_ATOMS)} " + text[at:]
            case 3:
                lines = text.splitlines()
                chance.shuffle(lines)
                text = "\n".join(lines)
            case 4:
                other = chance.randrange(len(text) + 1)
                text = text[:at] + text[other : other + chance.randint(1, 40)] + text[at:]
            case _:
                text = (
                    text[:at] + chr(chance.choice([0, 9, 127, 233, 0x2028, 0x1F600])) + text[at:]
                )
    return text


def main() -> int:
    """Run what is asked for and print what came out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    ways: dict[str, Callable[..., tuple[Counter[str], list[str]]]] = {
        "files": files,
        "grammars": grammars,
    }
    parser.add_argument("--way", choices=list(ways), required=True)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    path = installed_path(find_card(options.model))
    if path is None:
        print(f"{options.model} is not installed: goliath-local models pull {options.model}")
        return 3
    said, faults = ways[options.way](path, options.count, random.Random(options.seed))
    for fault in faults:
        print(f"  FAULT {fault}")
    print(f"{options.way}, seed {options.seed}: {dict(said)}, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
