"""Writes the manifest of one more model from its file: size, hash, window, cache, template.

    python scripts/add_model.py FILE --name NAME --licence Apache-2.0 --hub OWNER/REPO@COMMIT

Name a commit, not a branch. Read what was written before it is committed: a manifest names bytes
that will run on other people's machines.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from goliath_local.catalogue import GgufHeader, hash_file, read_gguf_header, read_manifest
from goliath_local.errors import GoliathError

MANIFESTS = Path(__file__).parents[1] / "models" / "manifests"


def size_class(header: GgufHeader) -> str:
    """Return the number of parameters in words, `1.5B`."""
    count = 0
    for tensor in header.tensors:
        numbers = 1
        for length in tensor.shape:
            numbers *= length
        count += numbers
    return f"{count / 1e9:.1f}B" if count >= 1e9 else f"{count / 1e6:.0f}M"


def manifest(path: Path, header: GgufHeader, *, name: str, licence: str, hub: str) -> str:
    """Return the manifest's text."""
    repository, _, revision = hub.partition("@")
    digest = hash_file(path).hexdigest()
    template = f'sha256 = "{header.template_sha256}"\n' if header.template_sha256 else ""
    return (
        f"name = {json.dumps(name)}\n"
        'role = "general"\n'
        f'size_class = "{size_class(header)}"\n'
        f"file = {json.dumps(path.name)}\n"
        f"bytes = {header.file_bytes}\n"
        f'sha256 = "{digest}"\n'
        f"licence = {json.dumps(licence)}\n"
        f"trained_window = {header.trained_window_tokens or 0}\n"
        f"kv_bytes_per_token = {header.kv_bytes_per_token or 0}\n"
        f"\n[template]\n{template}"
        '\n[[sources]]\nkind = "hub"\n'
        f"repository = {json.dumps(repository)}\n"
        f"revision = {json.dumps(revision)}\n"
    )


def main() -> int:
    """Write the manifest, if it is one that would be accepted, and say where."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--name", required=True, help="what users will call it")
    parser.add_argument("--licence", required=True, help="SPDX, such as Apache-2.0")
    parser.add_argument("--hub", required=True, metavar="OWNER/REPO@COMMIT")
    parser.add_argument("--to", type=Path, default=MANIFESTS, help="folder of the manifest")
    given = parser.parse_args()
    try:
        header = read_gguf_header(given.file)
        text = manifest(given.file, header, name=given.name, licence=given.licence, hub=given.hub)
        read_manifest(text, where=f"{given.name}.toml")
    except GoliathError as error:
        print(error, file=sys.stderr)
        return 2
    target = given.to / f"{given.name}.toml"
    if target.exists():
        print(f"{target} is there already. Remove it first.", file=sys.stderr)
        return 2
    target.write_text(text, encoding="utf-8")
    print(target)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
