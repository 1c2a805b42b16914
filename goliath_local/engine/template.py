"""A chat template turned into a skeleton: its own pieces of text, and slots for ours.

Pure. The template never sees a text of a user, a tool or a memory, only a placeholder for it,
so that no text can steer the template, and every text can be tokenised apart from the template's
control tokens.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from jinja2 import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from goliath_local.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2.nodes import Node
    from jinja2.parser import Parser

CHATML: Final = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""The commonest chat form, for models whose file has none. Source: ChatML, OpenAI 2022."""

SYSTEM_SLOT: Final = 0

# Private-use characters: no template mentions them, and none of its filters changes them.
_PLACEHOLDER: Final = re.compile("\ue000(\\d+)\ue001")

_FAILURES: Final = (
    *(TemplateError, ValueError, TypeError, ArithmeticError, RecursionError, LookupError),
    *(AttributeError, AssertionError, SyntaxError),
)
"""What a template may raise; Jinja lets through what Python says of code made from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What of a request the template can see."""

    has_system: bool
    examples: int


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for one message's text.

    Slot 0 is the system text; example i has the slots 2i + 1 (user) and 2i + 2 (assistant);
    the ask has the last one.
    """

    number: int


Skeleton: TypeAlias = tuple[str | Slot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a template is rendered with besides the messages."""

    start_text: str = ""
    """Spelling of the model's start token."""

    end_text: str = ""
    today: dt.date
    variables: Mapping[str, Any]


def template_sha256(template: str) -> str:
    """Return what identifies a template: the sha256 of its UTF-8 bytes, 64 hex digits."""
    return hashlib.sha256(template.encode("utf-8", "surrogatepass")).hexdigest()


def render_skeleton(template: str, shape: Shape, setting: Setting) -> Skeleton:
    """Return the pieces of text and the slots that the template makes of such a request.

    A template that takes no system message gets it in front of the first user text.

    Raises:
        ConfigError: the template cannot be read, fails, or does not show every text once.
    """
    return read_skeleton(render_text(template, shape, setting), shape)


def render_text(template: str, shape: Shape, setting: Setting) -> str:
    """Return the rendered template with placeholders for all texts.

    Raises:
        ConfigError: the template cannot be read or fails.
    """
    try:
        return _render(template, _messages(shape), setting)
    except _FAILURES as error:
        if shape.has_system and isinstance(error, TemplateError):
            folded = _try_folded(template, shape, setting)
            if folded is not None:
                return folded
        reason = f"it fails: {error!s}".rstrip(": ")
        raise unusable(reason) from error


def read_skeleton(rendered: str, shape: Shape) -> Skeleton:
    """Return a rendered text as pieces and slots, in order.

    Raises:
        ConfigError: a placeholder is missing, repeated or out of place.
    """
    skeleton: list[str | Slot] = []
    end = 0
    for found in _PLACEHOLDER.finditer(rendered):
        if found.start() > end:
            skeleton.append(rendered[end : found.start()])
        skeleton.append(Slot(int(found[1])))
        end = found.end()
    if end < len(rendered):
        skeleton.append(rendered[end:])
    shown = [piece.number for piece in skeleton if isinstance(piece, Slot)]
    expected = range(0 if shape.has_system else 1, 2 * shape.examples + 2)
    # Some templates move the system text down to the ask; only the ask must come last.
    if sorted(shown) != list(expected) or shown[-1] != ask_slot(shape):
        raise unusable(_what_is_shown(shown, list(expected), shape))
    return tuple(skeleton)


def ask_slot(shape: Shape) -> int:
    """Return the slot of the ask."""
    return 2 * shape.examples + 1


def _what_is_shown(shown: list[int], expected: list[int], shape: Shape) -> str:
    missing = sorted(set(expected) - set(shown))
    if missing:
        return f"it leaves out {_name(missing[0], shape)}"
    repeated = sorted({number for number in shown if shown.count(number) > 1})
    if repeated:
        return f"it shows {_name(repeated[0], shape)} more than once"
    return "it changes the order of the messages"


def _name(number: int, shape: Shape) -> str:
    if number == SYSTEM_SLOT:
        return "the system text"
    if number == ask_slot(shape):
        return "the user's text"
    return f"the text of example {(number + 1) // 2}"


def _messages(shape: Shape) -> list[dict[str, str]]:
    messages = [{"role": "system", "content": _mark(SYSTEM_SLOT)}] if shape.has_system else []
    for index in range(shape.examples):
        messages.append({"role": "user", "content": _mark(2 * index + 1)})
        messages.append({"role": "assistant", "content": _mark(2 * index + 2)})
    messages.append({"role": "user", "content": _mark(ask_slot(shape))})
    return messages


def _try_folded(template: str, shape: Shape, setting: Setting) -> str | None:
    system, first, *rest = _messages(shape)
    content = f"{system['content']}\n\n{first['content']}"
    try:
        return _render(template, [{"role": "user", "content": content}, *rest], setting)
    except _FAILURES:
        return None


def _mark(number: int) -> str:
    return f"\ue000{number}\ue001"


def _render(template: str, messages: list[dict[str, str]], setting: Setting) -> str:
    # Trimmed blocks, loop controls, raise_exception and strftime_now are what templates of
    # published models are written for. Source: Hugging Face transformers, chat templating.
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _GenerationBlock]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = lambda form: _midnight(setting.today).strftime(form)
    return environment.from_string(template).render(
        **setting.variables,
        messages=messages,
        add_generation_prompt=True,
        bos_token=setting.start_text,
        eos_token=setting.end_text,
    )


def _midnight(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), tzinfo=dt.UTC)


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise(message: str) -> None:
    raise TemplateError(message)


def unusable(reason: str) -> ConfigError:
    """Return the error for a template that cannot be used, for this reason."""
    return ConfigError(
        f"The chat template cannot be used: {reason}. Give another: --chat-template chatml|FILE"
    )


class _GenerationBlock(Extension):
    """`{% generation %}` marks training text in some templates; its content is what counts."""

    tags = {"generation"}  # noqa: RUF012  the base class declares it so

    def parse(self, parser: Parser) -> Node | list[Node]:
        """Return the block's content in place of the block."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)
