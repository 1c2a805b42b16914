"""What a template makes of tools is found by comparing two renderings."""

from __future__ import annotations

import datetime as dt

from goliath_local.engine.native_tools import added_behind_system
from goliath_local.engine.template import CHATML, Setting, Shape, render_skeleton

TOOLS = [{"type": "function", "function": {"name": "ring"}}]
BEHIND = CHATML.replace(
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] +",
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] +"
    " ('\n# Tools ' + (tools | tojson) if tools and loop.first else '') +",
)
IN_FRONT = "{% if tools %}{{ tools | tojson }}{% endif %}" + CHATML


def rendered(template: str, **variables):
    setting = Setting(today=dt.date(2025, 1, 1), variables=variables)
    return render_skeleton(template, Shape(has_system=True, examples=0), setting)


def test_the_text_behind_the_system_text_is_found() -> None:
    found = added_behind_system(rendered(BEHIND), rendered(BEHIND, tools=TOOLS))
    assert found is not None
    assert found.startswith("\n# Tools ")
    assert "ring" in found
    assert "<|im_end|>" not in found


def test_a_template_that_ignores_tools_has_no_form_of_its_own() -> None:
    assert added_behind_system(rendered(CHATML), rendered(CHATML, tools=TOOLS)) is None


def test_tools_that_stand_elsewhere_are_not_taken_for_it() -> None:
    assert added_behind_system(rendered(IN_FRONT), rendered(IN_FRONT, tools=TOOLS)) is None
