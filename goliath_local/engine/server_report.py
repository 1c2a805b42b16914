"""What a server says about its model, read into capabilities.

Pure. Every number is taken only where a server reports it as what it allocated; what is not
reported is unknown, and a model's name tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from goliath_local.model import Capabilities, Support, WindowSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.records import Json

ESTIMATED_WINDOW_TOKENS = 4096
"""Taken where no server says how large its window is."""

MAX_WINDOW_TOKENS = 1 << 24
Preset: TypeAlias = Literal["auto", "llama.cpp", "ollama", "openai"]
Kind: TypeAlias = Literal["llama.cpp", "ollama", "openai"]

_OWNERS: Mapping[str, Kind] = {"llamacpp": "llama.cpp", "library": "ollama"}
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)\s*$", re.MULTILINE)

UNKNOWN = Capabilities(window_tokens=ESTIMATED_WINDOW_TOKENS, window_source=WindowSource.ESTIMATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What `/v1/models` says."""

    kind: Kind
    """Which server it is, by what it says of itself."""

    names: tuple[str, ...]
    capabilities: Capabilities

    def knowing(self, capabilities: Capabilities) -> Offer:
        """Return the offer with more known of the model."""
        return replace(self, capabilities=capabilities)


def nothing_known(*, model: str | None, preset: Preset) -> Offer:
    """Return what is taken before a server says anything."""
    kind: Kind = "openai" if preset == "auto" else preset
    capabilities = replace(UNKNOWN, name=model or "", schema=_schema(kind))
    return Offer(kind=kind, names=(), capabilities=capabilities)


def read_models(data: Json, *, model: str | None, preset: Preset) -> Offer:
    """Return what a list of models offers, and what it says of the chosen one."""
    entries = _mappings(_get(data, "data"))
    names = tuple(entry["id"] for entry in entries if isinstance(entry.get("id"), str))
    chosen = _chosen(entries, model)
    name = model or (names[0] if len(names) == 1 else "")
    owner = chosen.get("owned_by")
    found: Kind = _OWNERS.get(owner, "openai") if isinstance(owner, str) else "openai"
    kind = found if preset == "auto" else preset
    meta = _get(chosen, "meta")
    capabilities = replace(
        UNKNOWN,
        name=name,
        parameters=_count(_get(meta, "n_params")),
        size_bytes=_count(_get(meta, "size")),
        schema=_schema(kind),
    )
    window = _window(_get(meta, "n_ctx")) or _window(chosen.get("max_model_len"))
    return Offer(kind=kind, names=names, capabilities=_with_window(capabilities, window))


def with_props(known: Capabilities, data: Json) -> Capabilities:
    """Return the capabilities with what llama.cpp's `/props` says."""
    window = _window(_get(_get(data, "default_generation_settings"), "n_ctx"))
    abilities = _get(data, "chat_template_caps")
    return replace(
        _with_window(known, window or _window(_get(data, "n_ctx"))),
        tools=_support(_get(abilities, "supports_tools")),
    )


def with_show(known: Capabilities, data: Json) -> Capabilities:
    """Return the capabilities with what Ollama's `/api/show` says."""
    listed = _get(data, "capabilities")
    abilities = listed if isinstance(listed, list) else None
    configured = (
        _NUM_CTX.search(text) if isinstance(text := _get(data, "parameters"), str) else None
    )
    parameters = _count(_get(_get(data, "model_info"), "general.parameter_count"))
    return replace(
        _with_window(known, _window(int(configured[1])) if configured else None),
        tools=_listed("tools", abilities),
        thinking=_listed("thinking", abilities),
        parameters=parameters or known.parameters,
    )


def with_running(known: Capabilities, data: Json) -> Capabilities:
    """Return the capabilities with what Ollama's `/api/ps` says of the loaded model."""
    for entry in _mappings(_get(data, "models")):
        if known.name and known.name in {entry.get("name"), entry.get("model")}:
            window = _window(entry.get("context_length"))
            size = _count(entry.get("size"))
            return replace(_with_window(known, window), size_bytes=size or known.size_bytes)
    return known


def _schema(kind: Kind) -> Support:
    # llama.cpp and Ollama hold a reply to a schema by themselves; of others it is not known.
    return Support.UNKNOWN if kind == "openai" else Support.SUPPORTED


def _chosen(entries: Sequence[Mapping[str, Any]], model: str | None) -> Mapping[str, Any]:
    if model is None:
        return entries[0] if len(entries) == 1 else {}
    return next((entry for entry in entries if entry.get("id") == model), {})


def _with_window(known: Capabilities, window: int | None) -> Capabilities:
    if window is None:
        return known
    return replace(known, window_tokens=window, window_source=WindowSource.REPORTED)


def _get(data: Json, name: str) -> Json:
    return data.get(name) if isinstance(data, Mapping) else None


def _mappings(data: Json) -> list[Mapping[str, Any]]:
    return [item for item in data if isinstance(item, Mapping)] if isinstance(data, list) else []


def _count(value: Json) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if is_count else None


def _window(value: Json) -> int | None:
    count = _count(value)
    return count if count is not None and count <= MAX_WINDOW_TOKENS else None


def _support(value: Json) -> Support:
    if not isinstance(value, bool):
        return Support.UNKNOWN
    return Support.SUPPORTED if value else Support.UNSUPPORTED


def _listed(name: str, abilities: Sequence[Json] | None) -> Support:
    return Support.UNKNOWN if abilities is None else _support(name in abilities)
