"""`mcp_tools`: the tools of an MCP server, as tools for an agent.

Edge: it starts the server.
"""

from __future__ import annotations

import atexit
import shlex
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from goliath_local.budget import clip
from goliath_local.errors import ConfigError, ToolServerError
from goliath_local.mcp.adopt import MAX_TOOLS, Adopted, choose, read_result
from goliath_local.tools import Tool, ToolContext, define_tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp.types import Tool as OfferedTool

    from goliath_local.mcp.connection import Connection
    from goliath_local.records import Json

START_TIMEOUT_S = 10.0
CALL_TIMEOUT_S = 60.0
_SHOWN_CHARACTERS = 200


class ToolServer:
    """A running MCP server and the tools chosen from it. Ends with `close`, `with`, or Python."""

    def __init__(self, connection: Connection, tools: Mapping[str, Tool]) -> None:
        self.name = connection.name
        self.tools = tools
        """The tools by name: what `create_agent` takes as `tools`."""

        self._connection = connection
        atexit.register(connection.close)

    def close(self) -> None:
        """End the server and everything it started."""
        atexit.unregister(self._connection.close)
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def mcp_tools(
    command: str | Sequence[str],
    *,
    tools: Sequence[str] | None = None,
    most: int | None = MAX_TOOLS,
    prefix: str = "",
    name: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    start_timeout_s: float = START_TIMEOUT_S,
    call_timeout_s: float = CALL_TIMEOUT_S,
    secrets: Sequence[str] = (),
) -> ToolServer:
    """Start an MCP server over stdio and return the tools chosen from it.

    Waits until the server answers, so call it in a thread where a loop runs. What a server does
    not mark as read-only changes something here: it is asked about before every call, and
    declined where nobody can be asked.

    Args:
        command: the program and its arguments; a text is split as a shell would.
        tools: names of at most five tools; all, if it offers no more than that.
        most: how many tools may be taken; None to choose from `ToolServer.tools` afterwards.
        prefix: put before their names, to tell servers apart.
        name: what the server is called in messages; its program otherwise.
        env: added to the few variables that a server inherits (such as PATH and HOME); their
            values are left out of messages.
        cwd: folder it runs in.
        start_timeout_s: seconds until it has to be there.
        call_timeout_s: seconds until a call counts as failed.
        secrets: texts in the command, such as a key, that are left out of messages too.

    Raises:
        ConfigError: the command is blank, the choice impossible, or the `mcp` extra missing.
        ToolServerError: the server did not start; says its last words.
    """
    argv = shlex.split(command) if isinstance(command, str) else [str(part) for part in command]
    if not argv or not argv[0].strip():
        raise ConfigError('The command is blank. Write for example "uvx mcp-server-time".')
    name = name or PurePath(argv[0]).name
    connection = _connection(name, argv, env=env or {}, cwd=cwd, secrets=secrets)
    offered = _opened(connection, argv, start_timeout_s)
    try:
        chosen = choose(connection.name, offered, tools, prefix=prefix, most=most)
        made = {tool.name: _tool(connection, tool, call_timeout_s) for tool in chosen}
    except BaseException:
        connection.close()
        raise
    return ToolServer(connection, MappingProxyType(made))


def _opened(
    connection: Connection, argv: Sequence[str], timeout_s: float
) -> tuple[OfferedTool, ...]:
    try:
        return connection.open(timeout_s)
    except ToolServerError as error:
        command = clip(connection.hidden(shlex.join(argv)), _SHOWN_CHARACTERS)
        # Last words of a server often end without a full stop.
        end = "" if error.reason.endswith((".", "!", "?")) else "."
        reason = f"{error.reason}{end} Run it by itself to see more: {command}"
        raise ToolServerError(error.server, reason) from error


def _connection(
    name: str,
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None,
    secrets: Sequence[str],
) -> Connection:
    try:
        # Here and not above: the room can be looked at without the extra.
        from goliath_local.mcp.connection import Connection
    except ModuleNotFoundError as error:
        message = "MCP servers need an extra: pip install 'goliath-local[mcp]'."
        raise ConfigError(message) from error
    return Connection(name, argv, env=env, cwd=cwd, secrets=secrets)


def _tool(connection: Connection, adopted: Adopted, timeout_s: float) -> Tool:
    async def execute(given: Mapping[str, Any], context: ToolContext) -> Json:
        del context
        result = await connection.call(adopted.server_name, given, timeout_s)
        try:
            return read_result(connection.name, adopted.server_name, result)
        except ToolServerError as error:
            raise ToolServerError(error.server, connection.hidden(error.reason)) from None

    return define_tool(
        name=adopted.name,
        description=adopted.description,
        parameters=adopted.parameters,
        execute=execute,
        writes=adopted.writes,
        requires_confirmation=adopted.writes,
        timeout_s=timeout_s + 1.0,
    )
