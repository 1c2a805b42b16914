"""`goliath-local trace`: what happened in a turn, with its exact prompts.

Edge: reads trace files; `replay` asks the model again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from goliath_local.cli.completion import trace_names
from goliath_local.cli.flags import settings_of, terminal_of

if TYPE_CHECKING:
    from pathlib import Path

    from goliath_local.cli.settings import Settings
    from goliath_local.cli.tracefile import Trace


def _examples(*lines: str) -> str:
    return "Examples:\n\n" + "\n\n".join(f"goliath-local trace {line}" for line in lines)


app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="What happened in a turn, exact prompts too.",
    epilog=_examples("show last", "export last --html -o turn.html"),
)

_Name = Annotated[
    str, typer.Argument(autocompletion=trace_names, help="Its name, the beginning of it, or last.")
]


@app.command("list", epilog=_examples("list", "list --json"))
def list_(
    context: typer.Context,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="At most.")] = 20,
) -> None:
    """Print the newest traces."""
    from goliath_local.cli.trace_text import trace_line
    from goliath_local.cli.tracefile import read_trace, trace_paths
    from goliath_local.errors import StorageError

    settings, terminal = settings_of(context), terminal_of(context)
    found: list[Trace] = []
    for path in trace_paths(settings.places.traces)[:limit]:
        try:
            found.append(read_trace(path))
        except StorageError as error:
            terminal.complain(str(error))
    if settings.json:
        terminal.document({"traces": [{**t.turn, "result": t.result} for t in found]})
        return
    for trace in found:
        terminal.put(trace_line(trace, columns=terminal.columns))
    if not found:
        terminal.say('No turn is traced yet. Ask something: goliath-local run "Hello"')


@app.command(epilog=_examples("show last", "show last --step 1 --prompt"))
def show(
    context: typer.Context,
    name: _Name = "last",
    *,
    step: Annotated[
        int | None, typer.Option("--step", metavar="N", help="Only the N-th model call.")
    ] = None,
    prompt: Annotated[bool, typer.Option("--prompt", help="The exact prompts too.")] = False,
) -> None:
    """Print a turn: model calls, tokens by part, seconds, steps."""
    from goliath_local.cli.trace_text import trace_lines
    from goliath_local.errors import ConfigError

    settings, terminal = settings_of(context), terminal_of(context)
    trace = _read(settings, name)
    if step is not None and not 1 <= step <= len(trace.calls):
        msg = f"--step {step}: this trace has the model calls 1 to {len(trace.calls)}."
        raise ConfigError(msg)
    if settings.json:
        terminal.document(_document(trace))
        return
    for line in trace_lines(trace, step=step, with_prompts=prompt):
        terminal.put(line)


@app.command(epilog=_examples("export last -o turn.json", "export last --html -o turn.html"))
def export(
    context: typer.Context,
    name: _Name = "last",
    *,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there.")
    ] = None,
    html: Annotated[
        bool, typer.Option("--html", help="One page that opens in a browser, without a network.")
    ] = False,
) -> None:
    """Print a turn as one JSON document or one HTML page, or write it to a file."""
    from pathlib import Path

    from goliath_local.cli.places import verify_target

    settings, terminal = settings_of(context), terminal_of(context)
    target = verify_target(Path(output)) if output is not None else None
    text = _exported(_read(settings, name), html=html)
    if target is None:
        terminal.put_shown(text)
        return
    _write_private(target, text)
    terminal.put(output or "")


@app.command(epilog=_examples("replay last", "replay 01KAB"))
def replay(context: typer.Context, name: _Name = "last") -> int:
    """Put the same prompts to the model again, and check that the same bytes come out."""
    import asyncio

    from goliath_local.cli.replay import replay_trace

    settings, terminal = settings_of(context), terminal_of(context)
    trace = _read(settings, name)
    return asyncio.run(replay_trace(trace, settings, terminal))


def _read(settings: Settings, name: str) -> Trace:
    from goliath_local.cli.tracefile import find_trace, read_trace

    return read_trace(find_trace(settings.places.traces, name))


def _exported(trace: Trace, *, html: bool) -> str:
    from goliath_local.cli.terminal import json_text
    from goliath_local.cli.trace_page import trace_page
    from goliath_local.errors import StorageError

    if not html:
        return json_text(_document(trace), indent=2) + "\n"
    try:
        return trace_page(trace)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"The trace {trace.id} is not whole ({error!r}). Export it without --html."
        raise StorageError(msg) from error


def _document(trace: Trace) -> dict[str, Any]:
    return {
        "turn": trace.turn,
        "calls": list(trace.calls),
        "events": list(trace.events),
        "result": trace.result,
        "damagedLines": trace.damaged_lines,
    }


def _write_private(path: Path, text: str) -> None:
    from goliath_local.memory import write_whole

    write_whole(path, text.encode())
