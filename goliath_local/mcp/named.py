"""MCP servers as the command line names them: a command, or a file that lists several.

Edge: reads the file and starts the servers.

    mcp:uvx mcp-server-time
    mcp[get_current_time]:uvx mcp-server-time        only these tools
    mcp:servers.json                                 the common form, {"mcpServers": {…}}
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from goliath_local.errors import ConfigError
from goliath_local.mcp.adopt import MAX_TOOLS
from goliath_local.mcp.server import CALL_TIMEOUT_S, START_TIMEOUT_S, ToolServer, mcp_tools
from goliath_local.typed_paths import typed_path
from goliath_local.wire import safe_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goliath_local.tools import Tool

_NAMED = re.compile(r"mcp(?:\[(?P<tools>[^\]]*)\])?:(?P<what>.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_FORM = 'Write for example -T "mcp:uvx mcp-server-time", or -T mcp:servers.json.'


class _Server(BaseModel):
    """One server of a file, as other programs write it; what they add is passed over."""

    model_config = ConfigDict(extra="ignore")

    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    disabled: bool = False
    tools: tuple[str, ...] | None = None
    prefix: str = ""
    start_timeout_s: float = Field(default=START_TIMEOUT_S, gt=0)
    call_timeout_s: float = Field(default=CALL_TIMEOUT_S, gt=0)


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    servers: dict[str, _Server] = Field(alias="mcpServers")


def is_tool_server(name: str) -> bool:
    """True when the name has the form of a tool server's."""
    return _NAMED.fullmatch(name) is not None


def named_tools(name: str) -> tuple[Tool, ...]:
    """Start what the name stands for and return the tools; the servers end with Python.

    Raises:
        ConfigError: the name, the file or the choice of tools cannot be used.
        ToolServerError: a server did not start.
    """
    match = _NAMED.fullmatch(name)
    what = match["what"].strip() if match else ""
    if match is None or not what:
        msg = f"{name}: there is no command. {_FORM}"
        raise ConfigError(msg)
    wanted = None if match["tools"] is None else re.split(r"[,\s]+", match["tools"].strip())
    if wanted == [""]:
        msg = f"{name}: no tool is named in the brackets. Write mcp[one,other]:{what}"
        raise ConfigError(msg)
    if what.endswith(".json") and len(what.split()) == 1:
        return _of_file(typed_path(what), wanted)
    return tuple(mcp_tools(what, tools=wanted).tools.values())


def _of_file(path: Path, wanted: Sequence[str] | None) -> tuple[Tool, ...]:
    servers: list[ToolServer] = []
    try:
        for name, server in _read(path).items():
            # Which server has which of the wanted tools shows once all have started.
            servers.append(_start(name, server, everything=wanted is not None))
        return _chosen(path, servers, wanted)
    except BaseException:
        for one in servers:
            one.close()
        raise


def _start(name: str, server: _Server, *, everything: bool) -> ToolServer:
    if server.command is None:
        other = safe_url(server.url) if server.url else "this one"
        msg = f"{name}: only servers with a command can be used, not {other}."
        raise ConfigError(msg)
    return mcp_tools(
        [server.command, *(_filled(name, word) for word in server.args)],
        tools=server.tools,
        most=None if everything else MAX_TOOLS,
        prefix=server.prefix,
        name=name,
        env={key: _filled(name, value) for key, value in server.env.items()},
        cwd=server.cwd,
        start_timeout_s=server.start_timeout_s,
        call_timeout_s=server.call_timeout_s,
        secrets=_fillings(server.args),
    )


def _chosen(
    path: Path, servers: Sequence[ToolServer], wanted: Sequence[str] | None
) -> tuple[Tool, ...]:
    offered = [tool for server in servers for tool in server.tools.values()]
    names = [tool.name for tool in offered]
    for name in wanted or ():
        if name not in names:
            msg = f"{path.name}: no server offers {name!r}. They offer {', '.join(names)}."
            raise ConfigError(msg)
    kept = [tool for tool in offered if wanted is None or tool.name in wanted]
    if len(kept) > MAX_TOOLS:
        msg = (
            f"{path.name}: {len(kept)} tools are too many; a small model keeps {MAX_TOOLS} apart. "
            f"Choose some: -T 'mcp[{names[0]},{names[1]}]:{path}', from {', '.join(names)}."
        )
        raise ConfigError(msg)
    return tuple(kept)


def _read(path: Path) -> Mapping[str, _Server]:
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        msg = f"There is no file {path}. {_FORM}"
        raise ConfigError(msg) from error
    except (OSError, ValueError, RecursionError) as error:
        msg = f"{path} is not a JSON document: {error}. Mend it."
        raise ConfigError(msg) from error
    try:
        found = _File.model_validate(document).servers
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "the document"
        form = '{"mcpServers": {"NAME": {"command": "…"}}}'
        msg = f"{path}: {place}: {first['msg']}. Write {form}."
        raise ConfigError(msg) from error
    active = {name: server for name, server in found.items() if not server.disabled}
    if not active:
        msg = f'{path} names no server. Put one under "mcpServers".'
        raise ConfigError(msg)
    return active


def _fillings(texts: Sequence[str]) -> list[str]:
    """Return what `${NAME}` stands for in the texts."""
    names = [name for text in texts for name in _VARIABLE.findall(text)]
    return [os.environ[name] for name in names if name in os.environ]


def _filled(server: str, text: str) -> str:
    """Return the text with `${NAME}` replaced by the variable, so that keys stay out of files."""

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            msg = f"{server}: the variable {match[1]} is not set. Set it, or correct the file."
            raise ConfigError(msg)
        return found

    return _VARIABLE.sub(value, text)
