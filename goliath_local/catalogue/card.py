"""What is known about one model: its file, its hash, its size, and where the bytes come from.

Pure. The hash is the identity: a file is the model when its sha256 is the card's, whatever the
source it came from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WINDOW_TOKENS = 4096
"""The window the program works with, and for which needed memory is stated."""

OVERHEAD_BYTES = 200_000_000
"""What a loaded model needs beside its weights and its KV cache."""

Role: TypeAlias = Literal["default", "general", "tests"]
TemplateValue: TypeAlias = bool | int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSource:
    """One file of a model hub's repository, at a fixed revision."""

    repository: str
    """`OWNER/NAME`."""

    revision: str
    """A commit, 40 hex digits."""

    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One wheel of the package index, and the one member of it that is read."""

    name: str
    version: str
    member: str
    """The member's exact name inside the wheel, `folder/file.bin`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagesSource:
    """Wheels whose members, joined in order, are the file."""

    packages: tuple[Package, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlSource:
    """A plain web address."""

    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSource:
    """A file already on this machine."""

    path: Path
    link: bool
    """True to point at it from the models folder, False to copy it there."""


Source: TypeAlias = HubSource | PackagesSource | UrlSource | FileSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """What one file must be, and where it can be had; all that a fetch needs to know."""

    name: str
    """What the user calls the model."""

    file: str
    """A plain file name, also the name in the models folder."""

    size_bytes: int
    sha256: str
    sources: tuple[Source, ...]
    """Tried in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One model of the catalogue."""

    name: str
    role: Role
    size_class: str
    """Parameters in words, `3.4B`."""

    file: str
    size_bytes: int
    sha256: str
    licence: str
    trained_window_tokens: int
    kv_bytes_per_token: int
    """Layers * KV heads * head size * 2 (K and V) * 2 bytes."""

    sources: tuple[Source, ...]
    template_sha256: str | None = None
    """Hash of the chat template inside the file; None where nobody has read it yet."""

    template_variables: Mapping[str, TemplateValue] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Handed to the chat template, such as `enable_thinking`."""

    @property
    def needed_bytes(self) -> int:
        """Memory the model needs at the program's window."""
        return needed_bytes(self.size_bytes, self.kv_bytes_per_token)

    @property
    def pin(self) -> Pin:
        """What a fetch of this card needs to know."""
        return Pin(
            name=self.name,
            file=self.file,
            size_bytes=self.size_bytes,
            sha256=self.sha256,
            sources=self.sources,
        )


def needed_bytes(
    size_bytes: int, kv_bytes_per_token: int, *, window_tokens: int = WINDOW_TOKENS
) -> int:
    """Return the memory a model needs: its file, its KV cache and an overhead."""
    return size_bytes + kv_bytes_per_token * window_tokens + OVERHEAD_BYTES
