"""Templates that are not of the catalogue: rendered in a child process, within limits.

Edge: starts a process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from goliath_local.engine.template import read_skeleton, unusable
from goliath_local.engine.template_child import job

if TYPE_CHECKING:
    from goliath_local.engine.template import Setting, Shape, Skeleton

TIMEOUT_S: Final = 2.0
OUTPUT_CHARACTERS: Final = 65_536


def render_untrusted(template: str, shape: Shape, setting: Setting) -> Skeleton:
    """Return the skeleton of a template that may do anything.

    Raises:
        ConfigError: it cannot be read, fails, does not show every text once, or takes more than
            2 s, 256 MiB or 64 KiB of text.
    """
    told = job(template, shape, setting)
    command = [sys.executable, "-P", "-m", "goliath_local.engine.template_child"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
    ) as child:
        try:
            assert child.stdout is not None
            child.stdout.readline()  # it has started; only now the clock runs
            answer, _ = child.communicate(told, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            reason = f"it takes longer than {TIMEOUT_S:g} s"
            raise unusable(reason) from error
        finally:
            child.kill()
    return read_skeleton(_text_of(answer), shape)


def _text_of(answer: str) -> str:
    try:
        result = json.loads(answer)
    except ValueError as error:
        raise unusable("it ended the process that renders it") from error
    if "error" in result:
        reason = str(result["error"]).partition("cannot be used: ")[2].partition(". Give")[0]
        raise unusable(reason or "it fails")
    if "memory" in result:
        raise unusable(str(result["memory"]))
    text = str(result["text"])
    if len(text) > OUTPUT_CHARACTERS:
        reason = f"it writes {len(text):,} characters, {OUTPUT_CHARACTERS:,} are allowed"
        raise unusable(reason)
    return text
