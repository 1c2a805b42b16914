"""Our own engine as one of those that are asked. Edge."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.answers import Answer, Failed
from goliath_local.engine import EngineSettings, load_model
from goliath_local.errors import GoliathError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bench.subject import Subject
    from goliath_local.engine import LocalModel
    from goliath_local.model import Request


class Ours:
    """A loaded model of ours."""

    name = "ours"

    def __init__(self, model: LocalModel) -> None:
        self.model = model

    def ask(self, request: Request, *, cold: bool = False) -> Answer:
        """Return the reply; `cold` is a setting of the load here, not of a question."""
        if cold:
            message = "load the model with fresh=True to ask it cold"
            raise Failed(message)
        started = time.perf_counter()
        try:
            reply = asyncio.run(self.model.generate(request))
        except GoliathError as error:
            raise Failed(str(error)) from error
        usage = reply.usage
        return Answer(
            text=reply.text,
            seconds=time.perf_counter() - started,
            prompt_tokens=usage.prompt_tokens,
            evaluated_tokens=usage.evaluated_tokens,
            completion_tokens=usage.completion_tokens,
            prompt_s=usage.prefill_s,
            decode_s=usage.decode_s,
        )


@contextmanager
def opened(
    subject: Subject, *, fresh: bool = False, snapshot_dir: Path | None = None
) -> Iterator[Ours]:
    """Give our engine on the model, as the command line sets it up, and close it afterwards."""
    settings = EngineSettings(
        threads=subject.threads,
        seed=subject.seed,
        deterministic=True,
        fresh=fresh,
        snapshot_dir=snapshot_dir,
        template_variables=dict(subject.variables),
    )
    with load_model(
        subject.path, name=subject.name, sha256=subject.sha256, settings=settings
    ) as model:
        yield Ours(model)
