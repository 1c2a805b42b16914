"""A model seen through a window: every question and reply passes by whoever keeps the trace.

Pure but for the clock that is handed in. The model inside is not changed by being watched.
"""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.errors import GoliathError
from goliath_local.model import CountingModel, ScoringModel, ShowsPrompts, Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from goliath_local.model import (
        Capabilities,
        Model,
        PromptPiece,
        PromptTokens,
        Reply,
        Request,
        Scoring,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What is called while a model works."""

    clock: Callable[[], float]
    """Seconds."""

    on_call: Callable[[Request, Reply | BaseException, float], None]
    """After each call: question, what came of it, seconds."""

    on_answer_text: Callable[[str], None]
    """Each piece of a prose answer, possibly from another thread."""


class Recorder:
    """A model that is watched."""

    def __init__(self, model: Model, watch: Watch) -> None:
        self._model, self._watch = model, watch

    async def generate(self, request: Request) -> Reply:
        """Pass the question on, and tell the watch."""
        started_s = self._watch.clock()
        try:
            reply = await self._model.generate(_listening(request, self._watch.on_answer_text))
        except BaseException as error:
            self._watch.on_call(request, error, self._watch.clock() - started_s)
            raise
        self._watch.on_call(request, reply, self._watch.clock() - started_s)
        return reply


class CountingRecorder:
    """A watched model that counts with its own tokenizer."""

    def __init__(self, model: CountingModel, watch: Watch) -> None:
        self._model, self._recorder = model, Recorder(model, watch)

    async def generate(self, request: Request) -> Reply:
        """Pass the question on, and tell the watch."""
        return await self._recorder.generate(request)

    def capabilities(self) -> Capabilities:
        """Return what is known of the model."""
        return self._model.capabilities()

    def count_text(self, text: str) -> int:
        """Return the tokens of a plain text."""
        return self._model.count_text(text)

    def count_request(self, request: Request) -> PromptTokens:
        """Return the bill of a prompt."""
        return self._model.count_request(request)


class ScoringRecorder(CountingRecorder):
    """A watched model that also says how probable a text is; that is no call to be shown."""

    def __init__(self, model: CountingModel, scorer: ScoringModel, watch: Watch) -> None:
        super().__init__(model, watch)
        self._scorer = scorer

    async def score(self, scoring: Scoring) -> tuple[float, ...]:
        """Return the log-probability of a text behind each opening."""
        return await self._scorer.score(scoring)


def watched(model: Model, watch: Watch) -> Model:
    """Return the model, watched; it counts and scores if and only if it did before."""
    if isinstance(model, CountingModel) and isinstance(model, ScoringModel):
        return ScoringRecorder(model, model, watch)
    if isinstance(model, CountingModel):
        return CountingRecorder(model, watch)
    return Recorder(model, watch)


def shown_prompt(model: Model, request: Request) -> tuple[PromptPiece, ...]:
    """Return the texts that the model is given; empty when it cannot show them."""
    if not isinstance(model, ShowsPrompts):
        return ()
    with suppress(GoliathError):
        return model.render_request(request)
    return ()


def _listening(request: Request, on_text: Callable[[str], None]) -> Request:
    if request.stage != Stage.ANSWER or request.schema is not None:
        return request
    before = request.on_text

    def both(piece: str) -> Any:
        if before is not None:
            before(piece)
        on_text(piece)

    return dataclasses.replace(request, on_text=both)
