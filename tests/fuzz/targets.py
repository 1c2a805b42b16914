"""What reads foreign bytes, and what it may answer: a value, or one of its own errors.

Each target takes bytes. Anything else it raises is a fault, and so is a hang.
"""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import gzip
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from goliath_local.catalogue import read_gguf_header, read_manifest
from goliath_local.catalogue.manifest import is_plain_file_name
from goliath_local.catalogue.record import read_record
from goliath_local.cli.rendered import rendered_call
from goliath_local.cli.settings import load_settings
from goliath_local.cli.trace_text import trace_line, trace_lines
from goliath_local.cli.tracefile import read_trace, request_from
from goliath_local.cli.visible import visible
from goliath_local.engine.template import CHATML, Setting, Shape, render_skeleton
from goliath_local.errors import (
    ConfigError,
    FileError,
    GrammarError,
    HttpError,
    ModelError,
    ModelFileError,
    SchemaError,
    StorageError,
)
from goliath_local.filesystem.cursors import Cursors, is_blank
from goliath_local.filesystem.glob import matches, read_glob
from goliath_local.filesystem.paths import confined, file_path, virtual_path
from goliath_local.grammar import compile_schema, read_gbnf
from goliath_local.memory.read import read_memory
from goliath_local.memory.write import memory_text
from goliath_local.wire import read_completion, whole_body
from goliath_local.wire.thinking import Thinking
from tests.catalogue.maker import gguf

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Target:
    """One reader, its seeds, and the errors it may raise."""

    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    may_raise: tuple[type[Exception], ...] = ()


_FOLDER = Path(tempfile.mkdtemp(prefix="goliath-fuzz-"))
_SETTING = Setting(start_text="<s>", end_text="</s>", today=dt.date(2026, 1, 2), variables={})
_MANIFEST = next((Path(__file__).parents[2] / "models" / "manifests").glob("*.toml"))
_MEMORY = json.dumps(
    {
        "version": 1,
        "summary": "Goal: plants",
        "recent": [
            {
                "ask": "a",
                "answer": "b",
                "at": 1,
                "steps": [
                    {"index": 0, "kind": "tool", "brief": "b", "tool": "look", "result": "r"},
                ],
            }
        ],
    }
).encode()
_PART = {"name": "ask", "text": "Hello"}
_CALL = {
    "type": "call",
    "seconds": 0.5,
    "stage": "answer",
    "system": [_PART],
    "examples": [{"user": "u", "assistant": "a"}],
    "user": [_PART],
    "schema": None,
    "maxTokens": 8,
    "temperature": 0.0,
    "seed": 1,
    "reply": {"text": "Hi", "finish": "stop", "usage": {"promptTokens": 3}, "choices": []},
}
_TRACE = b"\n".join(
    json.dumps(line).encode()
    for line in (
        {"type": "turn", "format": 1, "id": "01", "at": 1, "ask": "Hello", "model": {"name": "m"}},
        {"type": "event", "event": {"type": "tool", "tool": "look", "input": {}, "result": "r"}},
        _CALL,
        {"type": "event", "event": {"type": "budget", "tokens": 5, "report": {"byPart": {}}}},
        {"type": "result", "text": "Hi", "handledBy": "device", "bestEffort": False},
    )
)
_COMPLETION = json.dumps(
    {"choices": [{"message": {"content": "hi", "tool_calls": None}, "finish_reason": "stop"}]}
).encode()


def _file(name: str, data: bytes) -> Path:
    path = _FOLDER / name
    path.unlink(missing_ok=True)  # a new file: replaced bytes are written to the disk at once
    path.write_bytes(data)
    return path


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _gguf(data: bytes) -> object:
    return read_gguf_header(_file("m.gguf", data))


def _schema(data: bytes) -> object:
    try:
        schema = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return compile_schema(schema) if isinstance(schema, dict) else None


def _memory(data: bytes) -> object:
    state = read_memory(data).state
    again = read_memory(memory_text(state))
    assert again.state == state
    return state


def _trace(data: bytes) -> object:
    trace = read_trace(_file("t.jsonl", data))
    lines = [trace_line(trace, columns=80), *trace_lines(trace, step=None, with_prompts=True)]
    for call in trace.calls:
        request_from(call)
    return [visible(line) for line in lines]


def _record(data: bytes) -> object:
    _file("x.gguf.json", data)
    return read_record(_FOLDER, "x.gguf")


def _settings(data: bytes) -> object:
    path = _file("config.toml", data)
    return dataclasses.asdict(load_settings({}, config_file=path, environ={}, folder=_FOLDER))


def _environment(data: bytes) -> object:
    names = ("GOLIATH_MODEL", "GOLIATH_THREADS", "GOLIATH_ALLOW", "GOLIATH_TIMEOUT")
    values = dict(zip(names, _text(data).split("\n"), strict=False))
    return load_settings({}, environ=values, folder=_FOLDER)


def _template(data: bytes) -> object:
    return render_skeleton(_text(data), Shape(has_system=True, examples=1), _SETTING)


def _path(data: bytes) -> object:
    text = _text(data)
    spelled = virtual_path(text)
    assert spelled.startswith("/")
    assert ".." not in spelled.split("/")
    assert virtual_path(spelled) == spelled
    assert confined(file_path(text), "/").startswith("/")
    return spelled


def _glob(data: bytes) -> object:
    return matches(read_glob(_text(data)), "/a/b/c/aaaaaaaaaaaaaaaaaaaaaaaaaa.md")


def _cursor(data: bytes) -> object:
    text = _text(data)
    return is_blank(text) or Cursors().resolve(text, _QUERY)


_QUERY: Any = SimpleNamespace(tool="read", path="/a", pattern="", more=())


def _body(data: bytes) -> object:
    async def pieces(_: int) -> Any:
        for start in range(0, len(data), 50):
            yield data[start : start + 50]

    response: Any = SimpleNamespace(
        url="http://localhost/x", headers={"content-encoding": "gzip"}, aiter_raw=pieces
    )
    return asyncio.run(whole_body(response, max_bytes=4096))


def _completion(data: bytes) -> object:
    return read_completion(data).text


def _thinking(data: bytes) -> object:
    text, whole, cut = data.decode("utf-8", "replace"), Thinking(), Thinking()
    once = whole.feed(text) + whole.finish()
    pieces = "".join(cut.feed(char) for char in text) + cut.finish()
    assert (once, whole.reasoning) == (pieces, cut.reasoning)
    return once


def _shown(data: bytes) -> object:
    text = _text(data)
    for shown in (visible(text), *rendered_call("tool", {"x": text, text: 1})):
        assert not any((ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 for c in shown)
        shown.encode()
    return text


TARGETS: dict[str, Target] = {
    "gbnf": Target(
        lambda data: read_gbnf(_text(data)),
        (b'root ::= "a" [b-c]+ (x | "\\u00e9"){1,3} # end\nx ::= [^"\\x00-\\x1f]*\n',),
        (GrammarError,),
    ),
    "schema": Target(
        _schema,
        (
            b'{"type":"object","properties":{"a":{"type":"integer","minimum":-3,"maximum":9}},'
            b'"required":["a"],"additionalProperties":false}',
            b'{"type":"array","items":{"$ref":"#/$defs/x"},"$defs":{"x":{"enum":["a",1]}}}',
            b'{"type":"string","pattern":"^[a-c]{1,3}$","maxLength":2}',
        ),
        (SchemaError,),
    ),
    "gguf": Target(_gguf, (gguf()[:900] + gguf()[900:], gguf(tensors=())), (ModelFileError,)),
    "memory": Target(_memory, (_MEMORY,)),
    "trace": Target(_trace, (_TRACE,), (StorageError,)),
    "record": Target(
        _record,
        (b'{"name":"x","sizeBytes":3,"sha256":"00","verifiedAt":"2026","source":"here"}',),
        (StorageError,),
    ),
    "manifest": Target(
        lambda data: read_manifest(data.decode("utf-8", "replace"), where="x.toml"),
        (_MANIFEST.read_bytes(),),
        (ConfigError,),
    ),
    "settings": Target(
        _settings,
        (b'model = "x"\nthreads = 1\nallow = ["a"]\ntimeout = 1.5\ncolor = "never"\n',),
        (ConfigError,),
    ),
    "environment": Target(_environment, (b"x\n1\na,b\n1.5",), (ConfigError,)),
    "template": Target(
        _template,
        (
            CHATML.encode(),
            b"{% set x = namespace(v='') %}{% for m in messages %}{{ x.v }}{{ m.content|trim }}"
            b"{% endfor %}{{ strftime_now('%d') }}{{ [1]|tojson }}",
        ),
        (ConfigError,),
    ),
    "path": Target(_path, (b"/a/../b/./c.md", b"notes/\xc3\xa9/x", b"C:\\x\\..\\y"), (FileError,)),
    "glob": Target(_glob, (b"**/[a-c]*/{x,y}?.md", b"**/**/*a*a*a*b"), (FileError,)),
    "cursor": Target(_cursor, (b"abcd2345", b"null", b" "), (FileError,)),
    "compression": Target(
        _body, (gzip.compress(b"hello " * 99, mtime=0), gzip.compress(bytes(9999))), (HttpError,)
    ),
    "completion": Target(_completion, (_COMPLETION,), (ModelError, HttpError)),
    "thinking": Target(_thinking, (b"<think>a</think>\n\nb", b"[THINK]x[/THINK]y", b"<thi")),
    "shown": Target(_shown, (b"ok\x1b[2J\xe2\x80\xae\xcc\x81e\xc2\x9b", b"\x00\xff\x7f")),
    "file name": Target(
        lambda data: is_plain_file_name(_text(data)), (b"a.gguf", b"CON", b"../x", b"a:b")
    ),
}
