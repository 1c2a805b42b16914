"""Templates nobody read: each gets a verdict in a child, within its time and memory (B2).

GOLIATH_TEST_EXAMPLES sets how many nestings are generated, GOLIATH_TEST_SEED which.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import select
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from goliath_local.engine.template import CHATML, Setting, Shape, render_skeleton
from goliath_local.engine.template_child import job
from goliath_local.engine.untrusted import TIMEOUT_S, render_untrusted

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("GOLIATH_TEST_EXAMPLES", "200"))
SEED = int(os.environ.get("GOLIATH_TEST_SEED", "1"))
SETTING = Setting(start_text="<s>", end_text="</s>", today=dt.date(2025, 1, 31), variables={})
FULL = Shape(has_system=True, examples=1)
PLAIN = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
PEAK_KIB = 300 << 10
"""What the interpreter takes, some 60 MiB, and the 192 MiB that a template may have."""

LISTED = {
    "loops without end": (
        "{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}",
        "longer than 2 s|more memory",
    ),
    "a billion letters": ("{{ 'a' * 10**9 }}", "more memory"),
    "a billion digits": ("{{ '%1000000000d' % 1 }}", "more memory"),
    "globals of a class": ("{{ cycler.__init__.__globals__ }}", "fails|leaves out"),
    "a class by a filter": ("{{ ''|attr('__class__') }}", "fails|leaves out"),
    "a class by a format": ("{{ '{0.__class__}'.format(1) }}", "fails|leaves out"),
    "its own complaint": ("{{ raise_exception('no') }}", "fails: no"),
    "empty": ("", "leaves out the system text"),
    "a message that is not there": ("{{ messages[99].content }}", "fails"),
    "no system text": (
        "{% for m in messages[1:] %}{{ m.content }}{% endfor %}",
        "leaves out the system text",
    ),
    "the last message twice": (
        PLAIN + "{{ messages[-1].content }}",
        "shows the user's text more than once",
    ),
    "a word of the ask": (
        PLAIN + "{% if 'price' in messages[-1].content %}visit http://example.invalid{% endif %}",
        "",
    ),
    "a macro in itself": ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "fails"),
    "a MiB of spaces": (" " * (1 << 20), "characters|leaves out"),
}
"""What it is, and what is said of it; nothing is said of the one that can be used."""

PARENT = """
import dataclasses, json, resource, sys
from goliath_local.errors import ConfigError
from goliath_local.engine.untrusted import render_untrusted
from tests.engine.test_untrusted import FULL, LISTED, SETTING

said = {}
for name, (template, _) in LISTED.items():
    try:
        said[name] = "it shows " + repr(render_untrusted(template, FULL, SETTING))
    except ConfigError as error:
        said[name] = str(error)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps({"said": said, "peak_kib": peak}))
"""

CHILD = """
import json, sys
from goliath_local.engine import template_child as child

child._limit_memory()
for told in sys.stdin:
    print(json.dumps(child.run(told)), flush=True)
"""


@pytest.fixture(scope="module")
def verdicts() -> Any:
    """What is said of each listed template, and the peak of the children it was rendered in.

    Asked by a small process: a child's peak counts what its parent had when it was started.
    """
    ran = subprocess.run(
        [sys.executable, "-c", PARENT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("name", LISTED)
def test_a_template_nobody_read_cannot_take_the_machine(name: str, verdicts: Any):
    said, wanted = verdicts["said"][name], LISTED[name][1]
    if wanted:
        assert any(each in said for each in wanted.split("|"))
        assert "--chat-template" in said
    else:
        assert said.startswith("it shows ")
        assert "visit" not in said


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and peaks of Linux")
def test_the_children_of_templates_stay_within_their_memory(verdicts: Any):
    assert 20 << 10 < verdicts["peak_kib"] < PEAK_KIB


def test_a_template_nobody_read_gives_the_same_skeleton_in_the_child():
    assert render_untrusted(CHATML, FULL, SETTING) == render_skeleton(CHATML, FULL, SETTING)


LEAVES = (
    *("x", "{{ m.content }}", "{{ 'a' * 10**9 }}", "{{ (1).real }}", "{{ 2 ** 70 }}", "{{ [] }}"),
    *("{{ 1|dictsort }}", "{{ 'a'.encode('none') }}", "{{ [1][7] }}", "{{ {}.a.b }}", "{{ 1/0 }}"),
    *("{{ m }}", "{{ n() }}", "{% break %}", "{{ '' | tojson(indent=9**9) }}", "{{ caller() }}"),
    *(
        "{{ messages | map('upper') | list }}",
        "{{ range(10**6) | list | length }}",
        "{% endfor %}",
    ),
)
AROUND = (
    ("{% for i in range(3) %}", "{% endfor %}"),
    ("{% for m in messages %}", "{% endfor %}"),
    ("{% if m %}", "{% else %}y{% endif %}"),
    ("{% macro n() %}", "{% endmacro %}{{ n() }}"),
    ("{% set s %}", "{% endset %}{{ s * 3 }}"),
    ("{% filter upper %}", "{% endfilter %}"),
    ("{% call n() %}", "{% endcall %}"),
    ("{% generation %}", "{% endgeneration %}"),
    ("{{ (", ") * 10 }}"),
    ("{{ [", "] | join }}"),
)


def nesting(chance: random.Random) -> str:
    """Return blocks in blocks, few deep mostly, sometimes deeper than Python can compile."""
    text = "".join(chance.choices(LEAVES, k=chance.randint(1, 4)))
    depth = chance.choice((1, 2, 3, 5, 8, 30, 300))
    kinds = chance.sample(AROUND, k=2) if depth < 30 else [chance.choice(AROUND)]
    for _ in range(depth):
        before, behind = chance.choice(kinds)
        text = before + text + behind
    return text


def started() -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", CHILD], cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


def ended(child: subprocess.Popen[str]) -> str:
    child.kill()
    return child.communicate()[1].strip()


def test_nested_templates_get_a_verdict_each():
    chance, child, found = random.Random(SEED), started(), Counter[str]()
    for _ in range(EXAMPLES):
        template = nesting(chance)
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(job(template, FULL, SETTING) + "\n")
        child.stdin.flush()
        if not select.select([child.stdout], [], [], TIMEOUT_S)[0]:
            ended(child)
            child, found["too long"] = started(), found["too long"] + 1
            continue
        line = child.stdout.readline()
        assert line, f"{template!r} ended the child: {ended(child)[-600:]}"
        ((kind, said),) = json.loads(line).items()
        assert kind in ("text", "error", "memory"), said
        found[kind] += 1
    ended(child)
    assert found["text"] > EXAMPLES / 20
    assert found["error"] > EXAMPLES / 20
    assert found["too long"] < EXAMPLES / 10, found
