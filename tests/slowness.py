"""What a development mode says about a busy machine, and not about the program."""

from __future__ import annotations


def without_slowness(said: str) -> str:
    """Return the text without asyncio's lines on steps that took longer than a tenth of a second.

    `python -X dev` lets asyncio measure each step; on a busy machine any may take that long.
    """
    return "".join(
        line for line in said.splitlines(keepends=True) if not line.startswith("Executing <")
    )
