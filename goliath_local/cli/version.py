"""`goliath-local version`: which version this is. Edge."""

from __future__ import annotations

import typer

from goliath_local.cli.flags import said_flags
from goliath_local.cli.terminal import open_terminal

app = typer.Typer(rich_markup_mode=None)


@app.command(epilog="Examples:\n\ngoliath-local version\n\ngoliath-local version --json")
def show_version(context: typer.Context) -> None:
    """Print the version of goliath-local."""
    terminal = open_terminal()
    if not said_flags(context).get("json"):
        terminal.put(f"goliath-local {own_version()}")
        return
    terminal.document(
        {"goliath-local": own_version(), "llama-cpp-python": version_of("llama-cpp-python")}
    )


def own_version() -> str:
    """Return the version of goliath-local."""
    return version_of("goliath-local") or "unknown"


def version_of(distribution: str) -> str | None:
    """Return the version of an installed distribution; None when it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
