"""`goliath-local config`: which settings hold, where each came from, where files lie.

Edge: prints; `init` writes the user's config file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from goliath_local.cli.flags import settings_of, terminal_of

if TYPE_CHECKING:
    from goliath_local.cli.settings import Settings

app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Settings, where they come from, where files lie.",
    epilog="Examples:\n\ngoliath-local config show\n\ngoliath-local config path",
)

_SHOW = (
    "Examples:\n\ngoliath-local config show\n\nGOLIATH_THREADS=2 goliath-local config show --json"
)
_PATH = "Examples:\n\ngoliath-local config path\n\ngoliath-local config path --json"
_INIT = "Examples:\n\ngoliath-local config init\n\ngoliath-local config init --force"


@app.command(epilog=_SHOW)
def show(context: typer.Context) -> None:
    """Print every setting, its value, and where the value came from."""
    settings, terminal = settings_of(context), terminal_of(context)
    rows = [(key, value, settings.origin.get(key, "default")) for key, value in _values(settings)]
    if settings.json:
        terminal.document({key: {"value": value, "from": origin} for key, value, origin in rows})
        return
    width = max(len(key) for key, _, _ in rows)
    room = max(len(_written(value)) for _, value, _ in rows)
    for key, value, origin in rows:
        terminal.put(f"{key:<{width}}  {_written(value):<{room}}  {origin}")


@app.command(epilog=_PATH)
def path(context: typer.Context) -> None:
    """Print where settings, models, conversations and traces lie."""
    settings, terminal = settings_of(context), terminal_of(context)
    places = settings.places
    found = {
        "config": places.config_file,
        "data": places.data,
        "models": settings.models_folder,
        "conversations": places.conversations,
        "traces": places.traces,
        "tasks": places.tasks,
        "logs": places.logs,
    }
    if settings.json:
        terminal.document({key: str(place) for key, place in found.items()})
        return
    for key, place in found.items():
        terminal.put(f"{key:<13}  {place}")


@app.command(epilog=_INIT)
def init(
    context: typer.Context,
    *,
    force: bool = typer.Option(False, "--force", help="Replace the file that is there."),
) -> None:
    """Write a config file in which every setting stands as a comment."""
    from goliath_local.errors import ConfigError

    settings, terminal = settings_of(context), terminal_of(context)
    target = settings.places.config_file
    if target.exists() and not force:
        msg = f"{target} is there already. Replace it with: goliath-local config init --force"
        raise ConfigError(msg)
    write_config(target)
    terminal.put(str(target))


def write_config(target: Path) -> None:
    """Write a config file in which every setting stands as a comment, whole or not at all."""
    from goliath_local.cli.places import make_folder
    from goliath_local.memory import make_private_folder, write_whole

    make_private_folder(make_folder(target.parent))
    write_whole(target, _template().encode())


def _values(settings: Settings) -> list[tuple[str, object]]:
    import dataclasses

    names = [f.name for f in dataclasses.fields(settings) if f.name != "origin"]
    shown = {"fallback": settings.shown_fallback}
    return [(name, _plain(shown.get(name, getattr(settings, name)))) for name in names]


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _written(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(map(str, value)) or "-" if isinstance(value, list) else str(value)


def _template() -> str:
    from goliath_local.cli.settings import Settings

    lines = ["# goliath-local: settings of this user. Take off a # to set one.", ""]
    for key, value in _values(Settings()):
        lines.append(f"# {key} = {_toml(value)}")
    return "\n".join([*lines, ""])


def _toml(value: object) -> str:
    import json

    return '"…"' if value is None else json.dumps(value)
