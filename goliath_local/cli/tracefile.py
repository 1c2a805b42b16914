"""Trace files: one JSON line for each thing that happened in a turn, exact prompts included.

Edge: disk. Files are 0600 in a folder that is 0700, bounded in size, number and age. A trace that
cannot be written never costs the answer; the reason is kept in `error`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.cli.ids import is_id
from goliath_local.cli.places import make_folder
from goliath_local.cli.trace_shape import is_whole
from goliath_local.errors import StorageError
from goliath_local.model import ExampleTurn, Part, Request, Stage
from goliath_local.records import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goliath_local.events import Event
    from goliath_local.model import PromptPiece, Reply

FORMAT = 1
MAX_FILE_BYTES = 8 << 20
MAX_FOLDER_BYTES = 256 << 20
_DAY_S = 86_400


class TraceFile:
    """The trace of one turn, written while it happens."""

    def __init__(self, folder: Path, trace_id: str) -> None:
        self.id, self._path = trace_id, folder / f"{trace_id}.jsonl"
        self._left_bytes = MAX_FILE_BYTES
        self._opened_s = time.monotonic()
        self.error: OSError | None = None
        """Why nothing is written any more."""

    def turn(self, facts: dict[str, Any]) -> None:
        """Open the trace with what is known beforehand."""
        self._write({"type": "turn", "format": FORMAT, "id": self.id, **facts})

    def call(
        self,
        request: Request,
        came: Reply | BaseException,
        seconds: float,
        prompt: Sequence[PromptPiece] = (),
    ) -> None:
        """Add a question to the model, what came of it, and the texts the model was given."""
        line: dict[str, Any] = {"type": "call", **self._at(), "seconds": round(seconds, 6)}
        line |= request_json(request)
        if prompt:
            line["prompt"] = prompt_json(prompt)
        if isinstance(came, BaseException):
            line["error"] = f"{type(came).__name__}: {came}"
        else:
            line["reply"] = {"text": came.text, "finish": came.finish, **_cost(came)}
        self._write(line)

    def event(self, event: Event) -> None:
        """Add an event of the turn."""
        fields = to_json(event)
        self._write({"type": "event", **self._at(), "event": {"type": event.type, **fields}})

    def result(self, facts: dict[str, Any]) -> None:
        """Close the trace with what came out."""
        self._write({"type": "result", **self._at(), **facts})

    def _at(self) -> dict[str, float]:
        """Seconds since the turn began."""
        return {"at": round(time.monotonic() - self._opened_s, 6)}

    def _write(self, line: dict[str, Any]) -> None:
        data = (json.dumps(line, default=str, separators=(",", ":")) + "\n").encode()
        if self.error is not None or self._left_bytes <= 0:
            return
        if len(data) > self._left_bytes:
            data, self._left_bytes = b'{"type":"full"}\n', 0
        self._left_bytes -= len(data)
        try:
            make_folder(self._path.parent)
            descriptor = os.open(self._path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(data)
        except OSError as error:
            self.error = error


def prompt_json(prompt: Sequence[PromptPiece]) -> list[dict[str, Any]]:
    """Return a prompt as the model gets it, as JSON; the template's pieces are marked."""
    return [
        {"part": piece.name, "text": piece.text, "tokens": piece.tokens}
        | ({"template": True} if piece.is_template else {})
        for piece in prompt
    ]


def request_json(request: Request) -> dict[str, Any]:
    """Return the question as JSON; `request_from` reads it back."""
    return {
        "stage": request.stage.value,
        "system": [dataclasses.asdict(part) for part in request.system],
        "examples": [dataclasses.asdict(turn) for turn in request.examples],
        "user": [dataclasses.asdict(part) for part in request.user],
        "schema": request.schema,
        "maxTokens": request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
    }


def request_from(line: dict[str, Any]) -> Request:
    """Return the question of a trace's line.

    Raises:
        StorageError: the line is not whole.
    """
    try:
        return Request(
            stage=Stage(line["stage"]),
            system=tuple(Part(**part) for part in line["system"]),
            examples=tuple(ExampleTurn(**turn) for turn in line["examples"]),
            user=tuple(Part(**part) for part in line["user"]),
            schema=line["schema"],
            max_tokens=line["maxTokens"],
            temperature=line["temperature"],
            seed=line["seed"],
        )
    except (KeyError, TypeError, ValueError) as error:
        msg = f"A question in the trace is not whole ({error!r}). Take another trace."
        raise StorageError(msg) from error


def _cost(reply: Reply) -> dict[str, Any]:
    return {"usage": to_json(reply.usage), "choices": to_json(reply.choices)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace read back."""

    id: str
    turn: dict[str, Any]
    calls: tuple[dict[str, Any], ...]
    events: tuple[dict[str, Any], ...]
    result: dict[str, Any]
    """Empty when the turn did not come to its end."""

    lines: tuple[dict[str, Any], ...] = ()
    """Calls, events and the result, in the order in which they came."""

    damaged_lines: int = 0


def trace_paths(folder: Path) -> list[Path]:
    """Return the trace files, newest first."""
    return sorted(folder.glob("*.jsonl"), key=lambda path: path.name, reverse=True)


def find_trace(folder: Path, name: str) -> Path:
    """Return the file of the trace of that name, of its beginning, or of `last`.

    Raises:
        StorageError: there is none, or more than one.
    """
    paths = trace_paths(folder)
    if name == "last" and paths:
        return paths[0]
    found = [path for path in paths if is_id(name) and path.stem.startswith(name.upper())]
    if len(found) == 1:
        return found[0]
    many = f"{len(found)} traces begin with" if found else "There is no trace"
    msg = f'{many} "{name}". See: goliath-local trace list'
    raise StorageError(msg)


def read_trace(path: Path) -> Trace:
    """Return the trace in that file; lines that are not whole are counted and left out.

    Raises:
        StorageError: it cannot be read, or holds no turn.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        msg = f"{path}: {error.strerror}. See: goliath-local trace list"
        raise StorageError(msg) from error
    lines = [_line(text) for text in raw.splitlines() if text.strip()]
    whole = [line for line in lines if line is not None]
    turn = next((line for line in whole if line.get("type") == "turn"), None)
    if turn is None:
        msg = f"{path} holds no turn. Delete it: it is of no use."
        raise StorageError(msg)
    return Trace(
        id=path.stem,
        turn=turn,
        calls=tuple(line for line in whole if line.get("type") == "call"),
        events=tuple(line["event"] for line in whole if line.get("type") == "event"),
        result=next((line for line in whole if line.get("type") == "result"), {}),
        lines=tuple(line for line in whole if line.get("type") in {"call", "event", "result"}),
        damaged_lines=len(lines) - len(whole),
    )


def _line(text: bytes) -> dict[str, Any] | None:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return read if is_whole(read) else None


def sweep(folder: Path, *, days: int, now_s: float | None = None) -> int:
    """Delete traces older than that many days, and the oldest beyond the folder's bound.

    Returns:
        How many were deleted.
    """
    now_s = time.time() if now_s is None else now_s
    deleted, kept_bytes = 0, 0
    for path in trace_paths(folder):
        try:
            status = path.stat()
            kept_bytes += status.st_size
            if now_s - status.st_mtime > days * _DAY_S or kept_bytes > MAX_FOLDER_BYTES:
                path.unlink(missing_ok=True)
                deleted += 1
        except OSError:
            continue
    return deleted


def remove_traces(folder: Path, conversation_id: str | None) -> int:
    """Delete the traces of one conversation; return how many there were."""
    removed = 0
    for path in trace_paths(folder):
        try:
            trace = read_trace(path)
        except StorageError:
            continue
        if trace.turn.get("conversation") == conversation_id:
            path.unlink(missing_ok=True)
            removed += 1
    return removed
