"""Which chat template a model gets, and how it is rendered.

Edge: a template that is not of the catalogue is rendered in a child process.
"""

from __future__ import annotations

import datetime as dt
import functools
import logging
from typing import TYPE_CHECKING, Final

from goliath_local.catalogue import cards
from goliath_local.engine.template import CHATML, Setting, Shape, render_skeleton, template_sha256
from goliath_local.engine.untrusted import render_untrusted
from goliath_local.errors import BadModelFile, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from goliath_local.catalogue import GgufHeader
    from goliath_local.engine.native import Tokenizer
    from goliath_local.engine.settings import EngineSettings
    from goliath_local.engine.template import Skeleton

_LOG: Final = logging.getLogger(__name__)
_STEADY_DAY: Final = dt.date(2025, 1, 1)
_CHATML_TEXTS: Final = ("<|im_start|>", "<|im_end|>")


def open_template(
    header: GgufHeader, tokenizer: Tokenizer, settings: EngineSettings
) -> Callable[[Shape], Skeleton]:
    """Return the template's skeleton by shape, each made once; the commonest is made now.

    Raises:
        ConfigError: the template cannot be used, or ChatML is wanted of a model without it.
        BadModelFile: the file has no template, and the model no ChatML tokens.
    """
    template = choose_template(header, tokenizer, settings)
    is_known = template_sha256(template) in known_templates()
    render = render_skeleton if is_known else render_untrusted
    setting = Setting(
        start_text=tokenizer.text_of(header.metadata.get("tokenizer.ggml.bos_token_id")),
        end_text=tokenizer.text_of(header.metadata.get("tokenizer.ggml.eos_token_id")),
        today=settings.today or (_STEADY_DAY if settings.deterministic else _today()),
        variables=settings.template_variables,
    )

    @functools.lru_cache(maxsize=64)
    def skeleton(shape: Shape) -> Skeleton:
        return render(template, shape, setting)

    skeleton(Shape(has_system=True, examples=0))
    return skeleton


def choose_template(header: GgufHeader, tokenizer: Tokenizer, settings: EngineSettings) -> str:
    """Return the given template, else the file's, else ChatML where the model knows it."""
    given = settings.chat_template
    is_chatml = given is not None and given.strip().lower() == "chatml"
    if given is not None and not is_chatml:
        return given
    if given is None and header.chat_template is not None:
        return header.chat_template
    if all(len(tokenizer.encode(text, control=True)) == 1 for text in _CHATML_TEXTS):
        if not is_chatml:
            _LOG.warning("%s has no chat template; ChatML is used.", tokenizer.path.name)
        return CHATML
    if is_chatml:
        raise ConfigError(
            "The model has no ChatML tokens, so --chat-template chatml cannot be used. "
            "Give the model's own template: --chat-template FILE"
        )
    reason = "has no chat template. Give one: --chat-template chatml|FILE"
    raise BadModelFile(tokenizer.path, reason)


@functools.cache
def known_templates() -> frozenset[str]:
    """Return the hashes of the templates that were read by us: the catalogue's, and ChatML."""
    hashes = {card.template_sha256 for card in cards() if card.template_sha256}
    return frozenset((*hashes, template_sha256(CHATML)))


def _today() -> dt.date:
    return dt.datetime.now(tz=dt.UTC).astimezone().date()
