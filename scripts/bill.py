"""Writes the bill of materials and the licences, or with --check says if they are behind.

Reads requirements.lock (what is installed, with whose hashes), scripts/licences.toml and the model
cards; writes docs/bill-of-materials.json in the form of CycloneDX 1.6 and docs/licences.md. Both
are the same for the same input, so that a difference in git is a difference in what is shipped.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goliath_local.catalogue import cards

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goliath_local.catalogue import Card

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
LICENCES = ROOT / "scripts" / "licences.toml"
BILL = ROOT / "docs" / "bill-of-materials.json"
PAGE = ROOT / "docs" / "licences.md"

_ENTRY = re.compile(
    r"^(?P<name>[a-z0-9][a-z0-9._-]*)(?:\[[^]]*\])?==(?P<version>[^\s;\\]+)"
    r"(?:\s*;\s*(?P<marker>[^\\\n]+?))?\s*\\?$"
)
_HASH = re.compile(r"^\s+--hash=sha256:([0-9a-f]{64})\b")
_OWN = "goliath-local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One line of the lock."""

    name: str
    version: str
    marker: str
    """On which machines it is installed; empty for all."""

    sha256: tuple[str, ...]
    """One of these is the hash of the file that pip takes."""

    wanted_by: tuple[str, ...]

    @property
    def ref(self) -> str:
        """The package's address, and its name in the bill."""
        return f"pkg:pypi/{self.name}@{self.version}"


def read_lock(text: str) -> tuple[Package, ...]:
    """Return the packages of a lock, in its order.

    Raises:
        ValueError: a line is none of name and version, hash or remark.
    """
    return tuple(map(_package, _blocks(text)))


def _blocks(text: str) -> Iterator[list[str]]:
    block: list[str] = []
    for line in text.splitlines():
        if line and not line[0].isspace() and not line.startswith("#"):
            if block:
                yield block
            block = []
        block.append(line)
    if block:
        yield block


def _package(lines: list[str]) -> Package:
    found = _ENTRY.match(lines[0])
    if found is None:
        msg = f"requirements.lock: {lines[0]!r} is not NAME==VERSION. Write it with lock.sh."
        raise ValueError(msg)
    hashes = tuple(match[1] for line in lines if (match := _HASH.match(line)))
    remarks = [line.strip("# ").strip() for line in lines[1:] if line.lstrip().startswith("#")]
    names = [remark.removeprefix("via").strip().partition(" ")[0] for remark in remarks]
    return Package(
        name=found["name"],
        version=found["version"],
        marker=found["marker"] or "",
        sha256=hashes,
        wanted_by=tuple(name for name in names if name),
    )


def needed(packages: tuple[Package, ...], direct: frozenset[str]) -> frozenset[str]:
    """Return the names that a plain installation brings, extras left out."""
    found = set(direct)
    while True:
        more = {p.name for p in packages if found & set(p.wanted_by)} - found
        if not more:
            return frozenset(found)
        found |= more


def bill(lock: str, models: tuple[Card, ...]) -> dict[str, Any]:
    """Return the bill of materials, as JSON."""
    packages = read_lock(lock)
    lock_sha256 = hashlib.sha256(lock.encode()).hexdigest()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    licences = tomllib.loads(LICENCES.read_text("utf-8"))
    direct = frozenset(re.split(r"[^a-z0-9._-]", line)[0] for line in project["dependencies"])
    plain = needed(packages, direct)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": _OWN,
                "name": _OWN,
                "version": project["version"],
                "licenses": [{"expression": project["license"]}],
            },
            # The lock has several hashes a package, one a file; here it is named as a whole.
            "properties": [{"name": "goliath:lock-sha256", "value": lock_sha256}],
        },
        "components": [
            *(_component(package, licences[package.name], plain) for package in packages),
            *map(_model, models),
        ],
        "dependencies": _dependencies(packages),
    }


def _component(package: Package, licence: str, plain: frozenset[str]) -> dict[str, Any]:
    marker = {"name": "goliath:marker", "value": package.marker}
    return {
        "type": "library",
        "bom-ref": package.ref,
        "name": package.name,
        "version": package.version,
        "scope": "required" if package.name in plain else "optional",
        "purl": package.ref,
        "licenses": [{"expression": licence}],
        "properties": [marker] if package.marker else [],
    }


def _model(card: Card) -> dict[str, Any]:
    return {
        "type": "machine-learning-model",
        "bom-ref": f"model:{card.name}",
        "name": card.name,
        "scope": "optional",
        "hashes": [{"alg": "SHA-256", "content": card.sha256}],
        "licenses": [{"expression": card.licence}],
        "properties": [
            {"name": "goliath:file", "value": card.file},
            {"name": "goliath:bytes", "value": str(card.size_bytes)},
        ],
    }


def _dependencies(packages: tuple[Package, ...]) -> list[dict[str, Any]]:
    names = [_OWN, *dict.fromkeys(package.name for package in packages)]
    found = []
    for name in names:
        refs = [package.ref for package in packages if package.name == name] or [_OWN]
        wanted = [package.ref for package in packages if name in package.wanted_by]
        found += [{"ref": ref, "dependsOn": wanted} for ref in refs]
    return found


def page(document: dict[str, Any]) -> str:
    """Return the page of licences, from the bill."""
    components = document["components"]
    libraries = [each for each in components if each["type"] == "library"]
    models = [each for each in components if each["type"] != "library"]
    lines = [
        "# Licences",
        "",
        "This program is under the MIT licence (`LICENSE`). Written by `scripts/bill.py` from",
        "`requirements.lock` and the model cards; the same as data: `bill-of-materials.json`",
        "(CycloneDX 1.6). The hash of every file is in the lock.",
    ]
    for title, rows in (
        ("What a plain installation brings", _of(libraries, "required")),
        ("What the extras bring: tests, checks, MCP, telemetry, pictures", _of(libraries)),
        ("Model weights, fetched only when asked for", models),
    ):
        lines += ["", f"## {title}", "", "| | version | licence |", "|---|---|---|"]
        lines += [_row(each) for each in rows]
    return "\n".join(lines) + "\n"


def _of(libraries: list[dict[str, Any]], scope: str = "optional") -> list[dict[str, Any]]:
    return [each for each in libraries if each["scope"] == scope]


def _row(each: dict[str, Any]) -> str:
    version = each.get("version") or f"sha256 {each['hashes'][0]['content'][:12]}…"
    return f"| {each['name']} | {version} | {each['licenses'][0]['expression']} |"


def main() -> int:
    """Write both files anew, or with --check only compare; return the exit code."""
    document = bill(LOCK.read_text("utf-8"), cards())
    texts = {BILL: json.dumps(document, indent=1) + "\n", PAGE: page(document)}
    behind = [
        path for path, text in texts.items() if not path.exists() or path.read_text() != text
    ]
    if "--check" in sys.argv[1:]:
        for path in behind:
            print(f"{path.relative_to(ROOT)} is behind. Write it anew: python scripts/bill.py")
        return 1 if behind else 0
    for path, text in texts.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
