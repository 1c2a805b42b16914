"""How large the window is, and who says so.

Pure.
"""

from __future__ import annotations

from typing import Any

from goliath_local.budget import DEFAULT_WINDOW, Window
from goliath_local.errors import ConfigError
from goliath_local.model import CountingModel, WindowSource


def choose_window(given: Any, model: Any = None) -> Window:
    """Return the window: what was given, else what the model reports, else the default.

    Args:
        given: the option or what its callable returned; None if there is none.
        model: the model option; one that counts also says how large its window is.

    Raises:
        ConfigError: not a positive whole number, or more than the model has.
    """
    known = _of_model(model)
    if given is None:
        return known or Window(tokens=DEFAULT_WINDOW, source=WindowSource.ESTIMATED)
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        message = f"window is {given!r}. Write a positive whole number of tokens, like 4096."
        raise ConfigError(message)
    if known is not None and given > known.tokens:
        message = (
            f"window is {given:,}, and the model has {known.tokens:,}. "
            "Leave window out, or make it smaller."
        )
        raise ConfigError(message)
    return Window(tokens=given, source=WindowSource.CONFIGURED)


def _of_model(model: Any) -> Window | None:
    if not isinstance(model, CountingModel):
        return None
    found = model.capabilities()
    if found.window_tokens is None:
        return None
    return Window(tokens=found.window_tokens, source=found.window_source)
