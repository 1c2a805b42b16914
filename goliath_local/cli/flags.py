"""The flags that every command has, before or after its name.

They are declared once, as a function's parameters, and hung onto every command; what was said is
kept in the command line's shared `meta`, where the nearest to the end wins.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from goliath_local.cli.completion import model_names, tool_set_names

if TYPE_CHECKING:
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal

_META = "goliath_local.flags"

ToolSets: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        "-T",
        metavar="SET",
        autocompletion=tool_set_names,
        help="module:attr, FILE.py, demo, clock …: docs/tools.md",
    ),
]
"""Tools by the name of their set: the same flag on every command that has tools."""


def _keep(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> Any:
    if value or value == "":
        context.meta.setdefault(_META, {})[parameter.name] = value
    return value


def _flags(
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME|PATH",
            callback=_keep,
            autocompletion=model_names,
            help="Which model.",
        ),
    ] = None,
    models_dir: Annotated[
        str | None,
        typer.Option("--models-dir", metavar="FOLDER", callback=_keep, help="Where weights lie."),
    ] = None,
    threads: Annotated[
        str | None,
        typer.Option("--threads", "-t", metavar="N", callback=_keep, help="CPU threads."),
    ] = None,
    gpu_layers: Annotated[
        str | None,
        typer.Option(
            "--gpu-layers", metavar="auto|0|all|N", callback=_keep, help="Layers on the GPU."
        ),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option("--seed", metavar="N", callback=_keep, help="Makes chance repeat."),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option("--window", metavar="TOKENS", callback=_keep, help="At most 4096."),
    ] = None,
    chat_template: Annotated[
        str | None,
        typer.Option(
            "--chat-template", metavar="NAME|FILE", callback=_keep, help="For a model without one."
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option("--engine", metavar="fake:SCRIPT", callback=_keep, hidden=True),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", callback=_keep, help="Never use the network.")
    ] = False,
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose",
            "-v",
            count=True,
            callback=_keep,
            show_default=False,
            help="More (-vv: much more).",
        ),
    ] = 0,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", callback=_keep, help="Results and errors only.")
    ] = False,
    log_file: Annotated[
        str | None,
        typer.Option("--log-file", metavar="FILE", callback=_keep, help="Remarks go here too."),
    ] = None,
    color: Annotated[
        Literal["auto", "always", "never"] | None,
        typer.Option("--color", metavar="auto|always|never", callback=_keep, help="Colours."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", callback=_keep, help="One JSON document on stdout.")
    ] = False,
    config: Annotated[
        str | None,
        typer.Option(
            "--config", metavar="FILE", callback=_keep, help="In place of your config file."
        ),
    ] = None,
) -> None:
    """Hold the declarations; never called."""


def global_options() -> list[Any]:
    """Return the options, ready to be hung onto a command."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(_flags)
    options = [p for p in typer.main.get_command(app).params if p.name != "help"]
    for option in options:
        option.expose_value = False
    return options


def add_global_flags(command: Any, options: list[Any], *, hidden: bool) -> None:
    """Hang the options onto a command and all below it, save those it declares itself."""
    taken = {name for parameter in command.params for name in parameter.opts}
    for option in options:
        if not taken.intersection(option.opts):
            command.params.append(_hidden(option) if hidden else option)
    for child in getattr(command, "commands", {}).values():
        add_global_flags(child, options, hidden=hidden)


def _hidden(option: Any) -> Any:
    import copy

    twin = copy.copy(option)
    twin.hidden = True
    return twin


def said_flags(context: typer.Context) -> dict[str, Any]:
    """Return the global flags of this command line, without those left unsaid."""
    return dict(context.meta.get(_META, {}))


def settings_of(context: typer.Context, **more: object) -> Settings:
    """Return the settings of this command line.

    Args:
        context: the running command's.
        more: values of the command's own flags that are settings too.

    Raises:
        ConfigError: a setting is unknown or unusable.
    """
    from goliath_local.cli.settings import load_settings

    flags = said_flags(context)
    config = flags.pop("config", None)
    return load_settings(flags | more, config_file=Path(config) if config else None)


def terminal_of(context: typer.Context) -> Terminal:
    """Return the terminal as flags and settings want it; plain when the settings are wrong."""
    from goliath_local.cli.terminal import open_terminal
    from goliath_local.errors import ConfigError

    try:
        settings = settings_of(context)
    except ConfigError:
        return open_terminal()
    return open_terminal(colour=settings.color, quiet=settings.quiet, log_file=settings.log_file)
