"""How many threads to use on a machine that others use as well.

Pure: seconds a token in, a thread count out. The threads of llama.cpp wait for each other at the
end of every operation, so one of them that is kept waiting by a neighbour holds up all: 20 ms a
token become 300 and more. With one thread fewer there is nobody to wait for.

    2 threads   20 20 21 20 300 180 240 ...   mean of 8 over 3 times the best: 1 thread
    1 thread    35 36 35 ... 256 quiet ones   2 threads again, for as long as they are faster
"""

from __future__ import annotations

from collections import deque
from typing import Final

RECENT: Final = 8
STEP_DOWN: Final = 3.0
"""Mean of the recent tokens over the best mean so far. Source: reliability.md, guards."""

SPIKE: Final = 6.0
"""Second slowest recent token over their median, for loads that begin on a busy machine."""

QUIET_TOKENS: Final = 256
MOST_QUIET_TOKENS: Final = 4096


class Governor:
    """Watches one model's tokens."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.threads = most
        self.steps_down = 0
        """How often a thread was given up."""

        self._recent: deque[float] = deque(maxlen=RECENT)
        self._best: dict[int, float] = {}
        self._quiet = 0
        self._wanted_quiet = QUIET_TOKENS
        self._is_trying = False

    def observe(self, seconds: float) -> int:
        """Take in what one token took; return the threads for the next one."""
        self._recent.append(seconds)
        self._quiet += 1
        if len(self._recent) < RECENT:
            return self.threads
        mean = sum(self._recent) / RECENT
        is_busy = self._is_busy(mean)
        self._best[self.threads] = min(mean, self._best.get(self.threads, mean))
        if is_busy and self.threads > 1:
            self._step_down()
        elif self._quiet >= self._wanted_quiet and self.threads < self._most:
            self._use(self.threads + 1)
            self._is_trying = True
        elif self._is_trying:
            # One more thread helped: the next time of trouble begins afresh.
            self._is_trying = False
            self._wanted_quiet = QUIET_TOKENS
        return self.threads

    def _is_busy(self, mean: float) -> bool:
        if self._is_trying:
            return mean > self._best.get(self.threads - 1, mean)
        in_order = sorted(self._recent)
        # One slow token may be anything; two of eight are a neighbour.
        has_spikes = in_order[-2] > SPIKE * in_order[RECENT // 2]
        return has_spikes or mean > STEP_DOWN * self._best.get(self.threads, mean)

    def _step_down(self) -> None:
        if self._is_trying:
            self._wanted_quiet = min(2 * self._wanted_quiet, MOST_QUIET_TOKENS)
        self.steps_down += 1
        self._is_trying = False
        self._use(self.threads - 1)

    def _use(self, count: int) -> None:
        self.threads = count
        self._quiet = 0
        self._recent.clear()
