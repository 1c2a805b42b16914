"""What an agent was built with, and what one run was asked for: frozen, checked beforehand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from goliath_local.budget import DEFAULT_MAX_STEPS

if TYPE_CHECKING:
    from goliath_local.cancel import CancelToken
    from goliath_local.events import Event
    from goliath_local.extensions import Named
    from goliath_local.model import ExampleTurn, Model
    from goliath_local.records import Json
    from goliath_local.schema import Declared
    from goliath_local.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmRequest:
    """A call that needs a yes. What is shown here is what runs."""

    tool: str
    input: Json
    """A copy of the final arguments."""

    brief: str
    why: str | None = None
    conversation_id: str | None = None


OnEvent: TypeAlias = "Callable[[Event], Any]"
Confirm: TypeAlias = Callable[[ConfirmRequest], Any]
"""Returns True, or a mapping `{approved, reason?}`; anything else is a no. Sync or async."""

Fallback: TypeAlias = "Callable[..., Awaitable[Any] | Any]"
"""Takes the `FallbackRequest` and, if it wants it, the token as `cancel`; returns a text, or a
mapping with a string `text`."""

Counter: TypeAlias = Callable[[str], Any]
ModelSource: TypeAlias = "Model | Callable[[], Any] | None"
"""A model, a factory that is called once for every generation, or nothing."""


def is_factory(source: Any) -> bool:
    """Return whether the model option makes models: a callable that is not one itself."""
    return callable(source) and (isinstance(source, type) or not hasattr(source, "generate"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of `create_agent`, after they were checked."""

    model: ModelSource
    tools: Mapping[str, Tool] = field(default_factory=dict)
    fallback: Fallback | None = None
    confirm: Confirm | None = None
    window: int | Callable[[], Any] | None = None
    count_tokens: Counter | None = None
    budgets: Mapping[str, Any] | None = None
    max_steps: int = DEFAULT_MAX_STEPS
    instructions: str = ""
    facts: Mapping[str, str] | Callable[[], Any] | None = None
    examples: tuple[ExampleTurn, ...] = ()
    """The application's own, as turns."""

    built_in_examples: bool = True
    output: Declared | None = None
    extensions: tuple[Named, ...] = ()
    on_event: OnEvent | None = None
    min_confidence: float | None = None
    temperature: float = 0.0
    seed: int | None = None
    session_probe_after: float | None = None
    """Seconds after which a conversation in session fallback tries the device for one turn."""

    clock: Callable[[], float]
    """Seconds since the epoch."""

    @property
    def lasting_model(self) -> Any:
        """The model, None when there is none or it is made anew for every generation."""
        return None if is_factory(self.model) else self.model


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of one `run`, copied when it was called."""

    conversation_id: str | None = None
    confirm: Confirm | None = None
    output: Declared | None = None
    cancel: CancelToken | None = None
    on_event: OnEvent | None = None
    listen: OnEvent | None = None
    """Called after the handlers; set by `stream`."""

    on_text: Callable[[str], None] | None = None
    """Pieces of the answer as they are written; set by `stream`."""

    context: Any = None
    seed: int | None = None
    timeout_s: float | None = None
