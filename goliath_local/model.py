"""The model port: all that the harness needs from a model, and nothing more.

One call, always in a fresh context: the whole prompt as parts goes in, one text comes out. The
harness and the engine meet only here. What can go wrong is raised as one of `ModelUnavailable`,
`ModelRefused`, `ContextFull`, `InvalidOutput`, `EngineBusy` or `RunCancelled` (`errors`);
anything else a model raises counts as a plain model error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from goliath_local.cancel import CancelToken

JsonSchema: TypeAlias = Mapping[str, Any]


class Stage(StrEnum):
    """The only four places where a model is called."""

    CONDUCTOR = "conductor"
    WORKER = "worker"
    ANSWER = "answer"
    SCRIBE = "scribe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of prompt text that is tokenised and evaluated by itself.

    The text carries its own separators: the parts of a message, joined by nothing, are the
    message. Parts go from the most to the least stable, so that the next prompt of the same
    stage finds the leading ones already evaluated.
    """

    name: str
    """What the part is, for the bill of the prompt: `instructions`, `tools`, `log`, `ask` …"""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleTurn:
    """A worked example, shown as a turn of the chat before the real one."""

    user: str
    assistant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to a model."""

    stage: Stage
    system: tuple[Part, ...]
    user: tuple[Part, ...]
    examples: tuple[ExampleTurn, ...] = ()
    schema: JsonSchema | None = None
    """What the reply must match; keys are generated in the order of `properties`."""

    max_tokens: int
    """Most tokens the reply may have, ≥ 1."""

    temperature: float = 0.0
    seed: int | None = None
    cancel: CancelToken | None = None
    on_text: Callable[[str], None] | None = None
    """Called with each new piece of the reply, whole characters only, possibly from another
    thread."""

    @property
    def system_text(self) -> str:
        """The system message."""
        return "".join(part.text for part in self.system)

    @property
    def user_text(self) -> str:
        """The user message."""
        return "".join(part.text for part in self.user)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A place where the schema left several values open, and what was taken."""

    path: str
    """JSON pointer to the value in the reply, for example `/kind`."""

    value: str
    share: float
    """Probability of the taken value among the permitted ones, 0 to 1."""

    runner_up: str | None = None
    runner_up_share: float = 0.0
    shares: tuple[tuple[str, float], ...] = ()
    """The likeliest values, at most six, with their shares; values that begin alike and were not
    told apart have one share in common. Empty where a model does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a reply cost."""

    prompt_tokens: int = 0
    """Tokens of the whole prompt, template included."""

    evaluated_tokens: int = 0
    """Prompt tokens that were not taken from a saved state."""

    completion_tokens: int = 0
    forced_tokens: int = 0
    """Completion tokens that the grammar left no choice about."""

    prefill_s: float = 0.0
    decode_s: float = 0.0
    choosing_s: float = 0.0
    """The part of `decode_s` that was not the network's: the constraint, the choice of tokens."""

    first_token_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """A text to be weighed behind each of several openings: how probable is it there?"""

    head: str
    """Stands before every opening; the same for many questions, so it is evaluated once."""

    openings: tuple[str, ...]
    """None of them empty."""

    text: str
    """What is weighed; not empty."""

    cancel: CancelToken | None = None


Finish: TypeAlias = Literal["stop", "length"]
"""`length`: the cap was reached before the reply ended by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str
    finish: Finish = "stop"
    usage: Usage = field(default_factory=Usage)
    choices: tuple[Choice, ...] = ()
    reasoning: str = ""
    """Thinking text that came beside the reply: for display, never replayed."""


class Support(StrEnum):
    """Whether a model can do something, as far as anyone has told us."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class WindowSource(StrEnum):
    """Who said how large the window is."""

    REPORTED = "reported"
    TRAINED = "trained"
    CONFIGURED = "configured"
    ESTIMATED = "estimated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What is known of a model before it is asked; an immutable snapshot.

    A model's name never decides anything: what is not reported is unknown.
    """

    name: str = ""
    sha256: str | None = None
    window_tokens: int | None = None
    window_source: WindowSource = WindowSource.ESTIMATED
    schema: Support = Support.UNKNOWN
    thinking: Support = Support.UNKNOWN
    tools: Support = Support.UNKNOWN
    parameters: int | None = None
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTokens:
    """The bill of a prompt, counted on the ids that would be evaluated."""

    total: int
    by_part: Mapping[str, int]
    """Tokens by part name; what the template adds is `template`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPiece:
    """A text of a prompt as it reaches the model."""

    name: str
    """Whose it is, as in `PromptTokens.by_part`."""

    text: str
    is_template: bool
    """Written by the chat template: its control tokens count as such, all other text's as text."""

    tokens: int


class Model(Protocol):
    """Anything that can reply."""

    async def generate(self, request: Request) -> Reply:
        """Reply to the request, in a fresh context, without retries."""
        ...


@runtime_checkable
class CountingModel(Model, Protocol):
    """A model that counts with its own tokenizer; the harness then never estimates."""

    def capabilities(self) -> Capabilities:
        """Return what is known of the model."""
        ...

    def count_text(self, text: str) -> int:
        """Return the tokens of a plain text, control tokens off."""
        ...

    def count_request(self, request: Request) -> PromptTokens:
        """Return the tokens that `generate` would evaluate for this prompt, cold."""
        ...


@runtime_checkable
class ShowsPrompts(Model, Protocol):
    """A model that can show the exact prompt, control tokens included."""

    def render_request(self, request: Request) -> tuple[PromptPiece, ...]:
        """Return what `generate` would evaluate, in order; the joined texts are the prompt."""
        ...


@runtime_checkable
class ScoringModel(Model, Protocol):
    """A model that can say how probable a given text is."""

    async def score(self, scoring: Scoring) -> tuple[float, ...]:
        """Return the log-probability of the text behind each opening, in nats, all tokens summed.

        Raises:
            ContextFull: head, opening and text do not fit the window.
        """
        ...
