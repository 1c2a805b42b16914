"""The command `goliath-local`, assembled: one line a command, loaded when it is called.

Edge. Help, version and wrong usage touch neither the engine nor numpy: a command's module is
imported only once its name was typed, and imports what it needs only once it runs.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperGroup

from goliath_local.cli.flags import add_global_flags, global_options, settings_of, terminal_of
from goliath_local.cli.problems import ExitCode, Problem, read_problem
from goliath_local.cli.signals import Terminated
from goliath_local.cli.terminal import Terminal, mend_standard_streams, open_terminal
from goliath_local.cli.usage import nearest, usage_words

PROGRAM = "goliath-local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A command that can be called."""

    module: str
    """Module with the Typer app, called `app` in it."""

    about: str


COMMANDS: dict[str, Entry] = {
    "chat": Entry(
        module="goliath_local.cli.chat", about="Talk, tools on; resumes a conversation."
    ),
    "run": Entry(module="goliath_local.cli.run", about="One ask, for scripts."),
    "models": Entry(
        module="goliath_local.cli.models", about="list, pull, verify, info, rm, path."
    ),
    "tools": Entry(module="goliath_local.cli.tools", about="What the model sees of your tools."),
    "grammar": Entry(module="goliath_local.cli.grammar", about="compile, check, sample."),
    "tokens": Entry(module="goliath_local.cli.tokens", about="Count text, files and tools."),
    "bench": Entry(module="goliath_local.cli.bench", about="How fast is it here?"),
    "eval": Entry(module="goliath_local.cli.eval", about="list, run, show, compare."),
    "trace": Entry(module="goliath_local.cli.trace", about="list, show, export, replay."),
    "conversations": Entry(module="goliath_local.cli.conversations", about="list, show, rm."),
    "config": Entry(module="goliath_local.cli.config", about="show, path, init."),
    "doctor": Entry(module="goliath_local.cli.doctor", about="Is this machine ready?"),
    "version": Entry(module="goliath_local.cli.version", about="Which version this is."),
}

_COMPLETION = {"install_completion", "show_completion"}

_EPILOG = (
    "Examples:\n\n"
    'goliath-local run -T demo "What is on my list today?"\n\n'
    "goliath-local chat -T demo\n\n"
)


class Commands(TyperGroup):
    """Knows every command by name, and imports one only when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the base class's signature
        """Return the names, in the order in which they are shown."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of this name; a name nobody knows is wrong usage."""
        if cmd_name not in COMMANDS:
            hint = _meant(cmd_name.casefold())
            ctx.fail(f'There is no command "{cmd_name}".{hint} See: {PROGRAM} --help')
        entry = COMMANDS[cmd_name]
        command = typer.main.get_command(importlib.import_module(entry.module).app)
        command.name = cmd_name
        # Completion is installed for the program, not for one of its commands.
        command.params = [p for p in command.params if p.name not in _COMPLETION]
        add_global_flags(command, global_options(), hidden=True)
        _spell_out(command)
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the base's signature
        """Write the list of commands, importing none."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.about) for name, entry in COMMANDS.items()])


def _meant(name: str) -> str:
    """Return ` Did you mean "…"?` for a command, or for one of a command's own, such as `pull`."""
    if name == "help":
        return ' Did you mean "--help"?'
    for group, entry in COMMANDS.items():
        if name in entry.about.rstrip(".").split(", "):
            return f' Did you mean "{group} {name}"?'
    return nearest(name, COMMANDS)


_GLOBAL = f"-m, -t, --json, -q and the other flags of {PROGRAM} --help may stand here too."


def _spell_out(command: Any) -> None:
    """Name the global flags before the examples, and let no command's sentence be cut."""
    for child in getattr(command, "commands", {}).values():
        child.short_help = child.help
        _spell_out(child)
    command.epilog = f"{_GLOBAL}\n\n{command.epilog or ''}"


app = typer.Typer(
    name=PROGRAM,
    cls=Commands,
    help="Makes a small language model on this machine finish real tasks.",
    epilog=_EPILOG,
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback()
def _root() -> None:
    """Makes a small language model on this machine finish real tasks."""


def build() -> Any:
    """Return the command line with the global flags on it."""
    command = typer.main.get_command(app)
    add_global_flags(command, global_options(), hidden=False)
    return command


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; the only place where errors end."""
    mend_standard_streams()
    arguments = sys.argv[1:] if arguments is None else arguments
    command = build()
    if os.environ.get("_GOLIATH_LOCAL_COMPLETE"):
        return _completed(command, arguments)
    code = _guarded(command, arguments)
    return _flushed(code)


def _completed(command: Any, arguments: list[str]) -> int:
    """Answer the shell, which asks for what could come next."""
    try:
        return int(command.main(args=arguments, prog_name=PROGRAM) or 0)
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else ExitCode.DONE


def _guarded(command: Any, arguments: list[str]) -> int:
    context = None
    try:
        with command.make_context(PROGRAM, list(arguments)) as context:
            returned = command.invoke(context)
        return returned if isinstance(returned, int) else ExitCode.DONE
    except typer.Exit as ending:
        return ending.exit_code
    except typer.Abort:
        return _told(read_problem(KeyboardInterrupt()), context, arguments)
    except Exception as error:  # noqa: BLE001 - the border: every error ends as a code and a message
        return _told(_problem(error), context, arguments, error=error)
    except KeyboardInterrupt as error:
        return _told(read_problem(error), context, arguments)
    except Terminated as ending:
        return ending.code


def _problem(error: BaseException) -> Problem:
    if not hasattr(error, "format_message"):
        return read_problem(error)
    return Problem(code=ExitCode.USAGE, message=usage_words(error, PROGRAM))


def _told(
    problem: Problem, context: Any, arguments: list[str], *, error: BaseException | None = None
) -> int:
    terminal = _last_terminal(context)
    if error is not None and _is_very_verbose(arguments):
        terminal.complain("".join(traceback.format_exception(error)), end="")
    if problem.code is ExitCode.BUSY and error is not None:
        problem = _with_holders(problem, error, context)
    if problem.code is ExitCode.OUR_BUG and error is not None:
        problem = _with_report(problem, error)
    first = _first_fields(arguments)
    if first is not None and problem.message:
        _json_problem(terminal, problem, first)
    if problem.message:
        terminal.complain(problem.message)
    return problem.code


def _last_terminal(context: Any) -> Terminal:
    """Return a terminal in any case: the settings themselves may be what is wrong."""
    if context is None:
        return open_terminal()
    try:
        return terminal_of(context)
    except Exception:  # noqa: BLE001 - the error that is being told matters more
        return open_terminal()


def _json_problem(terminal: Terminal, problem: Problem, first: dict[str, Any]) -> None:
    document = first | {
        "ok": False,
        "error": {"code": int(problem.code), "message": problem.message},
    }
    try:
        terminal.document(document)
    except OSError:
        return


def _with_holders(problem: Problem, error: BaseException, context: Any) -> Problem:
    """Add which other processes have the store open, where that can be told."""
    from goliath_local.cli.holding import ConversationBusy, store_holders
    from goliath_local.errors import StorageBusy

    if not isinstance(error, StorageBusy) or isinstance(error, ConversationBusy):
        return problem
    who = store_holders(settings_of(context).places.conversations)
    told = f"\nIt is open in {', '.join(map(str, who))}." if who else ""
    return Problem(code=problem.code, message=problem.message + told)


def _with_report(problem: Problem, error: BaseException) -> Problem:
    from goliath_local.cli.crash import write_report

    path = write_report(error)
    return (
        problem
        if path is None
        else Problem(code=problem.code, message=f"{problem.message}\nDetails: {path}")
    )


def _is_very_verbose(arguments: list[str]) -> bool:
    flags = [word for word in arguments if word.startswith("-v") or word == "--verbose"]
    return sum(word.count("v") if word != "--verbose" else 1 for word in flags) >= 2


def _first_fields(arguments: list[str]) -> dict[str, Any] | None:
    """Return what a document about an error begins with; None where no document is wanted."""
    said = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if "--json" in said:
        return {}
    return {"type": "result"} if "--jsonl" in said else None


def _flushed(code: int) -> int:
    """Flush what is left; a reader that went away in the meantime is exit code 141."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.READER_GONE
    except OSError as error:
        problem = read_problem(error)
        open_terminal().complain(problem.message)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return problem.code
    return code
