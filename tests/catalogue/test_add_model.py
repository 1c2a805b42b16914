"""The script that writes a manifest from a file."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from goliath_local.catalogue import read_manifest
from tests.catalogue.maker import REVISION, gguf

SCRIPT = Path(__file__).parents[2] / "scripts" / "add_model.py"


def run(tmp_path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "own-q4.gguf"
    file.write_bytes(gguf())
    line = [str(file), "--licence", "Apache-2.0", "--to", str(tmp_path), *more]
    return subprocess.run(
        [sys.executable, str(SCRIPT), *line], capture_output=True, text=True, check=False
    )


def test_the_manifest_says_what_the_file_says(tmp_path: Path) -> None:
    ran = run(tmp_path, "--name", "own", "--hub", f"some/repo@{REVISION}")
    assert (ran.returncode, ran.stderr) == (0, "")
    card = read_manifest((tmp_path / "own.toml").read_text(), where="own.toml")
    assert card.sha256 == hashlib.sha256(gguf()).hexdigest()
    assert (card.trained_window_tokens, card.kv_bytes_per_token) == (8192, 2304)
    assert card.template_sha256 == hashlib.sha256(b"{{ messages }}").hexdigest()
    again = run(tmp_path, "--name", "own", "--hub", f"some/repo@{REVISION}")
    assert again.returncode == 2
    assert "is there already" in again.stderr


def test_a_branch_in_place_of_a_commit_is_refused(tmp_path: Path) -> None:
    ran = run(tmp_path, "--name", "own", "--hub", "some/repo@main")
    assert ran.returncode == 2
    assert "revision" in ran.stderr
    assert not (tmp_path / "own.toml").exists()
