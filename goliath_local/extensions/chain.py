"""The extensions of one run, asked in the order in which they were registered.

Edge: runs the application's hooks. A hook that raises, or returns what it may not, becomes an
`ExtensionError`; cancellation passes through; observers never change what happens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from goliath_local.errors import ConfigError, ExtensionError, RunCancelled
from goliath_local.extensions.copies import copied
from goliath_local.extensions.decisions import ALLOWED, Decided, Deny, Skip, Stop
from goliath_local.extensions.hooks import Named, OnError, OnFinish, RunInfo
from goliath_local.extensions.incoming import BadPatch
from goliath_local.extensions.settle import settle
from goliath_local.records import Diagnostic

if TYPE_CHECKING:
    from goliath_local.cancel import CancelToken

V = TypeVar("V")
Show: TypeAlias = Callable[[RunInfo, V], Any]
Patch: TypeAlias = Callable[[V, object], V]

_OBSERVER_GRACE_S = 1.0
"""How long an observer may take to hear of a run that was told to stop."""


def check_extensions(extensions: Sequence[Named]) -> tuple[Named, ...]:
    """Return the extensions, in order.

    Raises:
        ConfigError: a name is missing, blank or taken.
    """
    seen: set[str] = set()
    for extension in extensions:
        name = getattr(extension, "name", None)
        if not isinstance(name, str) or not name.strip():
            message = f"An extension needs a name, {extension!r} has {name!r}. Give it one."
            raise ConfigError(message)
        if name in seen:
            msg = f"Two extensions are named {name!r}. Rename one of them."
            raise ConfigError(msg)
        seen.add(name)
    return tuple(extensions)


class Chain:
    """Runs one hook of every extension after another, each seeing what the last one changed."""

    def __init__(
        self,
        extensions: tuple[Named, ...],
        *,
        run_id: str,
        conversation_id: str | None,
        context: Any,
        cancel: CancelToken,
    ) -> None:
        self._extensions = extensions
        self._cancel = cancel
        self._runs = {
            extension.name: RunInfo(
                run_id=run_id,
                conversation_id=conversation_id,
                context=context,
                cancel=cancel,
                state={},
            )
            for extension in extensions
        }

    @property
    def is_empty(self) -> bool:
        """True when no extension is registered."""
        return not self._extensions

    async def fold(self, phase: str, value: V, *, show: Show[V], patch: Patch[V]) -> V | Decided:
        """Return the value as the hooks of this phase leave it, or the first decision.

        Args:
            phase: name of the hook.
            value: what the first hook sees.
            show: the data of one hook, from its run and the value so far.
            patch: the value after a hook returned something, checked.

        Raises:
            ExtensionError: a hook raised, or returned what it may not.
            RunCancelled: the run was told to stop.
        """
        for extension in self._extensions:
            hook = getattr(extension, phase, None)
            if hook is None:
                continue
            data = show(self._runs[extension.name], copied(value))
            returned = await self._call(extension.name, phase, hook, data)
            if returned is None:
                continue
            if isinstance(returned, Stop | Deny | Skip):
                return _decided(extension.name, phase, returned)
            try:
                value = copied(patch(value, returned))
            except BadPatch as error:
                raise ExtensionError(extension.name, phase, error) from error
        return value

    async def on_error(self, show: Callable[[RunInfo], OnError]) -> tuple[Diagnostic, ...]:
        """Tell every extension of a failure; return what failed in telling."""
        return await self._observe("on_error", lambda run, _: show(run))

    async def on_finish(
        self, show: Callable[[RunInfo, tuple[Diagnostic, ...]], OnFinish]
    ) -> tuple[Diagnostic, ...]:
        """Tell every extension that the run is over; return what failed in telling."""
        return await self._observe("on_finish", show)

    async def _call(self, name: str, phase: str, hook: Callable[[Any], Any], data: Any) -> Any:
        self._cancel.raise_if_cancelled()
        try:
            returned = await settle(hook(data), self._cancel)
        except (RunCancelled, asyncio.CancelledError):
            raise
        except Exception as error:
            raise ExtensionError(name, phase, error) from error
        self._cancel.raise_if_cancelled()
        # Skip says all it has to say by its name, so the class will do.
        return Skip() if returned is Skip else returned

    async def _observe(
        self, phase: str, show: Callable[[RunInfo, tuple[Diagnostic, ...]], Any]
    ) -> tuple[Diagnostic, ...]:
        failures: tuple[Diagnostic, ...] = ()
        for extension in self._extensions:
            hook = getattr(extension, phase, None)
            if hook is None:
                continue
            try:
                seen = hook(show(self._runs[extension.name], failures))
                await settle(seen, self._cancel, grace_s=_OBSERVER_GRACE_S)
            except Exception as error:  # noqa: BLE001 - an observer's failure is only noted
                found = Diagnostic(extension=extension.name, phase=phase, error=error)
                failures = (*failures, found)
        return failures


def _decided(extension: str, phase: str, decision: Any) -> Decided:
    if type(decision) not in ALLOWED.get(phase, ()):
        name = type(decision).__name__
        raise ExtensionError(extension, phase, f"{name} is not a decision of this hook")
    if isinstance(decision, Stop) and not isinstance(decision.text, str):
        raise ExtensionError(extension, phase, "the text of Stop has to be a string")
    return Decided(extension=extension, phase=phase, decision=decision)
