"""Tool sets that come with the program: tasks, notes, files, clock, numbers, system."""

from goliath_local.toolsets.sets import TOOL_SETS, ToolSet, is_tool_set, tool_set

__all__ = ["TOOL_SETS", "ToolSet", "is_tool_set", "tool_set"]
