"""`goliath-local grammar`: a schema as GBNF, is it sound, what does it let through.

Edge: reads files and standard input, prints. Never loads a model or the native library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from goliath_local.cli.flags import settings_of, terminal_of

if TYPE_CHECKING:
    from goliath_local.cli.terminal import Terminal
    from goliath_local.grammar import Grammar

_COMPILE = (
    "Examples:\n\ngoliath-local grammar compile city.json > city.gbnf\n\n"
    "goliath-local grammar compile mymodels:City --spacing pretty"
)
_CHECK = (
    "Examples:\n\ngoliath-local grammar check city.gbnf\n\n"
    'goliath-local grammar check city.json \'{"name":"Lyon"}\''
)
_SAMPLE = (
    "Examples:\n\ngoliath-local grammar sample city.json\n\n"
    "goliath-local grammar sample mymodels:City -n 10 --seed 7"
)

app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Grammars: made from schemas, checked, tried.",
    epilog=(
        "Examples:\n\ngoliath-local grammar compile city.json\n\n"
        "goliath-local grammar check city.json"
    ),
)

Schema = Annotated[
    str, typer.Argument(metavar="SCHEMA", help="A JSON Schema file, module:Model, or - for stdin.")
]
Source = Annotated[
    str,
    typer.Argument(metavar="GBNF|SCHEMA", help="A GBNF file, or a schema as `compile` takes it."),
]
Open = Annotated[
    bool, typer.Option("--open", help="Extra keys, where the schema does not forbid them.")
]


@app.command("compile", epilog=_COMPILE)
def compile_(
    context: typer.Context,
    schema: Schema,
    *,
    open_: Open = False,
    spacing: Annotated[
        Literal["compact", "pretty", "free"], typer.Option(help="Blanks between tokens.")
    ] = "compact",
    max_string: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Characters of a string that says no maximum."),
    ] = None,
) -> None:
    """Print the grammar of a schema."""
    from goliath_local.cli.grammars import compiled

    settings, terminal = settings_of(context), terminal_of(context)
    grammar = compiled(schema, closed=not open_, spacing=spacing, max_string=max_string)
    if settings.json:
        deferred = [{"pointer": place, "keyword": word} for place, word in grammar.deferred]
        terminal.document({"gbnf": grammar.gbnf, "deferred": deferred})
        return
    terminal.put(grammar.gbnf, end="" if grammar.gbnf.endswith("\n") else "\n")
    _tell_deferred(terminal, grammar)


@app.command(epilog=_CHECK)
def check(
    context: typer.Context,
    source: Source,
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="A text to try, or - for stdin.")
    ] = None,
    *,
    open_: Open = False,
) -> None:
    """Say whether a grammar or a schema is sound, and whether a text fits it."""
    from goliath_local.cli.grammars import read_source, read_text, verify_text

    settings, terminal = settings_of(context), terminal_of(context)
    found = read_source(source, closed=not open_)
    if text is not None:
        verify_text(found, read_text(text))
    if settings.json:
        terminal.document({"ok": True, "rules": len(found.rules.by_name)})
        return
    rules = f"{len(found.rules.by_name):,} rule{'s' if len(found.rules.by_name) > 1 else ''}"
    terminal.put(f"ok  {rules}" if text is None else "ok  the text fits")
    if found.grammar is not None:
        _tell_deferred(terminal, found.grammar)


@app.command(epilog=_SAMPLE)
def sample(
    context: typer.Context,
    source: Source,
    *,
    number: Annotated[
        int, typer.Option("--number", "-n", min=1, max=1000, metavar="N", help="How many.")
    ] = 3,
    open_: Open = False,
) -> None:
    """Print texts that the grammar lets through, drawn at random."""
    from random import Random

    from goliath_local.cli.grammars import printable, read_source, samples

    settings, terminal = settings_of(context), terminal_of(context)
    found = read_source(source, closed=not open_)
    drawn = samples(found, Random(settings.seed), number)
    if settings.json:
        terminal.document({"samples": [one.text for one in drawn]})
    else:
        for one in drawn:
            terminal.put_shown(printable(one.text) + "\n")
    wrong = [one for one in drawn if not one.is_valid]
    if wrong:
        terminal.say(
            f"{len(wrong)} of {len(drawn)} would be refused after decoding, by checks that the "
            "grammar leaves out. See: goliath-local grammar compile"
        )


def _tell_deferred(terminal: Terminal, grammar: Grammar) -> None:
    """Say on stderr what is left to check after decoding."""
    for pointer, keyword in grammar.deferred:
        terminal.say(f"#{pointer}: {keyword} is checked after decoding, not by the grammar")
