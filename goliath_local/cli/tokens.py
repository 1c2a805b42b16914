"""`goliath-local tokens`: what a text or a prompt costs.

Edge: reads files; counts with the installed model's tokenizer, or estimates where there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from goliath_local.cli.completion import tool_set_names
from goliath_local.cli.flags import settings_of, terminal_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.cli.counting import Count
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal
    from goliath_local.tools import Tool

app = typer.Typer(rich_markup_mode=None)

_EXAMPLES = "Examples:\n\ngoliath-local tokens README.md\n\ngoliath-local tokens --tools -T demo"


@app.command(epilog=_EXAMPLES)
def tokens(
    context: typer.Context,
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE | -]", help="A text; - reads stdin.")
    ] = None,
    *,
    tools: Annotated[
        list[str] | None,
        typer.Option(
            "-T",
            metavar="SET",
            autocompletion=tool_set_names,
            help="module:attr, FILE.py, demo, clock …: docs/tools.md",
        ),
    ] = None,
    bill: Annotated[
        bool, typer.Option("--tools", help="The bill of a prompt with the tools of -T, by part.")
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate, without loading a model.")
    ] = False,
) -> None:
    """Count the tokens of a text, or the parts of a first prompt, against the window."""
    from goliath_local.cli.asks import read_text
    from goliath_local.cli.counting import counted
    from goliath_local.cli.running import usable_tools
    from goliath_local.errors import ConfigError

    settings = settings_of(context, tools=tuple(tools or ()) or None)
    terminal = terminal_of(context)
    if bill and not settings.tools:
        raise ConfigError("Which tools? Name them by -T: goliath-local tokens --tools -T demo")
    texts = [] if file is None and settings.tools else [read_text(file, terminal)]
    kit = usable_tools(settings)
    count = counted(settings, terminal, texts=texts, tools=kit, estimate=estimate)
    if settings.json:
        terminal.document(_document(count))
        return
    _put(count, terminal, settings, kit)


def _put(count: Count, terminal: Terminal, settings: Settings, kit: Sequence[Tool]) -> None:
    from goliath_local.cli.probe import bill_lines

    about = "" if count.is_exact else "about "
    for number in count.texts:
        terminal.put(f"{about}{number:,} tokens")
    if kit:
        for line in bill_lines(count.parts, window=settings.window):
            terminal.put(line)
    for stage, limit, cap in count.limits:
        terminal.say(f"{stage:<9}  prompt at most {limit:,}, reply at most {cap:,}")
    terminal.say(f"Counted by {count.counter}.")


def _document(count: Count) -> dict[str, Any]:
    return {
        "texts": list(count.texts),
        "parts": count.parts,
        "counter": count.counter,
        "exact": count.is_exact,
        "limits": {stage: {"prompt": limit, "reply": cap} for stage, limit, cap in count.limits},
    }
