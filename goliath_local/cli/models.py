"""`goliath-local models`: which models there are, getting, checking and removing them.

Edge: prints. What is decided is decided in `catalogue`, which is imported once a command runs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from goliath_local.cli.completion import model_names
from goliath_local.cli.flags import settings_of, terminal_of
from goliath_local.typed_paths import typed_path

if TYPE_CHECKING:
    from pathlib import Path

    from goliath_local.catalogue import Card, Choice, Entry, Pin
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal
    from goliath_local.records import Json


def _examples(*lines: str) -> str:
    return "Examples:\n\n" + "\n\n".join(f"goliath-local models {line}" for line in lines)


app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Which models there are; getting, checking and removing them.",
    epilog=_examples("list", "pull default"),
)


_model = partial(typer.Argument, autocompletion=model_names)


@app.command("list", epilog=_examples("list", "list --all --json"))
def list_(
    context: typer.Context,
    *,
    all_: Annotated[bool, typer.Option("--all", help="The tests' model too.")] = False,
) -> None:
    """Print every model and whether it is here. Asks nothing of the network."""
    from goliath_local.catalogue import choose_default_installed, inventory
    from goliath_local.cli.model_facts import entry_words

    settings, terminal, folder = _opened(context)
    default = choose_default_installed(folder)
    entries = [entry for entry in inventory(folder) if all_ or _is_shown(entry)]
    if settings.json:
        terminal.document(
            {
                "modelsDir": str(folder),
                "default": default.card.name if default else None,
                "models": [_entry_json(entry, folder) for entry in entries],
            }
        )
        return
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        marked = "  default" if default and entry.name == default.card.name else ""
        terminal.put(f"{entry.name:<{width}}  {entry_words(entry)}{marked}")


@app.command(epilog=_examples("pull default", "pull smollm3-3b qwen2.5-coder-0.5b"))
def pull(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        _model(
            metavar="[NAME|default|hf:OWNER/REPO/FILE@REV|URL|FILE]...",
            help="What to get.",
        ),
    ] = None,
    *,
    sha256: Annotated[
        str | None, typer.Option("--sha256", metavar="HEX", help="Expected hash; a URL needs it.")
    ] = None,
    link: Annotated[
        bool, typer.Option("--link", help="Point at FILE in place of copying it.")
    ] = False,
) -> None:
    """Get models; a broken download goes on where it stopped."""
    from goliath_local.catalogue import read_target, write_chosen
    from goliath_local.errors import ConfigError

    settings, terminal, folder = _opened(context)
    wanted = names or ["default"]
    if sha256 and len(wanted) > 1:
        msg = "--sha256 speaks of one file. Pull that one by itself."
        raise ConfigError(msg)
    done: list[Json] = []
    for name in wanted:
        if name == "default":
            choice = _default(settings, terminal, folder)
            done.append(_pull(choice.card, settings, terminal, folder, reason=choice.reason))
            write_chosen(folder, choice.card.name)
            continue
        target = read_target(name, sha256=sha256, link=link, offline=settings.offline)
        done.append(_pull(target, settings, terminal, folder, reason=None))
    if settings.json:
        terminal.document({"models": done})


@app.command(epilog=_examples("verify", "verify qwen2.5-coder-1.5b"))
def verify(
    context: typer.Context,
    names: Annotated[list[str] | None, _model(help="Which; all that are here.")] = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="All that are here.")] = False,
) -> None:
    """Hash files that are here, and say whether each is the right one."""
    from goliath_local.catalogue import verify_installed
    from goliath_local.cli.pulling import Progress
    from goliath_local.errors import ModelFileError

    settings, terminal, folder = _opened(context)
    entries = _named(names if names and not all_ else None, folder)
    bad: list[ModelFileError] = []
    rows: list[Json] = []
    for entry in entries:
        progress = Progress(terminal, entry.name)
        try:
            record = verify_installed(entry, folder, moved=progress.checked(entry.size_bytes))
        except ModelFileError as error:
            bad.append(error)
            rows.append({"name": entry.name, "file": entry.file, "ok": False, "why": str(error)})
            continue
        rows.append({"name": entry.name, "file": entry.file, "ok": True, "sha256": record.sha256})
        if not settings.json:
            terminal.put(f"{entry.name}: sound ({entry.file}, sha256 {record.sha256[:12]}…)")
    if settings.json and not bad:
        terminal.document({"models": rows})
    for failure in bad[:-1]:
        terminal.complain(str(failure))
    if bad:
        raise bad[-1]


@app.command(epilog=_examples("info", "info smollm3-3b --json"))
def info(
    context: typer.Context,
    name: Annotated[str, _model(help="Which model.")] = "default",
) -> None:
    """Print what is known about a model: its card, its file, its header."""
    from goliath_local.cli.model_facts import facts_of

    settings, terminal, folder = _opened(context)
    facts = facts_of(_entry(_resolved(name, folder), folder), folder)
    if settings.json:
        terminal.document(facts)
        return
    width = max(len(key) for key in facts)
    for key, value in facts.items():
        lines = value if isinstance(value, list) else [value]
        for line in lines or ["none"]:
            terminal.put(f"{key:<{width}}  {'unknown' if line is None else line}")


@app.command(epilog=_examples("rm smollm2-135m", "rm smollm3-3b qwen2.5-coder-0.5b"))
def rm(
    context: typer.Context,
    names: Annotated[list[str], _model(help="Which to remove, whole or in part.")],
) -> None:
    """Remove models from this machine, also half-fetched ones."""
    from goliath_local.catalogue import amount, remove_model

    settings, terminal, folder = _opened(context)
    freed = {name: remove_model(name, folder) for name in dict.fromkeys(names)}
    if settings.json:
        terminal.document({"removed": freed})
        return
    for name, size_bytes in freed.items():
        terminal.put(f"{name}: removed, {amount(size_bytes)} freed")


@app.command(epilog=_examples("path", "path default"))
def path(
    context: typer.Context,
    name: Annotated[str | None, _model(help="A model; without it, the folder.")] = None,
) -> None:
    """Print where the models lie, or where one of them does."""
    from goliath_local.catalogue import locate_model

    settings, terminal, folder = _opened(context)
    place = folder if name is None else locate_model(_resolved(name, folder), folder).path
    if settings.json:
        terminal.document({"path": str(place)})
        return
    terminal.put(str(place))


def _opened(context: typer.Context) -> tuple[Settings, Terminal, Path]:
    settings = settings_of(context)
    folder = settings.models_dir or settings.places.data / "models"
    return settings, terminal_of(context), typed_path(folder)


def _default(settings: Settings, terminal: Terminal, folder: Path) -> Choice:
    from goliath_local.catalogue import choose_default

    terminal.status("Looking which model suits this machine …")
    choice = choose_default(folder, offline=settings.offline)
    terminal.say(f"default is {choice.reason}")
    return choice


def _pull(
    target: Card | Pin, settings: Settings, terminal: Terminal, folder: Path, *, reason: str | None
) -> Json:
    from goliath_local.catalogue import fetch
    from goliath_local.cli.pulling import Progress

    progress = Progress(terminal, target.name)
    fetched = fetch(target, folder, offline=settings.offline, report=progress)
    progress.finish(fetched)
    if not settings.json:
        terminal.put(str(fetched.path))
    return {
        "name": target.name,
        "path": str(fetched.path),
        "source": fetched.source,
        "already": fetched.already,
        "sha256": target.sha256,
        "reason": reason,
    }


def _is_shown(entry: Entry) -> bool:
    is_tests = entry.card is not None and entry.card.role == "tests"
    return not is_tests or entry.state != "available"


def _entry_json(entry: Entry, folder: Path) -> Json:
    from goliath_local.catalogue import read_record

    record = read_record(folder, entry.file)
    return {
        "name": entry.name,
        "state": entry.state,
        "file": entry.file,
        "sizeClass": entry.card.size_class if entry.card else None,
        "sizeBytes": entry.size_bytes,
        "haveBytes": entry.have_bytes,
        "sha256": entry.card.sha256 if entry.card else record.sha256 if record else None,
        "verifiedAt": record.verified_at if record and entry.state == "installed" else None,
    }


def _named(names: list[str] | None, folder: Path) -> list[Entry]:
    """Return the installed entries of these names, of all when None.

    Raises:
        NoModel: nothing is installed, or one of the names is not.
    """
    from goliath_local.catalogue import cards, inventory, locate_model, no_model

    if names is None:
        entries = [entry for entry in inventory(folder) if entry.state == "installed"]
        if not entries:
            raise no_model(cards(), folder=folder)
        return entries
    found = []
    for name in dict.fromkeys(names):
        resolved = _resolved(name, folder)
        entry = _entry(resolved, folder)
        if entry.state != "installed":
            locate_model(resolved, folder)  # raises, and says where it looked
        found.append(entry)
    return found


def _entry(name: str, folder: Path) -> Entry:
    from goliath_local.catalogue import find_card, inventory

    entries = inventory(folder)
    for entry in entries:
        if name in {entry.name, entry.file}:
            return entry
    card = find_card(name)  # raises, and says what was meant
    return next(entry for entry in entries if entry.card == card)


def _resolved(name: str, folder: Path) -> str:
    """Return the name that `default` stands for among the installed, other names as they are."""
    from goliath_local.catalogue import cards, choose_default_installed, no_model

    if name != "default":
        return name
    choice = choose_default_installed(folder)
    if choice is None:
        raise no_model(cards(), folder=folder)
    return choice.card.name
