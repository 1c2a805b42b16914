"""The bytes of a reply, given out as whole characters, up to a text that ends it.

Pure. What could still become a stop text is held back until it is clear that it does not.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Streaming:
    """Turns bytes into text as they come."""

    def __init__(self, stop_texts: Iterable[str] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._stop_texts = tuple(text for text in stop_texts if text)
        self._held = ""
        self._given: list[str] = []
        self.is_stopped = False
        """A stop text was reached; nothing after it counts."""

    @property
    def text(self) -> str:
        """All that was given out."""
        return "".join(self._given)

    def feed(self, data: bytes) -> str:
        """Return the text that is certain now, possibly none."""
        if self.is_stopped:
            return ""
        self._held += self._decoder.decode(data)
        found = [index for stop in self._stop_texts if (index := self._held.find(stop)) >= 0]
        if found:
            self.is_stopped = True
            return self._give(min(found))
        return self._give(len(self._held) - self._open_length())

    def finish(self) -> str:
        """Return what was held back; a begun character is dropped."""
        return "" if self.is_stopped else self._give(len(self._held))

    def _give(self, length: int) -> str:
        given, self._held = self._held[:length], self._held[length:]
        if given:
            self._given.append(given)
        return given

    def _open_length(self) -> int:
        """Return how many characters at the end may be the beginning of a stop text."""
        longest = max((len(stop) for stop in self._stop_texts), default=1) - 1
        for length in range(min(longest, len(self._held)), 0, -1):
            if any(stop.startswith(self._held[-length:]) for stop in self._stop_texts):
                return length
        return 0
