"""The texts the model is given, and how their slots are filled.

Pure, over the package's own files. A text is a section of a file in `texts/`: `conductor.task` is
what stands under `## task` in `texts/conductor.md`. A slot is written `{{name}}`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")
_HEADING = re.compile(r"^## (\S+)\n", re.MULTILINE)


def render(name: str, /, **slots: str | int) -> str:
    """Return the text with every slot filled, in one pass: a value is never read for slots.

    Args:
        name: `file.section`.
        slots: exactly the slots that the text has.

    Raises:
        KeyError: there is no such text.
        ValueError: a slot is left open, or a value has no slot.
    """
    text = _text(name)
    wanted = set(_SLOT.findall(text))
    if wanted != set(slots):
        open_slots, unknown = sorted(wanted - set(slots)), sorted(set(slots) - wanted)
        message = f"prompt text {name}: slots not filled {open_slots}, values not asked {unknown}"
        raise ValueError(message)
    return _SLOT.sub(lambda found: str(slots[found[1]]), text)


@cache
def _text(name: str) -> str:
    file, _, section = name.partition(".")
    return _sections(file)[section]


@cache
def _sections(file: str) -> dict[str, str]:
    source = (files("goliath_local.prompts") / "texts" / f"{file}.md").read_text(encoding="utf-8")
    _, *pieces = _HEADING.split(source)
    return {
        heading: body.rstrip("\n") for heading, body in zip(pieces[::2], pieces[1::2], strict=True)
    }
