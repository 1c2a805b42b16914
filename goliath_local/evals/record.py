"""A model that writes down everything it is asked and everything it says.

Edge: it wraps a model and keeps a list. Evals and traces are made of these records, so that a
wrong answer can be looked at, and the same prompt asked again.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goliath_local.model import Model, Reply, Request


_PASSED_ON = ("capabilities", "count_text", "count_request", "render_request", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a model: what was asked, what came back."""

    stage: str
    system: str
    examples: tuple[tuple[str, str], ...]
    user: str
    has_schema: bool
    max_tokens: int
    seed: int | None
    text: str | None
    """None where the call raised."""

    error: str | None
    usage: dict[str, Any]
    choices: tuple[dict[str, Any], ...]
    seconds: float

    @property
    def prompt_sha256(self) -> str:
        """Hash of the whole prompt, 64 hex digits."""
        whole = json.dumps([self.system, self.examples, self.user], ensure_ascii=False)
        return hashlib.sha256(whole.encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Return the call as a JSON object."""
        return asdict(self) | {"prompt_sha256": self.prompt_sha256}


class RecordingModel:
    """Passes every request on and keeps what went by; counts where the model counts."""

    def __init__(self, model: Model) -> None:
        self.calls: list[Call] = []
        self._model = model
        # Offered is what the model offers. Attributes, since from Python 3.12 on a protocol looks
        # for those and asks no __getattr__.
        for name in _PASSED_ON:
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    def __getattr__(self, name: str) -> Any:
        """Offer whatever else the model has."""
        return getattr(self._model, name)

    async def generate(self, request: Request) -> Reply:
        """Ask the model, and write the call down whatever comes of it."""
        start = time.perf_counter()
        reply: Reply | None = None
        error: str | None = None
        try:
            reply = await self._model.generate(request)
        except BaseException as raised:
            error = f"{type(raised).__name__}: {raised}"
            raise
        else:
            return reply
        finally:
            self.calls.append(_call(request, reply, error, time.perf_counter() - start))


def _call(request: Request, reply: Reply | None, error: str | None, seconds: float) -> Call:
    return Call(
        stage=request.stage.value,
        system=request.system_text,
        examples=tuple((turn.user, turn.assistant) for turn in request.examples),
        user=request.user_text,
        has_schema=request.schema is not None,
        max_tokens=request.max_tokens,
        seed=request.seed,
        text=reply.text if reply else None,
        error=error,
        usage=asdict(reply.usage) if reply else {},
        choices=tuple(asdict(choice) for choice in reply.choices) if reply else (),
        seconds=round(seconds, 4),
    )
