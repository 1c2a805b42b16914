"""MCP servers over stdio: their tools, started, chosen and called like an application's own."""

from goliath_local.mcp.named import is_tool_server, named_tools
from goliath_local.mcp.server import ToolServer, mcp_tools

__all__ = ["ToolServer", "is_tool_server", "mcp_tools", "named_tools"]
