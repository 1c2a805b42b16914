"""All settings as one frozen value, and where each of them came from.

Edge: reads files and the environment. A flag wins over `GOLIATH_*`, that over `./goliath.toml`,
that over the user's config file, that over the default. Pydantic checks each value at the
border; a project's file may not loosen approvals.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import tomllib
from collections.abc import Mapping  # noqa: TC003 - read by get_type_hints
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from goliath_local.cli.forms import WINDOW_TOKENS, form_of
from goliath_local.cli.places import Places, find_places
from goliath_local.errors import ConfigError
from goliath_local.typed_paths import typed_path

PROJECT_FILE = "goliath.toml"
PREFIX = "GOLIATH_"


def _words(value: object) -> object:
    return (
        tuple(part.strip() for part in value.split(",") if part.strip())
        if isinstance(value, str)
        else value
    )


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
"""A list; in the environment its items are separated by commas."""

Layers = Literal["auto", "all"] | Annotated[int, Field(ge=0, le=10_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What every command may want to know, read once."""

    model: Annotated[str, Field(pattern=r"\S")] = "default"
    """Name of a card, or path of a GGUF file."""

    models_dir: Path | None = None
    """Folder of the weights; None is the user's data folder."""

    data_dir: Path | None = None
    """Folder of conversations, traces and the demo's tasks; None is the user's data folder."""

    threads: Annotated[int, Field(ge=1)] | None = None
    """None: physical cores within affinity and quota."""

    gpu_layers: Layers = "auto"
    window: Annotated[int, Field(ge=512)] = WINDOW_TOKENS
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] | None = None
    chat_template: str | None = None
    """Name or file of a chat template, for a model that brings none."""

    engine: str = "llama.cpp"
    """Or `fake:SCRIPT.json`, which says what the script says: for trying the command itself."""

    offline: bool = False
    verbose: Annotated[int, Field(ge=0, le=2)] = 0
    quiet: bool = False
    log_file: Path | None = None
    color: Literal["auto", "always", "never"] = "auto"
    json: bool = False
    max_steps: Annotated[int, Field(ge=0, le=100)] = 5
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Seconds a `run` may take."""

    tools: Words = ()
    """What `-T` would name."""

    allow: Words = ()
    """Names of tools that need no yes."""

    yes: bool = False
    """Every call is allowed."""

    read_only: bool = False
    """Tools that write are left out."""

    fallback: str | None = None
    """URL or `module:function` that finishes what the device cannot."""

    steps: Literal["full", "short", "off"] = "full"
    stats: bool = False
    trace: bool = True
    trace_days: Annotated[int, Field(ge=1, le=3650)] = 30
    origin: Mapping[str, str] = field(default_factory=dict)
    """For each setting that is not a default: where it came from."""

    @property
    def places(self) -> Places:
        """Where things are kept."""
        return find_places(self.data_dir)

    @property
    def models_folder(self) -> Path:
        """Where weights lie."""
        return typed_path(self.models_dir or self.places.data / "models")

    @property
    def shown_fallback(self) -> str | None:
        """The fallback as it may be shown: an address without credentials and query."""
        if self.fallback is None or "://" not in self.fallback:
            return self.fallback
        from goliath_local.wire import safe_url

        return safe_url(self.fallback)


_LOOSENING = {"allow", "yes", "fallback", "tools", "log_file", "data_dir", "models_dir"}
"""What a project's file may not say: it would approve, send away, or run code by itself.

The records in a models folder say which files were let in.
"""

_KEYS = tuple(f.name for f in dataclasses.fields(Settings) if f.name != "origin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Some settings from one place, as they were written."""

    values: Mapping[str, object]
    names: Mapping[str, str]
    """Key → how the place of its value is named, for `config show` and for messages."""


def load_settings(
    flags: Mapping[str, object],
    *,
    config_file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Return the settings of this process.

    Args:
        flags: what the command line said; None and absent mean unsaid.
        config_file: read in place of the user's config file.
        environ: the environment, `os.environ` by default.
        folder: where the project's file is looked for, the working directory by default.

    Raises:
        ConfigError: a key is unknown or a value unusable; says where.
    """
    environ = os.environ if environ is None else environ
    layers = [
        _config_layer(config_file),
        _project_layer((folder or Path.cwd()) / PROJECT_FILE),
        _environment_layer(environ),
        _flags_layer(flags),
    ]
    values: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for layer in layers:
        for key, raw in layer.values.items():
            values[key] = _read_value(key, raw, where=layer.names[key])
            origin[key] = layer.names[key]
    settings = Settings(**values, origin=origin)
    _verify(settings)
    return settings


def _read_value(key: str, raw: object, *, where: str) -> object:
    try:
        return _readers()[key].validate_python(raw)
    except ValidationError as error:
        wanted = form_of(key, getattr(Settings(), key))
        shown = "what it says" if key == "fallback" else repr(raw)  # it may hold a key
        msg = f"{where}: {shown} cannot be used. Give {wanted}."
        raise ConfigError(msg) from error


@cache
def _readers() -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(Settings, include_extras=True)
    return {key: TypeAdapter(hints[key]) for key in _KEYS}


def _config_layer(chosen: Path | None) -> Layer:
    if chosen is not None and not chosen.is_file():
        msg = f"There is no file {chosen} (--config). Make one: goliath-local config init"
        raise ConfigError(msg)
    return _file_layer(chosen or find_places().config_file)


def _project_layer(path: Path) -> Layer:
    layer = _file_layer(path)
    for key in layer.values:
        if key in _LOOSENING:
            user_file = find_places().config_file
            msg = (
                f'{layer.names[key]}: "{key}" may not be set by a project\'s file, since it would '
                f"loosen approvals. Set it in {user_file}, or give it as a flag."
            )
            raise ConfigError(msg)
    return layer


def _file_layer(path: Path) -> Layer:
    if not path.is_file():
        return Layer(values={}, names={})
    text = _text_of(path)
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also digits without end
        msg = f"{path} is not TOML: {error}. Mend that line."
        raise ConfigError(msg) from error
    names = {key: f"{path.name}:{_line_of(key, text)}" for key in values}
    for key in values:
        if key not in _KEYS:
            raise ConfigError(_unknown(key, where=names[key], known=_KEYS))
    return Layer(values=values, names=names)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{path} is not UTF-8: byte {error.start} is wrong. Save it as UTF-8."
        raise ConfigError(msg) from error


def _line_of(key: str, text: str) -> int:
    pattern = re.compile(rf"\s*\[*\s*[\"']?{re.escape(key)}[\"']?\s*(?:[=.\]])")
    lines = enumerate(text.splitlines(), start=1)
    return next((number for number, line in lines if pattern.match(line)), 1)


def _environment_layer(environ: Mapping[str, str]) -> Layer:
    known = {f"{PREFIX}{key.upper()}": key for key in _KEYS}
    for name in environ:
        if name.startswith(PREFIX) and name not in known:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
            # A name that resembles none of ours is somebody else's variable.
            if close:
                raise ConfigError(_unknown(name, where="environment:", known=tuple(known)))
    found = {key: name for name, key in known.items() if environ.get(name)}
    return Layer(values={key: environ[name] for key, name in found.items()}, names=found)


def _flags_layer(flags: Mapping[str, object]) -> Layer:
    said = {
        k: v for k, v in flags.items() if v is not None and v is not False and v not in ((), [])
    }
    return Layer(values=said, names={key: f"--{key.replace('_', '-')}" for key in said})


def _unknown(key: str, *, where: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    hint = f'Did you mean "{close[0]}"?' if close else "See: goliath-local config show"
    return f'{where} unknown key "{key}". {hint}'


def _verify(settings: Settings) -> None:
    """Check what no single value can tell."""
    cpus = os.cpu_count() or 1
    if settings.threads is not None and settings.threads > cpus:
        msg = (
            f"{settings.origin['threads']}: {settings.threads} threads, but this machine has "
            f"{cpus} CPUs. Use 1 to {cpus}, or leave it out."
        )
        raise ConfigError(msg)
    if settings.window != WINDOW_TOKENS:
        msg = (
            f"{settings.origin['window']}: the window is fixed at {WINDOW_TOKENS:,} tokens; "
            f"{settings.window:,} cannot be had. Leave it out."
        )
        raise ConfigError(msg)
