"""Chat templates as pieces and slots, and templates that cannot be used (B2)."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.engine.template import (
    CHATML,
    Setting,
    Shape,
    Slot,
    render_skeleton,
    template_sha256,
)
from goliath_local.errors import ConfigError

SETTING = Setting(start_text="<s>", end_text="</s>", today=dt.date(2025, 1, 31), variables={})
ASK = Shape(has_system=False, examples=0)
FULL = Shape(has_system=True, examples=1)
PLAIN = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"


def test_chatml_shows_every_message_between_its_marks():
    assert render_skeleton(CHATML, FULL, SETTING) == (
        "<|im_start|>system\n",
        Slot(0),
        "<|im_end|>\n<|im_start|>user\n",
        Slot(1),
        "<|im_end|>\n<|im_start|>assistant\n",
        Slot(2),
        "<|im_end|>\n<|im_start|>user\n",
        Slot(3),
        "<|im_end|>\n<|im_start|>assistant\n",
    )


def test_a_template_without_a_system_role_gets_the_system_text_before_the_first_ask():
    template = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        + PLAIN
    )
    assert render_skeleton(template, FULL, SETTING) == (
        "[user]",
        Slot(0),
        "\n\n",
        Slot(1),
        "[assistant]",
        Slot(2),
        "[user]",
        Slot(3),
    )


def test_variables_of_the_card_and_the_date_reach_the_template():
    template = "{{ bos_token }}{{ strftime_now('%d %B %Y') }} {{ mode }}" + PLAIN
    setting = replace(SETTING, variables={"mode": "quiet"})
    assert render_skeleton(template, ASK, setting)[0] == "<s>31 January 2025 quiet[user]"


def test_blocks_that_mark_generated_text_are_read_through():
    template = (
        "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}"
    )
    assert render_skeleton(template, ASK, SETTING) == (Slot(1),)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("", "leaves out the system text"),
        ("{% for m in messages[1:] %}{{ m.content }}{% endfor %}", "leaves out the system text"),
        (PLAIN + "{{ messages[-1].content }}", "shows the user's text more than once"),
        ("{{ messages[99].content }}", "fails"),
        ("{{ raise_exception('no') }}", "fails: no"),
        ("{{ cycler.__init__.__globals__ }}", "fails|leaves out"),
        ("{{ ''|attr('__class__') }}", "fails|leaves out"),
        ("{{ '{0.__class__}'.format(1) }}", "fails|leaves out"),
        ("{% for m in messages %}", "fails"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "fails"),
        ("{% break %}", "fails"),
        ("{{ 1|dictsort }}", "fails"),
        (
            "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}"
            "{{ 1|dictsort }}",
            "fails: no",
        ),
        ("{% for m in messages|reverse %}{{ m.content }}{% endfor %}", "order"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_with_the_reason(template: str, said: str):
    with pytest.raises(ConfigError, match=said) as caught:
        render_skeleton(template, FULL, SETTING)
    assert "--chat-template" in str(caught.value)


def test_the_words_of_an_ask_cannot_steer_the_template():
    template = (
        PLAIN + "{% if 'price' in messages[-1].content %}visit http://example.invalid{% endif %}"
    )
    assert "visit" not in str(render_skeleton(template, FULL, SETTING))


@given(st.text())
def test_any_text_as_a_template_gives_a_skeleton_or_a_reason(template: str):
    try:
        skeleton = render_skeleton(template, ASK, SETTING)
    except ConfigError:
        return
    assert Slot(1) in skeleton


def test_templates_are_told_apart_by_their_hash():
    assert len(template_sha256(CHATML)) == 64
    assert template_sha256(CHATML) != template_sha256(CHATML + " ")
