"""Tool servers for the tests, each a program of its own: `python servers.py NAME`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def good() -> None:
    """A sound server with tools of every kind."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations

    server = MCPServer("good")
    reads = ToolAnnotations(read_only_hint=True)

    @server.tool(annotations=reads)
    def add(a: int, b: int) -> int:
        """Add two numbers. And then a long explanation
        that goes on over several lines."""
        return a + b

    @server.tool(annotations=reads)
    def environment() -> dict[str, str]:
        """Tell the variables."""
        return dict(os.environ)

    @server.tool()
    def save(text: str) -> str:
        """Save a text."""
        return f"saved {text}"

    @server.tool(annotations=reads)
    def fail(why: str) -> str:
        """Fail."""
        raise ToolError(why)

    @server.tool(annotations=reads)
    def sleep(seconds: float) -> str:
        """Sleep."""
        time.sleep(seconds)
        return "rested"

    server.run("stdio")


def fleeting() -> None:
    """A server whose tool is there once."""
    from mcp.server import MCPServer
    from mcp.types import ToolAnnotations

    server = MCPServer("fleeting")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def once(word: str) -> str:
        """Answer once."""
        server.remove_tool("once")
        return f"{word}, and no more"

    server.run("stdio")


def many() -> None:
    """A server with more tools than a small model keeps apart."""
    from mcp.server import MCPServer

    server = MCPServer("many")
    for number in range(7):
        server.tool(name=f"tool.{number}", description=f"Number {number}.")(lambda: "x")
    server.run("stdio")


def dies() -> None:
    """A server that ends at once."""
    sys.stderr.write("first line\nno database at /nowhere\n\n")
    sys.exit(3)


def silent() -> None:
    """A server that never answers and does not mind being told to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.stderr.write("warming up\n")
    sys.stderr.flush()
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(sys.argv[2]).write_text(f"{os.getpid()} {child.pid}", encoding="utf-8")
    time.sleep(600)


def garbage() -> None:
    """A server that does not speak the protocol."""
    while True:
        sys.stdout.write("hello, I am a web server, not what you think\n")
        sys.stdout.flush()
        time.sleep(0.05)


def endless() -> None:
    """A server that writes a line without end."""
    while True:
        os.write(1, b"x" * 65_536)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
