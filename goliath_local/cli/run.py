"""`goliath-local run`: one ask, for scripts. Edge: parses; `running` does the work."""

from __future__ import annotations

from typing import Annotated

import typer

from goliath_local.cli.completion import conversation_names
from goliath_local.cli.flags import ToolSets, settings_of, terminal_of

app = typer.Typer(rich_markup_mode=None)

_EXAMPLES = (
    'Examples:\n\ngoliath-local run -T demo "What is on my list today?"\n\n'
    'cat notes.txt | goliath-local run --json "Sum up in one sentence."'
)


@app.command(epilog=_EXAMPLES)
def run(
    context: typer.Context,
    ask: Annotated[
        str | None, typer.Argument(metavar="[ASK | -]", help="What you want; - reads stdin.")
    ] = None,
    *,
    file: Annotated[
        list[str] | None,
        typer.Option("--file", "-f", metavar="FILE", help="A text that goes behind the ask."),
    ] = None,
    tools: ToolSets = None,
    schema: Annotated[
        str | None,
        typer.Option("--schema", metavar="FILE|module:Model", help="The answer's form."),
    ] = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One event a line on stdout.")] = False,
    max_steps: Annotated[
        str | None,
        typer.Option("--max-steps", metavar="N", help="Steps at most."),
    ] = None,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="S", help="Seconds; then exit code 124.")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option("--allow", metavar="TOOL", help="This tool needs no yes.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="No tool needs a yes.")] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Leave out tools that write.")
    ] = False,
    conversation: Annotated[
        str | None,
        typer.Option(
            "--conversation",
            "-c",
            metavar="ID",
            autocompletion=conversation_names,
            help="Remember the turn.",
        ),
    ] = None,
    fallback: Annotated[
        str | None,
        typer.Option("--fallback", metavar="URL|module:func|none", help="Finishes the rest."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail (7) when something was shortened to fit.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the first prompt and its bill; ask nothing.")
    ] = False,
    pull: Annotated[
        bool, typer.Option("--pull", help="Get the default model first when there is none.")
    ] = False,
) -> int:
    """Answer one ask, and end. stdout has the answer and nothing else."""
    from goliath_local.cli.running import Job, run_job

    settings = settings_of(
        context,
        tools=tuple(tools or ()) or None,
        max_steps=max_steps,
        timeout=timeout,
        allow=tuple(allow or ()) or None,
        yes=yes,
        read_only=read_only,
        fallback=fallback,
    )
    job = Job(
        words=ask,
        files=tuple(file or ()),
        schema=schema,
        jsonl=jsonl,
        conversation_id=conversation,
        strict=strict,
        dry_run=dry_run,
        pull=pull,
    )
    return run_job(job, settings, terminal_of(context))
