"""MCP servers over stdio: their tools, started, chosen and called like an application's own."""

from goliath_local.mcp.server import ToolServer, mcp_tools

__all__ = ["ToolServer", "mcp_tools"]
