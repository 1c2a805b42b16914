"""`goliath-local tools`: what the model sees of your tools, and whether they are sound. Edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from goliath_local.cli.flags import ToolSets, settings_of, terminal_of

if TYPE_CHECKING:
    from goliath_local.cli.settings import Settings
    from goliath_local.tools import Tool


def _examples(*lines: str) -> str:
    return "Examples:\n\n" + "\n\n".join(f"goliath-local tools {line}" for line in lines)


app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="What the model sees of your tools, and whether they are sound.",
    epilog=_examples("list -T demo", "check -T mytools.py"),
)

_Estimate = Annotated[bool, typer.Option("--estimate", help="Estimate tokens; load no model.")]


@app.command("list", epilog=_examples("list -T demo", "list -T mytools.py --json"))
def list_(context: typer.Context, *, tools: ToolSets = None, estimate: _Estimate = False) -> None:
    """Print each tool as the model sees it, and its cost in tokens."""
    from goliath_local.cli.counting import counted
    from goliath_local.cli.terminal import json_text

    settings, kit = _kit(context, tools)
    terminal = terminal_of(context)
    count = counted(settings, terminal, texts=(), tools=kit, estimate=estimate)
    if settings.json:
        rows = [_json(tool, count.per_tool[tool.name]) for tool in kit]
        terminal.document({"tools": rows, "counter": count.counter, "prompt": count.parts})
        return
    about = "" if count.is_exact else "about "
    for tool in kit:
        asks = "asks first" if tool.writes or tool.requires_confirmation else "reads"
        terminal.put(f"{tool.name}  {asks}, {about}{count.per_tool[tool.name]:,} tokens")
        terminal.put(f"  {tool.description}")
        for name, schema in tool.parameters.properties.items():
            terminal.put(f"  {name}: {json_text(schema)}")


@app.command(epilog=_examples("check -T mytools.py", "check -T demo --json"))
def check(context: typer.Context, *, tools: ToolSets = None) -> int:
    """Check that tools can be used, and say what would make them easier for a small model."""
    from goliath_local.cli.counting import counted
    from goliath_local.cli.tool_advice import advice

    settings, kit = _kit(context, tools)
    terminal = terminal_of(context)
    found = advice(kit)
    cost = counted(settings, terminal, texts=(), tools=kit, estimate=True).per_tool
    if settings.json:
        names = [tool.name for tool in kit]
        terminal.document({"ok": True, "tools": names, "tokens": cost, "advice": found})
        return 0
    for tool in kit:
        asks = "asks first" if tool.writes or tool.requires_confirmation else "reads"
        terminal.put(f"{tool.name}: sound, {asks}, about {cost[tool.name]:,} tokens")
    for line in found:
        terminal.say(f"advice: {line}")
    return 0


def _kit(context: typer.Context, sets: list[str] | None) -> tuple[Settings, tuple[Tool, ...]]:
    from goliath_local.cli.running import usable_tools
    from goliath_local.errors import ConfigError

    settings = settings_of(context, tools=tuple(sets or ()) or None)
    if not settings.tools:
        raise ConfigError("Which tools? Give -T module:attr, -T FILE.py or -T demo.")
    return settings, usable_tools(settings)


def _json(tool: Tool, tokens: int) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "writes": tool.writes,
        "requiresConfirmation": tool.requires_confirmation,
        "requires": list(tool.requires),
        "parameters": dict(tool.parameters.json),
        "tokens": tokens,
    }
