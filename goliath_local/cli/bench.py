"""`goliath-local bench`: how fast it is here. Edge: hands on to the benchmark."""

from __future__ import annotations

import typer

app = typer.Typer(rich_markup_mode=None)

_EXAMPLES = "Examples:\n\ngoliath-local bench\n\nmake bench"


@app.command(epilog=_EXAMPLES)
def bench() -> int:
    """Measure speed on this machine."""
    from goliath_local.errors import ConfigError

    raise ConfigError("The benchmark is not part of this version. Single turns: run --json.")
