"""The model port on llama.cpp: text in, text out, on this machine.

Edge: drives the native session through the worker. See docs/decisions for the law it keeps.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from goliath_local.engine.constraint import FreeText
from goliath_local.engine.decode import Wanted, decode
from goliath_local.engine.governor import Governor
from goliath_local.engine.grammars import Grammars
from goliath_local.engine.native import Aborted
from goliath_local.engine.pacing import PacedSession
from goliath_local.engine.prompt import PromptPart, bill, joined, lay_out, pieces, shape_of
from goliath_local.engine.sampling import Odds
from goliath_local.engine.settings import MAX_SEED, MAX_TEXT_BYTES, verify_real, verify_whole
from goliath_local.engine.vocabulary import Vocabulary
from goliath_local.engine.worker import Worker
from goliath_local.errors import ConfigError, ContextFull, ModelUnavailable, RunCancelled
from goliath_local.model import PromptTokens, Reply, Stage, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from goliath_local.engine.decode import Decoded
    from goliath_local.engine.native import Session, StopFlag, Tokenizer
    from goliath_local.engine.prompt_cache import PromptCache, Synced
    from goliath_local.engine.settings import EngineSettings
    from goliath_local.engine.template import Shape, Skeleton
    from goliath_local.model import Capabilities, PromptPiece, Request, Scoring

_REMEMBERED_TEXT: Final = 16_384
"""Longer texts are not remembered with their ids, in characters."""

SCORED: Final = "scored"

_GOING_ON: Final = frozenset({Stage.CONDUCTOR, Stage.WORKER})
"""Stages that a turn asks once a step, with a prompt that begins like the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """All that `load_model` opened, for the model to own."""

    session: Session
    tokenizer: Tokenizer
    cache: PromptCache
    skeleton: Callable[[Shape], Skeleton]
    stop_texts: tuple[str, ...]
    capabilities: Capabilities
    window_tokens: int
    threads: int
    free: Callable[[], None]
    """Gives back all native memory."""


class LocalModel:
    """A loaded model. Made by `load_model`; a context manager that closes it."""

    def __init__(self, loaded: Loaded, settings: EngineSettings) -> None:
        self.settings = settings
        self.window_tokens = loaded.window_tokens
        self._loaded = loaded
        self._governor = Governor(loaded.threads)
        self._paced = PacedSession(loaded.session, self._governor, clock=time.perf_counter)
        self._grammars = Grammars()
        self._vocabulary: Vocabulary | None = None
        self._worker = Worker(loaded.free)
        self._remembering_encoder = _Remembering(loaded.tokenizer)

    @property
    def threads(self) -> int:
        """Threads in use: those of the settings, or fewer while the machine is busy."""
        return self._governor.threads

    async def generate(self, request: Request, *, wait: bool | None = None) -> Reply:
        """Reply to the request; cancelling the task or the request's token stops it.

        Args:
            request: the whole prompt; nothing of earlier ones is visible to it.
            wait: queue behind another caller; None: as the settings say.

        Raises:
            ContextFull: the prompt and the reply do not fit the window; nothing was evaluated.
            EngineBusy: another caller has the model, and waiting was not wanted.
            ModelUnavailable: the model is closed, or was loaded before a fork.
            RunCancelled: the request's token was cancelled.
            SchemaError: the schema cannot be compiled.
        """
        _verify_request(request)
        if request.cancel is not None:
            request.cancel.raise_if_cancelled()
        is_patient = self.settings.wait if wait is None else wait
        reply = await self._worker.run(lambda flag: self._reply(request, flag), wait=is_patient)
        self._write_down()
        return reply

    async def score(self, scoring: Scoring) -> tuple[float, ...]:
        """Return how probable the text is behind each opening; see `ScoringModel`.

        Head, opening and text are evaluated as they are, without a chat template.

        Raises:
            ConfigError: an opening or the text is empty.
            ContextFull: they do not fit the window; nothing was evaluated.
            EngineBusy: another caller has the model, and the settings say not to wait.
            ModelUnavailable: the model is closed, or was loaded before a fork.
            RunCancelled: the token was cancelled.
        """
        if scoring.cancel is not None:
            scoring.cancel.raise_if_cancelled()
        wait = self.settings.wait
        found = await self._worker.run(lambda flag: self._score(scoring, flag), wait=wait)
        self._write_down()
        return found

    async def prewarm(self, requests: Sequence[Request]) -> None:
        """Evaluate the static heads of these requests, so that their first reply comes sooner.

        Other replies may come in between. Only the system texts and examples count.
        """
        for request in requests:
            await self._worker.run(lambda flag, it=request: self._warm(it, flag), wait=True)  # type: ignore[misc]
            self._write_down()

    def capabilities(self) -> Capabilities:
        """Return what is known of the model."""
        return self._loaded.capabilities

    def count_text(self, text: str) -> int:
        """Return the tokens of a plain text, control tokens off."""
        with self._worker.reading():
            pieces = range(0, max(len(text), 1), MAX_TEXT_BYTES)
            encode = self._remembering_encoder.encode
            return sum(
                len(encode(text[start : start + MAX_TEXT_BYTES], control=False))
                for start in pieces
            )

    def count_request(self, request: Request) -> PromptTokens:
        """Return the tokens that `generate` would evaluate for this prompt, cold."""
        with self._worker.reading():
            return bill(self._lay_out(request))

    def render_request(self, request: Request) -> tuple[PromptPiece, ...]:
        """Return the texts that `generate` would evaluate, the template's among them."""
        tokenizer = self._loaded.tokenizer
        start_id = tokenizer.start_id
        with self._worker.reading():
            return pieces(
                request,
                self._loaded.skeleton(shape_of(request)),
                self._remembering_encoder,
                start_text="" if start_id is None else tokenizer.control_text(start_id),
            )

    def close(self) -> None:
        """Stop what runs and free the memory. More calls do nothing."""
        self._worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _lay_out(self, request: Request) -> tuple[PromptPart, ...]:
        return lay_out(
            request,
            self._loaded.skeleton(shape_of(request)),
            self._remembering_encoder,
            start_id=self._loaded.tokenizer.start_id,
        )

    def _reply(self, request: Request, flag: StopFlag) -> Reply:
        started = time.perf_counter()
        parts = self._lay_out(request)
        verify_fits(bill(parts), request.max_tokens, window_tokens=self.window_tokens)
        wanted = self._wanted(request)
        self._loaded.session.use_flag(flag)
        forget = request.cancel.on_cancel(flag.stop) if request.cancel else _nothing
        try:
            synced = self._loaded.cache.sync(joined(parts), goes_on=request.stage in _GOING_ON)
            prefilled = time.perf_counter()
            decoded = decode(self._paced, wanted, self._loaded.tokenizer, self._known_vocabulary())
        except Aborted as error:
            raise _cancelled(request) from error
        finally:
            forget()
        if request.cancel is not None:
            request.cancel.raise_if_cancelled()
        usage = _usage(synced, decoded, started=started, prefilled=prefilled)
        return Reply(
            text=decoded.text, finish=decoded.finish, usage=usage, choices=decoded.choices
        )

    def _score(self, scoring: Scoring, flag: StopFlag) -> tuple[float, ...]:
        start_id = self._loaded.tokenizer.start_id
        encode = self._remembering_encoder.encode
        head, text = (encode(each, control=False) for each in (scoring.head, scoring.text))
        openings = [encode(opening, control=False) for opening in scoring.openings]
        if not text or not all(openings):
            raise ConfigError("Every opening and the text to be scored need at least one token.")
        part = PromptPart(
            name=SCORED,
            ids=head if start_id is None else (start_id, *head),
            template_tokens=0,
            is_head=True,
        )
        longest = len(part.ids) + max(map(len, openings), default=0) + len(text)
        needed = PromptTokens(total=longest, by_part={SCORED: longest})
        verify_fits(needed, 0, window_tokens=self.window_tokens)
        self._loaded.session.use_flag(flag)
        forget = scoring.cancel.on_cancel(flag.stop) if scoring.cancel else _nothing
        try:
            return tuple(
                self._loaded.cache.score(part, (*opening, *text), given=len(opening))
                for opening in openings
            )
        except Aborted as error:
            raise _cancelled(scoring) from error
        finally:
            forget()

    def _warm(self, request: Request, flag: StopFlag) -> None:
        self._loaded.session.use_flag(flag)
        try:
            self._loaded.cache.warm(joined(self._lay_out(request)))
        except Aborted as error:
            raise _cancelled(request) from error

    def _write_down(self) -> None:
        if self.settings.snapshot_dir is not None and not self._worker.is_closed:
            self._worker.submit_quietly(self._loaded.cache.write_down)

    def _wanted(self, request: Request) -> Wanted:
        constraint = self._grammars.start(request.schema)
        odds = Odds(
            temperature=request.temperature,
            top_k=self.settings.top_k,
            top_p=self.settings.top_p,
            chance=np.random.default_rng(self._seed(request)),
        )
        return Wanted(
            constraint=constraint,
            max_tokens=request.max_tokens,
            odds=odds,
            clock=time.perf_counter,
            stop_texts=self._loaded.stop_texts if isinstance(constraint, FreeText) else (),
            on_text=request.on_text,
        )

    def _seed(self, request: Request) -> int:
        if request.seed is not None:
            return request.seed
        if self.settings.seed is not None:
            return self.settings.seed
        return 0 if self.settings.deterministic else secrets.randbelow(MAX_SEED + 1)

    def _known_vocabulary(self) -> Vocabulary:
        if self._vocabulary is None:
            tokenizer = self._loaded.tokenizer
            self._vocabulary = Vocabulary(tokenizer.pieces, tokenizer.end_ids)
        return self._vocabulary


class _Remembering:
    """A tokenizer that remembers the ids of texts it saw: heads come again and again."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._encode = tokenizer.encode
        self._recall = lru_cache(maxsize=512)(tokenizer.encode)

    def encode(self, text: str, *, control: bool) -> tuple[int, ...]:
        """Return the ids of a text."""
        encode = self._encode if len(text) > _REMEMBERED_TEXT else self._recall
        return encode(text, control=control)


def verify_fits(prompt: PromptTokens, max_tokens: int, *, window_tokens: int) -> None:
    """Raise `ContextFull` unless the prompt and the longest reply fit the window."""
    limit = window_tokens - max_tokens
    if prompt.total > limit:
        raise ContextFull(
            needed_tokens=prompt.total,
            limit_tokens=max(limit, 0),
            window_tokens=window_tokens,
            by_part=dict(prompt.by_part),
        )


def _verify_request(request: Request) -> None:
    verify_whole("max_tokens", request.max_tokens, 1, 2**31 - 1)
    verify_real("temperature", request.temperature, 0.0, 10.0)
    if request.seed is not None:
        verify_whole("seed", request.seed, 0, MAX_SEED)


def _cancelled(request: Request | Scoring) -> Exception:
    if request.cancel is not None and request.cancel.cancelled:
        return RunCancelled(request.cancel.reason)
    return ModelUnavailable("The reply was stopped because its caller or the model went away.")


def _usage(synced: Synced, decoded: Decoded, *, started: float, prefilled: float) -> Usage:
    return Usage(
        prompt_tokens=synced.evaluated_tokens + synced.restored_tokens,
        evaluated_tokens=synced.evaluated_tokens,
        completion_tokens=decoded.tokens,
        forced_tokens=decoded.forced_tokens,
        prefill_s=prefilled - started,
        decode_s=time.perf_counter() - prefilled,
        choosing_s=decoded.choosing_s,
        first_token_s=decoded.first_at - started,
    )


def _nothing() -> None:
    pass
