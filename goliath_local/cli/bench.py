"""`goliath-local bench`: how fast it is here. Edge: parses; the bench room measures."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the hints when the command is built
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from goliath_local.cli.flags import settings_of, terminal_of

if TYPE_CHECKING:
    from goliath_local.bench import Report, Row, Subject, Trials
    from goliath_local.cli.ready import Found
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal

app = typer.Typer(rich_markup_mode=None)

_EXAMPLES = (
    "Examples:\n\ngoliath-local bench -p 512 -n 128 -d 0,2048\n\n"
    "goliath-local bench --turn --save today.json --compare last-week.json"
)


@app.command(epilog=_EXAMPLES)
def bench(
    context: typer.Context,
    *,
    prompt: Annotated[
        str, typer.Option("--prompt", "-p", metavar="N,…", help="Tokens of a prompt; 0 for none.")
    ] = "512",
    reply: Annotated[
        str, typer.Option("--reply", "-n", metavar="N,…", help="Tokens of a reply; 0 for none.")
    ] = "128",
    depth: Annotated[
        str, typer.Option("--depth", "-d", metavar="N,…", help="Tokens in the context before.")
    ] = "0",
    repetitions: Annotated[
        int, typer.Option("--repetitions", "-r", metavar="N", help="How often each.")
    ] = 5,
    turn: Annotated[bool, typer.Option("--turn", help="Whole turns too.")] = False,
    output: Annotated[
        Literal["md", "csv", "json", "jsonl"] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="md|csv|json|jsonl",
            help="The form of the result; md when nothing is said.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Keep the report there.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", metavar="FILE", help="Show it beside that one.")
    ] = None,
) -> None:
    """Measure speed on this machine, in the columns of llama-bench."""
    import asyncio

    from goliath_local.bench import Trials, read_report, render, render_comparison, save_report
    from goliath_local.cli.places import verify_target
    from goliath_local.cli.ready import find_model

    settings, terminal = settings_of(context), terminal_of(context)
    before = read_report(compare) if compare else None
    target = verify_target(save) if save else None
    trials = Trials(
        prompts=_counts("-p", prompt),
        replies=_counts("-n", reply),
        depths=_counts("-d", depth),
        repetitions=repetitions,
        seed=settings.seed or 0,
    )
    subject = _subject(find_model(settings), settings)
    report = asyncio.run(_measured(subject, trials, with_turns=turn, terminal=terminal))
    if target:
        save_report(report, target)
    form = output or ("json" if settings.json else "md")
    if before is not None and form == "md":
        terminal.put_shown(render_comparison(before, report) + "\n")
    else:
        terminal.put_shown(render(report, form) + "\n")


def _counts(flag: str, text: str) -> tuple[int, ...]:
    from goliath_local.errors import ConfigError

    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError as error:
        message = f"{flag} {text}: give whole numbers of tokens, as in {flag} 0,2048"
        raise ConfigError(message) from error


def _subject(found: Found, settings: Settings) -> Subject:
    from goliath_local.bench import Subject
    from goliath_local.engine import EngineSettings
    from goliath_local.errors import ConfigError

    if found.path is None:
        raise ConfigError("A scripted model has no speed. Name a model: -m NAME")
    return Subject(
        path=found.path,
        name=found.label,
        sha256=found.sha256,
        settings=EngineSettings(
            threads=settings.threads,
            gpu_layers=settings.gpu_layers,
            seed=settings.seed or 0,
            template_variables=found.variables,
        ),
    )


async def _measured(
    subject: Subject, trials: Trials, *, with_turns: bool, terminal: Terminal
) -> Report:
    from goliath_local.bench import measure, shown
    from goliath_local.cancel import CancelToken
    from goliath_local.cli.signals import listening
    from goliath_local.cli.version import own_version
    from goliath_local.cli.waiting import in_thread, until

    cancel = CancelToken()

    def show(row: Row) -> None:
        terminal.status(f"{row.test}: {shown(row)} {row.unit}")

    def work() -> Report:
        return measure(
            subject,
            trials,
            version=own_version(),
            with_turns=with_turns,
            cancel=cancel,
            on_row=show,
        )

    terminal.status("loading the model")
    with listening(lambda: cancel.cancel("Ctrl-C")):
        try:
            return await until(in_thread(work), cancel)
        finally:
            terminal.clear_status()
