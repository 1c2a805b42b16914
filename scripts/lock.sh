#!/usr/bin/env bash
# Writes requirements.lock anew from pyproject.toml, every extra, all platforms, with hashes.
set -euo pipefail
cd "$(dirname "$0")/.."
uv=$(command -v uv || echo .venv/bin/uv)
[ -x "$uv" ] || { echo 'uv is missing: .venv/bin/python -m pip install uv; then run this again.' >&2; exit 3; }
"$uv" pip compile -q pyproject.toml --all-extras --generate-hashes --universal --python-version 3.11 \
  --no-emit-index-url --no-header -o requirements.lock
# What is shipped changed with it:
.venv/bin/python scripts/bill.py
