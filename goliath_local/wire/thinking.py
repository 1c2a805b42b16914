"""Thinking text at the start of a reply, told apart from the reply itself.

Pure. Some models write their reasoning between marks before they answer; it is kept for display
and never sent back. Text comes in pieces, cut anywhere, and goes out as soon as it is certain
what it is.
"""

from __future__ import annotations

MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
)


class Thinking:
    """Tells reasoning and reply apart while they come."""

    def __init__(self) -> None:
        self._held = ""
        self._close: str | None = None
        self._is_reply = False
        self._reply: list[str] = []
        self._reasoning: list[str] = []

    @property
    def reply(self) -> str:
        """The reply so far."""
        return "".join(self._reply)

    @property
    def reasoning(self) -> str:
        """The reasoning so far, without its marks."""
        return "".join(self._reasoning).strip()

    def reason(self, text: str) -> None:
        """Take text that is reasoning for certain, since the server says so."""
        self._reasoning.append(text)

    def feed(self, text: str) -> str:
        """Take a piece of text and return what is certain to be reply."""
        self._held += text
        before = len(self._reply)
        while self._step():
            pass
        return "".join(self._reply[before:])

    def finish(self) -> str:
        """Say that no more comes, and return what turns out to be reply."""
        held, self._held = self._held, ""
        if self._close is not None:
            self._reasoning.append(held)
            return ""
        if self._reasoning and not self._is_reply:
            held = held.lstrip()
        self._reply.append(_whole(held))
        return self._reply[-1]

    def _step(self) -> bool:
        """Move what is certain out of what is held; return whether there may be more."""
        if self._is_reply:
            return self._pass_on()
        if self._close is not None:
            return self._look_for_end(self._close)
        return self._look_for_start()

    def _pass_on(self) -> bool:
        # Half of a pair of surrogates waits for the other half.
        end = len(self._held) - (self._held[-1:] >= "\ud800" and self._held[-1:] <= "\udbff")
        if end:
            self._reply.append(_whole(self._held[:end]))
            self._held = self._held[end:]
        return False

    def _look_for_start(self) -> bool:
        start = self._held.lstrip()
        for opening, closing in MARKS:
            if start.startswith(opening):
                self._held, self._close = start[len(opening) :], closing
                return True
        if not start or any(opening.startswith(start) for opening, _ in MARKS):
            return False
        # After thinking, the blank lines before the reply are no part of it.
        self._held = start if self._reasoning else self._held
        self._is_reply = True
        return True

    def _look_for_end(self, close: str) -> bool:
        inside, found, after = self._held.partition(close)
        if found:
            self._reasoning.append(inside)
            self._held, self._close = after.lstrip(), None
            return True
        # The end of what is held may be the beginning of the mark.
        self._reasoning.append(self._held[: -len(close)])
        self._held = self._held[-len(close) :]
        return False


def _whole(text: str) -> str:
    """Return the text with pairs of surrogates joined, and lone ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
