"""The screens in the documents are what a person sees today."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "write_screens.py"


@pytest.mark.slow
def test_the_screens_in_the_documents_are_what_the_chat_shows() -> None:
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
