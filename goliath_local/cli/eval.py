"""`goliath-local eval`: does it still do its tasks? Edge: parses; `evaluating` plays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goliath_local.cli.completion import eval_set_names, tool_set_names
from goliath_local.cli.flags import settings_of, terminal_of

if TYPE_CHECKING:
    from goliath_local.evals.results import Kept


def _examples(*lines: str) -> str:
    return "Examples:\n\n" + "\n\n".join(f"goliath-local eval {line}" for line in lines)


app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Does it still do its tasks?",
    epilog=_examples("run --runs 3", "compare before.jsonl after.jsonl"),
)

_Record = Annotated[Path, typer.Argument(metavar="FILE", help="A record: eval run -o FILE.")]


@app.command("list", epilog=_examples("list", "list --json"))
def list_(context: typer.Context) -> None:
    """Print the sets that are here, and the cases of the built-in one."""
    from goliath_local.evals import fixtures
    from goliath_local.evals.sets import set_names

    settings, terminal = settings_of(context), terminal_of(context)
    if settings.json:
        terminal.document(
            {
                "sets": list(set_names()),
                "fixtures": [{"id": one.id, "kind": one.kind} for one in fixtures],
            }
        )
        return
    terminal.put(f"sets: {', '.join(set_names())}, or a JSONL file of your own")
    for one in fixtures:
        terminal.put(f"{one.id}  {one.kind}  {one.turns[0].ask}")


@app.command(
    epilog=_examples("run --runs 3", "run my_cases.jsonl -T my_tools.py --gate 'pass>=0.8'")
)
def run(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="[SET|FILE.jsonl]",
            autocompletion=eval_set_names,
            help="builtin, or your own cases.",
        ),
    ] = "builtin",
    *,
    tools: Annotated[
        list[str] | None,
        typer.Option(
            "--tools",
            "-T",
            metavar="SET",
            autocompletion=tool_set_names,
            help="Your tools; writes only pretend to.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="The first N cases.")
    ] = None,
    runs: Annotated[int, typer.Option("--runs", metavar="K", help="Attempts of each.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Keep every prompt and reply there."),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            "--gate", metavar="'pass>=0.8'|RECORD", help="Fail (9) below it, or if it got worse."
        ),
    ] = None,
) -> int:
    """Play the cases on the model; print the table, the failures, the figures."""
    import asyncio

    from goliath_local.cli.evaluating import EvalJob, run_eval

    settings = settings_of(context, tools=tuple(tools or ()) or None)
    job = EvalJob(
        name=name,
        with_tools=bool(tools),
        limit=limit,
        runs=runs,
        out=out,
        gates=tuple(gate or ()),
    )
    return asyncio.run(run_eval(job, settings, terminal_of(context)))


@app.command(epilog=_examples("show mine.jsonl", "show mine.jsonl milk-on-list"))
def show(
    context: typer.Context,
    file: _Record,
    case: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One case, passed or not, prompts too.")
    ] = None,
    *,
    prompt: Annotated[bool, typer.Option("--prompt", help="The exact prompts too.")] = False,
) -> None:
    """Print the failures of a record with their steps and replies, or one case with all."""
    from goliath_local.evals.keeping import load_record
    from goliath_local.evals.kept_text import about_lines, kept_lines

    settings, terminal = settings_of(context), terminal_of(context)
    record = load_record(file)
    shown = _chosen(record, case, file)
    if settings.json:
        terminal.document({"attempts": [dict(kept.raw) for kept in shown]})
        return
    for line in about_lines(record[-1].about):
        terminal.put(line)
    for kept in shown:
        terminal.put("")
        for line in kept_lines(kept, with_prompts=prompt or case is not None):
            terminal.put(line)
    right = sum(kept.passed for kept in record)
    terminal.say(f"{right} of {len(record)} attempts right.")


@app.command(
    epilog=_examples("compare before.jsonl after.jsonl", "compare a.jsonl b.jsonl --json")
)
def compare(
    context: typer.Context,
    before: Annotated[Path, typer.Argument(metavar="A", help="A record.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="A later one.")],
) -> None:
    """Print which cases B fixed and which it broke, and whether chance may have done it."""
    from goliath_local.evals import compare as compared
    from goliath_local.evals import format_comparison
    from goliath_local.evals.keeping import load_outcomes
    from goliath_local.evals.kept_text import differences

    settings, terminal = settings_of(context), terminal_of(context)
    old, new = load_outcomes(before), load_outcomes(after)
    result = compared(old.passed, new.passed)
    differing = differences(old.about, new.about)
    if settings.json:
        terminal.document(
            {
                "fixed": list(result.fixed),
                "broken": list(result.broken),
                "same": result.same,
                "onlyBefore": list(result.only_before),
                "onlyAfter": list(result.only_after),
                "p": result.p_value,
                "differences": differing,
            }
        )
        return
    for line in differing:
        terminal.put(line)
    terminal.put(format_comparison(result))


def _chosen(record: tuple[Kept, ...], case: str | None, file: Path) -> list[Kept]:
    from goliath_local.errors import ConfigError

    if case is None:
        return [kept for kept in record if not kept.passed]
    found = [kept for kept in record if kept.id == case]
    if not found:
        names = ", ".join(dict.fromkeys(kept.id for kept in record))
        msg = f"{file} has no case {case!r}. It has: {names[:400]}"
        raise ConfigError(msg)
    return found
