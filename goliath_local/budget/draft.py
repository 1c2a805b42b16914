"""What a stage would like to say: sections of a prompt, and how each may shrink.

Pure. The stage words every section, in full and short; the policy only picks. A section carries
its own separators, so that dropping it leaves no gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from goliath_local.model import ExampleTurn, JsonSchema, Part, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """Text that is shown whole or not at all: instructions, tools, facts, counter, ask, hint."""

    part: Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The rolling brief: clipped to its allowance, dropped when room is short."""

    text: str
    before: str = ""
    """Heading and separators; goes when the text goes."""

    after: str = ""
    name: str = "brief"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One exchange as shown: user line, assistant line and, if there were any, actions.

    Kept or dropped as one; a call and its result are never separated.
    """

    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The block as shown when nothing is clipped."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """The recent conversation, oldest first: its newest suffix that fits is shown."""

    heading: str
    """Ends with its own separator; counted."""

    blocks: tuple[Block, ...]
    after: str = ""
    name: str = "recent"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One step as shown, in its longer and shorter forms. Each ends with its own newline."""

    text: str
    short: str
    """The line with `compact_result(result)` in place of the result."""

    excerpt: str | None = None
    """The result of a content step: what is charged to the retrieval allowance."""

    omitted: str | None = None
    """The line saying that the excerpt was left out, for a content step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The step log, oldest first; a part a line, so that older ones stay evaluated."""

    lines: tuple[LogLine, ...]
    heading: str = ""
    after: str = ""
    name: str = "log"


Section: TypeAlias = Fixed | Brief | Recent | Log


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A whole prompt before it is fitted, sections from the most to the least stable."""

    stage: Stage
    system: tuple[Section, ...]
    user: tuple[Section, ...]
    examples: tuple[ExampleTurn, ...] = ()
    """Worked examples; dropped last."""

    schema: JsonSchema | None = None
