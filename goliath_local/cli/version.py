"""`goliath-local version`: which version this is. Edge."""

from __future__ import annotations

import typer

from goliath_local.cli.flags import said_flags, terminal_of

app = typer.Typer(rich_markup_mode=None)


@app.command(epilog="Examples:\n\ngoliath-local version\n\ngoliath-local version --json")
def version(context: typer.Context) -> None:
    """Print the version of goliath-local."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    from goliath_local import __version__

    terminal = terminal_of(context)
    if not said_flags(context).get("json"):
        terminal.put(f"goliath-local {__version__}")
        return
    try:
        binding = version_of("llama-cpp-python")
    except PackageNotFoundError:
        binding = None
    terminal.document({"goliath-local": __version__, "llama-cpp-python": binding})
