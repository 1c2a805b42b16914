"""What README and docs show can be run as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from goliath_local.cli.app import COMMANDS

ROOT = Path(__file__).parents[1]
ALL_PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = [page for page in ALL_PAGES if page.stem in {"README", "tools", "embedding", "command"}]
"""Pages whose blocks stand by themselves; other pages' examples need a server or a schema."""

NEEDS_WEIGHTS = "load_model("


def blocks(language: str) -> list[tuple[str, str]]:
    """Return the code blocks of all pages with their place."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```", re.DOTALL | re.MULTILINE)
    return [
        (f"{page.name}-{number}", match.group(1))
        for page in PAGES
        for number, match in enumerate(pattern.finditer(page.read_text(encoding="utf-8")), start=1)
    ]


PYTHON = blocks("python")


@pytest.mark.parametrize(
    "code", [code for _, code in PYTHON if NEEDS_WEIGHTS not in code],
    ids=[place for place, code in PYTHON if NEEDS_WEIGHTS not in code],
)  # fmt: skip
def test_a_python_block_runs(tmp_path: Path, code: str) -> None:
    path = tmp_path / "mytools.py"
    path.write_text(code)
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("code", [code for _, code in PYTHON if NEEDS_WEIGHTS in code])
def test_a_python_block_with_a_model_runs(tmp_path: Path, code: str, weights) -> None:
    folder = weights("qwen2.5-coder-0.5b").parent
    path = tmp_path / "program.py"
    path.write_text(code)
    ran = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"GOLIATH_MODELS_DIR": str(folder), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()


def test_the_tool_of_the_readme_can_be_named_and_used(goliath, script, home) -> None:
    code = next(code for _, code in PYTHON if "word_count" in code)
    Path("mytools.py").write_text(code)
    assert goliath("tools", "check", "-T", "mytools.py", "--json").json["advice"] == []
    ran = goliath(
        "run", "--json", "-T", "mytools.py", "--engine",
        script(
            {"json": {"why": "w", "kind": "tool", "tool": "word_count", "brief": "count"}},
            {"json": {"text": "to be or not to be", "missing": ""}},
            {"json": {"why": "w", "kind": "answer", "brief": "say it"}},
            {"text": "Six."},
        ),
        "How many words has 'to be or not to be'?",
    )  # fmt: skip
    assert ran.json["steps"][0]["result"] == "6"


def test_every_command_that_is_named_exists() -> None:
    named = {
        match
        for page in ALL_PAGES
        for match in re.findall(r"goliath-local ([a-z]+)", page.read_text(encoding="utf-8"))
    }
    assert named - set(COMMANDS) == set()


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in ALL_PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
