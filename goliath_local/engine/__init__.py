"""Text in, text out: a model file on llama.cpp, behind the model port.

The door of the room. Each name is fetched when it is first used: settings can be checked, and
templates be rendered in a child, without numpy; llama.cpp is loaded by `load_model` alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goliath_local.engine.bare import Bare, open_bare
    from goliath_local.engine.load import load_model
    from goliath_local.engine.local_model import LocalModel
    from goliath_local.engine.native_tools import native_tools_text
    from goliath_local.engine.server_model import OpenAICompatibleModel
    from goliath_local.engine.settings import EngineSettings
    from goliath_local.engine.threads import default_threads

_HOME = {
    "Bare": "bare",
    "EngineSettings": "settings",
    "LocalModel": "local_model",
    "OpenAICompatibleModel": "server_model",
    "default_threads": "threads",
    "load_model": "load",
    "native_tools_text": "native_tools",
    "open_bare": "bare",
}

__all__ = [
    "Bare",
    "EngineSettings",
    "LocalModel",
    "OpenAICompatibleModel",
    "default_threads",
    "load_model",
    "native_tools_text",
    "open_bare",
]


def __getattr__(name: str) -> Any:
    file = _HOME.get(name)
    if file is None:
        message = f"goliath_local.engine has no {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"goliath_local.engine.{file}"), name)
    globals()[name] = value
    return value
