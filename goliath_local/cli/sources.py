"""Things a user names on the command line: tools, schemas, fallbacks.

Edge: imports the user's own code, which runs with the user's rights. What goes wrong in it is
told with file and line, without a traceback.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goliath_local.cli.terminal import prints_to_stderr
from goliath_local.cli.usage import nearest
from goliath_local.errors import ConfigError, GoliathError, SchemaError
from goliath_local.typed_paths import is_file, typed_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from goliath_local.cli.places import Places
    from goliath_local.tools import Tool

_FORMS = {
    "-T": "Give module:attribute, a FILE.py, or demo, tasks, notes, files, clock, numbers, "
    "system, mcp:COMMAND.",
    "--schema": "Give a JSON Schema file, or module:Model.",
    "SCHEMA": "Give a JSON Schema file, or module:Model.",
    "--fallback": "Give a URL, module:function, or none.",
}
"""What may stand behind each flag, for whoever gave something else."""


def load_tools(names: Iterable[str], places: Places) -> tuple[Tool, ...]:
    """Return the tools that the names stand for, in order.

    Raises:
        ConfigError: a name leads nowhere, its code fails, or two tools share a name.
    """
    tools = [tool for name in names for tool in _tools_of(name, places)]
    seen: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in seen:
            msg = f"Two tools are called {tool.name}. Rename one, or give -T only once."
            raise ConfigError(msg)
        seen[tool.name] = tool
    return tuple(tools)


def _tools_of(name: str, places: Places) -> Iterable[Tool]:
    from goliath_local.toolsets import TOOL_SETS, is_tool_set, tool_set

    if name.endswith(".py"):
        return _found(vars(load_file(Path(name), flag="-T")).values(), name)
    if name.startswith(("mcp:", "mcp[")):
        from goliath_local.mcp import named_tools

        return named_tools(name)
    # A module of the user's own comes before a set of the same name: notes.py, notes:mine.
    is_own = ":" in name and is_file(Path(f"{name.partition(':')[0]}.py"))
    if is_tool_set(name) and not is_own:
        return tool_set(name, data=places.data)
    if ":" in name:
        return _found([load_attribute(name, flag="-T")], name)
    hint = nearest(name, (*TOOL_SETS, *_files_beside(Path(name))))
    msg = f'-T {name}: there is no tool set "{name}".{hint} {_FORMS["-T"]}'
    raise ConfigError(msg)


def _found(values: Iterable[object], name: str) -> tuple[Tool, ...]:
    from goliath_local.tools import Tool

    found: list[Tool] = []
    for value in values:
        if isinstance(value, Tool):
            found.append(value)
        elif isinstance(value, Mapping):
            found += [item for item in value.values() if isinstance(item, Tool)]
        elif isinstance(value, list | tuple):
            found += [item for item in value if isinstance(item, Tool)]
    if not found:
        msg = f"-T {name}: no tool in it. Write @tool above a function: docs/tools.md"
        raise ConfigError(msg)
    return tuple({id(tool): tool for tool in found}.values())


def load_attribute(name: str, *, flag: str) -> Any:
    """Return what `module:attribute` names; the working directory is looked in too.

    Raises:
        ConfigError: there is no such module or attribute, or its code fails.
    """
    module_name, _, attribute = name.partition(":")
    if module_name.endswith(".py"):
        module = load_file(Path(module_name), flag=flag)
    else:
        module = _guarded(module_name, lambda: _import(module_name), flag=flag)
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        here = [word for word in vars(module) if not word.startswith("_")]
        msg = f'{flag} {name}: {module_name} has no "{attribute}". It has: {", ".join(here[:12])}'
        raise ConfigError(msg) from error


def load_file(path: Path, *, flag: str) -> ModuleType:
    """Return the Python file, run as a module.

    Raises:
        ConfigError: it is not there, or its code fails.
    """
    path = typed_path(path)
    if not is_file(path):
        hint = nearest(str(path), _files_beside(path))
        msg = f"There is no file {path}.{hint} {_FORMS[flag]}"
        raise ConfigError(msg)
    return _guarded(path.name, lambda: _run_file(path), flag=flag)


def _files_beside(path: Path) -> list[str]:
    """Return the Python files that could have been meant, as they would be typed."""
    try:
        return [str(path.parent / one.name) for one in path.parent.glob("*.py")]
    except (OSError, ValueError):
        return []


def _run_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"goliath_tools_{path.stem}", path)
    if spec is None or spec.loader is None:
        msg = f"{path} cannot be imported."
        raise ImportError(msg)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent.resolve()))
    spec.loader.exec_module(module)
    return module


def _import(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    return importlib.import_module(name)


def _guarded(name: str, load: Callable[[], ModuleType], *, flag: str) -> ModuleType:
    try:
        with prints_to_stderr():
            return load()
    except GoliathError:
        raise
    except SystemExit as error:
        msg = (
            f"{_place(error, name)}: it ends the program while it is read. Put what runs by "
            'itself under if __name__ == "__main__":'
        )
        raise ConfigError(msg) from error
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            msg = f'{flag} {name}: there is no module "{error.name}". {_FORMS[flag]}'
        else:
            msg = (
                f'{_place(error, name)}: it imports "{error.name}", which is not installed here. '
                "Install it, or mend the import."
            )
        raise ConfigError(msg) from error
    except SyntaxError as error:
        msg = f"{Path(error.filename or name).name}:{error.lineno}: {error.msg}. Mend that line."
        raise ConfigError(msg) from error
    except Exception as error:  # the user's own code may raise anything
        msg = f"{_place(error, name)}: {type(error).__name__}: {error}. Mend it and run again."
        raise ConfigError(msg) from error


def _place(error: BaseException, name: str) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        frame
        for frame in frames
        if "importlib" not in frame.filename and frame.filename != __file__
    ]
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else name


def load_schema(name: str) -> Any:
    """Return the JSON Schema of a file, or the type that `module:Model` names.

    Raises:
        ConfigError: it is not there or not JSON.
    """
    if name.lstrip().startswith(("{", "[")):
        raise ConfigError("--schema takes a file or module:Model, not the schema itself. Save it.")
    if ":" in name and not is_file(Path(name)):
        return load_attribute(name, flag="--schema")
    try:
        schema = json.loads(typed_path(name).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        msg = f"There is no file {name} (--schema). Give a JSON Schema file, or module:Model."
        raise ConfigError(msg) from error
    except (OSError, ValueError, RecursionError) as error:
        msg = f"{name} is not a JSON document (--schema): {error}."
        raise ConfigError(msg) from error
    if not isinstance(schema, dict | bool):
        raise SchemaError("", "", f"{name} holds no schema: a schema is an object")
    return schema


def load_fallback(name: str | None) -> Any:
    """Return the fallback that a URL or `module:function` names; None for none.

    Raises:
        ConfigError: it is neither.
    """
    if name is None or name == "none":
        return None
    if name.startswith(("http://", "https://")):
        from goliath_local.fallback import http_fallback

        return http_fallback(name)
    if "://" in name:
        raise ConfigError("--fallback: the address has to start with http:// or https://.")
    if ":" in name:
        return load_attribute(name, flag="--fallback")
    msg = f"--fallback {name}: give a URL, module:function, or none."
    raise ConfigError(msg)
