"""A scripted engine for the command line: says what a file tells it to say, at a set pace.

Edge: reads one file. `--engine fake:SCRIPT.json` drives every command in a real terminal
without weights; nothing but the replies is pretended.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goliath_local import errors
from goliath_local.errors import ConfigError
from goliath_local.model import Choice, Part, PromptPiece, Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.cancel import CancelToken
    from goliath_local.model import Request

_TICK_S = 0.02
PREFIX = "fake"


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Replies in order, and how long things take."""

    replies: Sequence[dict[str, Any]]
    load_s: float = 0.0
    read_s: float = 0.0
    """Before the first piece of each reply, as a prompt would take."""

    piece_s: float = 0.0
    piece_chars: int = 4


def read_script(engine: str) -> Script:
    """Return the script that `fake` or `fake:FILE` names.

    Raises:
        ConfigError: the file is not there or not a script.
    """
    kind, _, name = engine.partition(":")
    if kind != PREFIX:
        msg = f"There is no engine {engine!r}. Leave --engine out, or use fake:SCRIPT.json."
        raise ConfigError(msg)
    if not name:
        return Script(replies=({"json": {"kind": "answer", "brief": "answer"}}, {"text": "ok"}))
    try:
        read = json.loads(Path(name).read_text(encoding="utf-8"))
        return Script(replies=read) if isinstance(read, list) else Script(**read)
    except (OSError, ValueError, TypeError) as error:
        msg = f"{name} is not a script: {error}."
        raise ConfigError(msg) from error


class ScriptedModel:
    """A model that replies from a script; one reply a call."""

    def __init__(self, script: Script) -> None:
        self._script, self._waiting = script, list(script.replies)

    async def generate(self, request: Request) -> Reply:
        """Return the next reply, at the script's pace."""
        script = self._script
        await _pause(script.read_s, request.cancel)
        if not self._waiting:
            raise errors.ModelUnavailable("The script has no reply left. Add one to it.")
        item = self._waiting.pop(0)
        text = _text(item)
        # A reply may have a pace of its own: one that waits after its first piece, say.
        chars = item.get("piece_chars", script.piece_chars)
        piece_s = item.get("piece_s", script.piece_s)
        for at in range(0, len(text), chars):
            if request.on_text is not None:
                request.on_text(text[at : at + chars])
            await _pause(piece_s, request.cancel)
        prompt = -(-len(request.system_text + request.user_text) // 4)
        usage = Usage(
            prompt_tokens=prompt,
            evaluated_tokens=prompt,
            completion_tokens=-(-len(text) // 4),
            decode_s=piece_s * (len(text) // chars),
            prefill_s=script.read_s,
        )
        choices = tuple(Choice(**one) for one in item.get("choices", ()))
        finish = item.get("finish", "stop")
        return Reply(text=text, finish=finish, usage=usage, choices=choices)

    def render_request(self, request: Request) -> tuple[PromptPiece, ...]:
        """Return the prompt as the commonest template writes it; tokens are guessed."""
        drafts = [("<|im_start|>system\n", request.system)] if request.system_text else []
        for turn in request.examples:
            drafts += [
                ("<|im_start|>user\n", (Part(name="examples", text=turn.user),)),
                ("<|im_start|>assistant\n", (Part(name="examples", text=turn.assistant),)),
            ]
        drafts.append(("<|im_start|>user\n", request.user))
        texts: list[tuple[str, str, bool]] = []
        for head, parts in drafts:
            texts.append(("template", head, True))
            texts += [(part.name, part.text, False) for part in parts if part.text]
            texts.append(("template", "<|im_end|>\n", True))
        texts.append(("template", "<|im_start|>assistant\n", True))
        return tuple(
            PromptPiece(name=name, text=text, is_template=is_own, tokens=-(-len(text) // 4))
            for name, text, is_own in texts
        )


def _text(item: dict[str, Any]) -> str:
    if "error" in item:
        kind, _, message = str(item["error"]).partition(":")
        raise getattr(errors, kind, errors.ModelError)(message.strip() or "The script says so.")
    if "json" in item:
        return json.dumps(item["json"], ensure_ascii=False, separators=(",", ":"))
    return str(item.get("text", ""))


async def _pause(seconds: float, cancel: CancelToken | None) -> None:
    left = seconds
    while True:
        if cancel is not None:
            cancel.raise_if_cancelled()
        if left <= 0:
            return
        await asyncio.sleep(min(_TICK_S, left))
        left -= _TICK_S
