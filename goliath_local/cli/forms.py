"""What the value of each setting looks like, in words for whoever gave another one. Pure."""

from __future__ import annotations

WINDOW_TOKENS = 4096


def form_of(key: str, default: object) -> str:
    """Return what a value of the setting looks like, by its name or else by its type."""
    return _FORMS.get(key) or _FORMS_BY_TYPE.get(type(default), "a text")


_FORMS = {
    "model": "a model's name, or the path of a file",
    "threads": "a whole number of CPU threads, 1 or more",
    "gpu_layers": "auto, all, or a whole number, 0 or more",
    "window": f"{WINDOW_TOKENS}, or leave it out",
    "seed": "a whole number from 0 to 4294967295",
    "verbose": "0, 1 or 2",
    "color": "auto, always or never",
    "max_steps": "a whole number from 0 to 100",
    "timeout": "a number of seconds above 0",
    "steps": "full, short or off",
    "trace_days": "a whole number of days from 1 to 3650",
    "models_dir": "the path of a folder",
    "data_dir": "the path of a folder",
    "log_file": "the path of a file",
    "fallback": "an address or module:function, as a text",
}

_FORMS_BY_TYPE = {bool: "true or false", tuple: "a list of texts"}
