"""A session whose thread count follows what the machine has to give.

Edge: measures time. Logits do not depend on the thread count (flash attention is off), so it may
change between any two tokens.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import numpy.typing as npt

    from goliath_local.engine.governor import Governor
    from goliath_local.engine.native import Session

_LOG: Final = logging.getLogger(__name__)


class PacedSession:
    """The timeline that decoding sees: single tokens are timed, batches are not."""

    def __init__(
        self, session: Session, governor: Governor, *, clock: Callable[[], float]
    ) -> None:
        self._session = session
        self._governor = governor
        self._clock = clock

    def evaluate(self, ids: Sequence[int]) -> None:
        """Append ids to the prompt."""
        if len(ids) > 1:
            self._session.evaluate(ids)
            return
        started = self._clock()
        self._session.evaluate(ids)
        before = self._governor.threads
        after = self._governor.observe(self._clock() - started)
        if after != before:
            self._session.set_threads(after)
            _LOG.info("The machine is %s: %d threads from here on.", _how(before, after), after)

    def logits(self) -> npt.NDArray[np.float32]:
        """Return the logits behind the last id."""
        return self._session.logits()


def _how(before: int, after: int) -> str:
    return "busy" if after < before else "quiet"
