"""What a model's own chat template makes of tools, as text.

Edge: reads the model file's header; a template that nobody has reviewed is rendered in a child.
The harness never uses it. Evals do, to measure against the way a model was trained to call.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from goliath_local.catalogue import read_gguf_header
from goliath_local.engine.chat_template import known_templates
from goliath_local.engine.template import (
    SYSTEM_SLOT,
    Setting,
    Shape,
    Slot,
    render_skeleton,
    template_sha256,
)
from goliath_local.engine.untrusted import render_untrusted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goliath_local.engine.template import Skeleton

_SHAPE = Shape(has_system=True, examples=0)
_DAY = dt.date(2025, 1, 1)


def native_tools_text(
    path: Path,
    tools: Sequence[Mapping[str, Any]],
    *,
    variables: Mapping[str, Any] | None = None,
) -> str | None:
    """Return what the template writes behind the system text when it is given tools.

    Args:
        path: a GGUF file.
        tools: in OpenAI's form, `{"type": "function", "function": …}`.
        variables: of the model's card, for the template.

    Returns:
        None where the file has no template, or one without a place for tools there.

    Raises:
        ConfigError: the template fails.
        BadModelFile: the file is not a sound GGUF.
    """
    template = read_gguf_header(path).chat_template
    if template is None or "tools" not in template:
        return None
    plain = _rendered(template, dict(variables or {}))
    with_tools = _rendered(template, {**(variables or {}), "tools": list(tools)})
    return added_behind_system(plain, with_tools)


def added_behind_system(plain: Skeleton, with_tools: Skeleton) -> str | None:
    """Return the text that stands behind the system text in the second alone, None if elsewhere.

    Pure.
    """
    at = next((n for n, piece in enumerate(plain) if piece == Slot(SYSTEM_SLOT)), None)
    if at is None or len(plain) != len(with_tools):
        return None
    same = plain[: at + 1] == with_tools[: at + 1] and plain[at + 2 :] == with_tools[at + 2 :]
    before, after = plain[at + 1], with_tools[at + 1]
    if not (same and isinstance(before, str) and isinstance(after, str)):
        return None
    if before == after or not after.endswith(before):
        return None
    return after.removesuffix(before)


def _rendered(template: str, variables: Mapping[str, Any]) -> Skeleton:
    is_known = template_sha256(template) in known_templates()
    render = render_skeleton if is_known else render_untrusted
    return render(template, _SHAPE, Setting(today=_DAY, variables=variables))
