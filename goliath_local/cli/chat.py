"""`goliath-local chat`: talk, tools on. Edge: parses; `chatting` does the work."""

from __future__ import annotations

from typing import Annotated

import typer

from goliath_local.cli.completion import conversation_names
from goliath_local.cli.flags import ToolSets, settings_of, terminal_of

app = typer.Typer(rich_markup_mode=None)

_EXAMPLES = "Examples:\n\ngoliath-local chat -T demo\n\ngoliath-local chat -T mytools.py --new"


@app.command(epilog=_EXAMPLES)
def chat(
    context: typer.Context,
    *,
    tools: ToolSets = None,
    conversation: Annotated[
        str | None,
        typer.Option(
            "--conversation",
            "-c",
            metavar="ID",
            autocompletion=conversation_names,
            help="Resume this one.",
        ),
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Begin a new conversation.")] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Leave out tools that write.")
    ] = False,
    allow: Annotated[
        list[str] | None, typer.Option("--allow", metavar="TOOL", help="This tool needs no yes.")
    ] = None,
    steps: Annotated[
        str | None, typer.Option("--steps", metavar="full|short|off", help="How steps are shown.")
    ] = None,
    stats: Annotated[bool, typer.Option("--stats", help="Tokens and speed of each turn.")] = False,
    max_steps: Annotated[
        str | None, typer.Option("--max-steps", metavar="N", help="Steps of a turn at most.")
    ] = None,
    fallback: Annotated[
        str | None,
        typer.Option("--fallback", metavar="URL|module:func|none", help="Finishes the rest."),
    ] = None,
    pull: Annotated[
        bool, typer.Option("--pull", help="Get the default model first when there is none.")
    ] = False,
) -> int:
    """Talk with the model; it resumes the last conversation."""
    from goliath_local.cli.chatting import Wish, run_chat

    settings = settings_of(
        context,
        tools=tuple(tools or ()) or None,
        read_only=read_only,
        allow=tuple(allow or ()) or None,
        steps=steps,
        stats=stats,
        max_steps=max_steps,
        fallback=fallback,
    )
    wish = Wish(conversation_id=conversation, new=new, pull=pull)
    return run_chat(wish, settings, terminal_of(context))
