"""`goliath-local eval`: does it still do its tasks? Edge: hands on to the evals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from goliath_local.cli.flags import settings_of, terminal_of

if TYPE_CHECKING:
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, help="Does it still do its tasks?")


def _examples(*lines: str) -> str:
    return "Examples:\n\n" + "\n\n".join(f"goliath-local eval {line}" for line in lines)


@app.command("list", epilog=_examples("list", "list --json"))
def list_(context: typer.Context) -> None:
    """Print the built-in cases."""
    from goliath_local.evals import fixtures

    settings, terminal = settings_of(context), terminal_of(context)
    if settings.json:
        terminal.document({"fixtures": [{"id": one.id, "kind": one.kind} for one in fixtures]})
        return
    for one in fixtures:
        terminal.put(f"{one.id}  {one.kind}  {one.turns[0].ask}")


@app.command(epilog=_examples("run", "run --runs 3"))
def run(
    context: typer.Context,
    *,
    runs: Annotated[int, typer.Option("--runs", metavar="K", help="Attempts of each.")] = 1,
) -> None:
    """Play the built-in cases on the model and print the figures."""
    import asyncio

    asyncio.run(_play(settings_of(context), terminal_of(context), runs=runs))


async def _play(settings: Settings, terminal: Terminal, *, runs: int) -> None:
    from goliath_local.cancel import CancelToken
    from goliath_local.cli.ready import find_model, load
    from goliath_local.cli.signals import listening
    from goliath_local.evals import fixtures, format_report, run_evals

    cancel = CancelToken()
    with listening(lambda: cancel.cancel("Ctrl-C")):
        ready = await load(find_model(settings), settings, terminal, cancel=cancel)
        try:
            report = await run_evals(ready.model, fixtures, runs=runs, cancel=cancel)
        finally:
            ready.close()
    terminal.put(format_report(report))
