"""Asking the model again what a trace asked it, and comparing byte by byte.

Edge: loads the model of the trace in the steady profile.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from goliath_local.cancel import CancelToken
from goliath_local.cli.problems import ExitCode, Interrupted
from goliath_local.cli.ready import find_model, load
from goliath_local.cli.recorder import shown_prompt
from goliath_local.cli.signals import listening, terminable
from goliath_local.cli.tracefile import prompt_json, request_from
from goliath_local.cli.visible import clipped_line
from goliath_local.errors import ConfigError, RunCancelled

if TYPE_CHECKING:
    from goliath_local.cli.ready import Found, Ready
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal
    from goliath_local.cli.tracefile import Trace


async def replay_trace(trace: Trace, settings: Settings, terminal: Terminal) -> int:
    """Replay every model call of the trace; return the exit code.

    Raises:
        ConfigError: the trace has no calls, or was made on another model.
    """
    found = find_model(_as_traced(trace, settings))
    _verify_same(trace, found)
    cancel = CancelToken()
    with terminable(), listening(lambda: cancel.cancel("Ctrl-C")):
        try:
            ready = await load(found, settings, terminal, cancel=cancel, steady=True)
            try:
                rows = [
                    await _replayed(call, ready, cancel, trace.turn.get("seed"))
                    for call in trace.calls
                    if "reply" in call
                ]
            finally:
                ready.close()
        except RunCancelled as error:
            raise Interrupted("Interrupted. The trace is as it was.") from error
    return _told(rows, settings, terminal)


def _as_traced(trace: Trace, settings: Settings) -> Settings:
    name = trace.turn.get("model", {}).get("name")
    if settings.model != "default" or not isinstance(name, str):
        return settings
    return dataclasses.replace(settings, model=name)


def _verify_same(trace: Trace, found: Found) -> None:
    if not any("reply" in call for call in trace.calls):
        raise ConfigError("This trace has no model call that was answered: nothing to replay.")
    wanted = trace.turn.get("model", {}).get("sha256")
    if wanted is not None and found.sha256 is not None and wanted != found.sha256:
        msg = (
            f"The trace was made on a model with sha256 {wanted[:12]}…, {found.name} has "
            f"{found.sha256[:12]}…. Replay it on the same one: -m NAME"
        )
        raise ConfigError(msg)


async def _replayed(
    call: dict[str, Any], ready: Ready, cancel: CancelToken, seed: int | None
) -> dict[str, Any]:
    request = request_from(call)
    request = dataclasses.replace(
        request, cancel=cancel, seed=seed if request.seed is None else request.seed
    )
    prompt = prompt_json(shown_prompt(ready.model, request))
    reply = await ready.model.generate(request)
    was = call["reply"]["text"]
    return {
        "stage": call["stage"],
        "samePrompt": prompt == call["prompt"] if "prompt" in call else None,
        "same": reply.text.encode("utf-8", "surrogatepass")
        == was.encode("utf-8", "surrogatepass"),
        "was": was,
        "is": reply.text,
    }


def _told(rows: list[dict[str, Any]], settings: Settings, terminal: Terminal) -> int:
    differing = sum(not row["same"] or row["samePrompt"] is False for row in rows)
    if settings.json:
        terminal.document({"ok": not differing, "calls": rows})
    else:
        for number, row in enumerate(rows, start=1):
            terminal.put(f"call {number}  {row['stage']:<9}  {'same' if row['same'] else 'other'}")
            if row["samePrompt"] is False:
                terminal.put("  the prompt itself is another one: the chat template differs")
            if not row["same"]:
                terminal.put(f"  was  {clipped_line(row['was'], 160)}")
                terminal.put(f"  is   {clipped_line(row['is'], 160)}")
        terminal.put(f"{len(rows) - differing} of {len(rows)} replies are the same bytes.")
    return ExitCode.GATE_NOT_MET if differing else ExitCode.DONE
