"""`goliath-local doctor`: is this machine ready? Edge: prints what `checkup` found."""

from __future__ import annotations

from typing import Annotated

import typer

from goliath_local.cli.flags import settings_of, terminal_of

app = typer.Typer(rich_markup_mode=None)

_EXAMPLES = "Examples:\n\ngoliath-local doctor\n\ngoliath-local doctor --json"

_MARKS = {"ok": "ok  ", "warn": "look", "bad": "BAD "}


@app.command(epilog=_EXAMPLES)
def doctor(
    context: typer.Context,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Without a test generation.")] = False,
) -> int:
    """Check Python, llama.cpp, cores, memory, disk, the model; name the cure of each problem."""
    from goliath_local.cli.checkup import check_up
    from goliath_local.cli.problems import ExitCode

    settings, terminal = settings_of(context), terminal_of(context)
    found = []
    for one in check_up(settings, quick=quick):
        found.append(one)
        if settings.json:
            continue
        terminal.put(f"{_MARKS[one.state]}  {one.name:<12} {one.found}")
        for line in one.cure.splitlines():
            terminal.put(f"      {line}")
    code = next((one.code for one in found if one.state == "bad"), ExitCode.DONE)
    if settings.json:
        rows = [
            {"name": one.name, "state": one.state, "found": one.found, "cure": one.cure}
            for one in found
        ]
        terminal.document({"ok": code == ExitCode.DONE, "checks": rows})
    return code
