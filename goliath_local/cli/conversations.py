"""`goliath-local conversations`: what is remembered, and forgetting it.

Edge: reads and changes the conversations' file; `rm` removes the conversation's traces too, and
`rm --all` the evaluated prompt heads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from goliath_local.cli.completion import conversation_names
from goliath_local.cli.flags import settings_of, terminal_of
from goliath_local.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from goliath_local.cli.settings import Settings
    from goliath_local.memory import StoredConversation


def _examples(*lines: str) -> str:
    return "Examples:\n\n" + "\n\n".join(f"goliath-local conversations {line}" for line in lines)


app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="What is remembered, and forgetting it.",
    epilog=_examples("list", "rm 01KAB"),
)


@app.command("list", epilog=_examples("list", "list --json"))
def list_(context: typer.Context) -> None:
    """Print the conversations, the last used first."""
    import time

    from goliath_local.cli.talk import ago

    settings, terminal = settings_of(context), terminal_of(context)
    found = _stored(settings)
    if settings.json:
        terminal.document({"conversations": [_json(one) for one in found]})
        return
    if not found:
        terminal.say("No conversation is stored yet. Begin one: goliath-local chat")
    for one in found:
        turns = f"{one.exchanges} turn{'' if one.exchanges == 1 else 's'} kept"
        terminal.put(f"{one.conversation_id}  {turns}, {ago(time.time() - one.saved_at)}")


@app.command(epilog=_examples("show last", "show 01KAB --json"))
def show(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            autocompletion=conversation_names, help="Its name, the beginning of it, or last."
        ),
    ] = "last",
) -> None:
    """Print what is remembered of a conversation."""
    import asyncio

    from goliath_local.memory import sqlite_memory
    from goliath_local.records import to_json

    settings, terminal = settings_of(context), terminal_of(context)
    found = _find(settings, name)
    memory = sqlite_memory(settings.places.conversations)(found)
    state = asyncio.run(memory.load())
    if settings.json:
        terminal.document({"conversation": found, **_fields(to_json(state))})
        return
    if memory.warning:
        terminal.complain(memory.warning)
    terminal.put(f"conversation {found}")
    if state.summary:
        terminal.put(state.summary)
    for exchange in state.recent:
        terminal.put(f"you>  {exchange.ask}")
        for step in exchange.steps:
            if step.kind == "tool":
                terminal.put(f"  {step.index + 1} {step.tool}: {step.status}")
        partial = " (partial)" if exchange.best_effort else ""
        terminal.put(f"{exchange.answer}{partial}")


@app.command(epilog=_examples("rm 01KAB", "rm --all"))
def rm(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(autocompletion=conversation_names, help="Which to forget."),
    ] = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="Every one.")] = False,
) -> None:
    """Forget conversations for good, with their traces and all damaged files set aside.

    --all forgets the evaluated prompt heads, too.
    """
    from goliath_local.cli.tracefile import remove_traces
    from goliath_local.errors import ConfigError
    from goliath_local.memory import sqlite_memory

    settings, terminal = settings_of(context), terminal_of(context)
    if not names and not all_:
        raise ConfigError("Name the conversations to forget, or give --all.")
    store = sqlite_memory(settings.places.conversations)
    wanted = [one.conversation_id for one in _stored(settings)] if all_ else []
    wanted += [_find(settings, name) for name in names or []]
    # Nobody can tell what is in a damaged file: none may keep what is to be forgotten.
    damaged = store.remove_set_aside()
    rows: list[dict[str, Any]] = []
    for one in dict.fromkeys(wanted):
        store.remove(one)
        traces = remove_traces(settings.places.traces, one)
        rows.append({"conversation": one, "traces": traces})
    heads = _remove_heads(settings.places.states) if all_ else 0
    if settings.json:
        terminal.document({"removed": rows, "damagedFiles": damaged, "promptHeads": heads})
        return
    for row in rows:
        terminal.put(f"{row['conversation']}: forgotten, with {row['traces']} traces")
    if damaged:
        files = "file" if damaged == 1 else "files"
        terminal.put(f"{damaged} damaged {files} that had been set aside: deleted")
    if heads:
        terminal.put(f"{heads} evaluated prompt {'head' if heads == 1 else 'heads'}: deleted")


def _remove_heads(folder: Path) -> int:
    """Delete the evaluated prompt heads, and return how many there were.

    Facts are in them, and nobody can tell of which conversation.

    Raises:
        StorageError: one cannot be deleted.
    """
    heads = list(folder.glob("*.state"))
    for file in (*heads, *folder.glob(".*.state.*.tmp")):
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            msg = f"Could not delete {file}: {error.strerror}. Look at the rights there."
            raise StorageError(msg) from error
    return len(heads)


def _stored(settings: Settings) -> list[StoredConversation]:
    from goliath_local.memory import sqlite_memory

    path: Path = settings.places.conversations
    return [one for one in sqlite_memory(path).conversations() if one.conversation_id is not None]


def _find(settings: Settings, name: str) -> str:
    """Return the stored name.

    Raises:
        StorageError: there is no such conversation.
    """
    from goliath_local.cli.talk import find_conversation
    from goliath_local.errors import StorageError

    names = [one.conversation_id or "" for one in _stored(settings)]
    found = names[0] if name == "last" and names else find_conversation(names, name)
    if found not in names:
        msg = f'There is no conversation "{name}". See: goliath-local conversations list'
        raise StorageError(msg)
    return found


def _json(one: StoredConversation) -> dict[str, Any]:
    return {
        "conversation": one.conversation_id,
        "exchanges": one.exchanges,
        "savedAt": round(one.saved_at * 1000),
    }


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
