"""How the page of a trace looks, and the few lines of script on it.

Pure. Colours are one table a scheme, so that a test can measure their contrast. Nothing is
fetched: no font, no picture, no script from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib

LIGHT = {
    "paper": "#ffffff",
    "panel": "#f3f4f6",
    "line": "#c4c9d1",
    "ink": "#1b1f24",
    "soft": "#4a5361",
    "link": "#0b57b0",
    "mark": "#8a1c7c",
    "call": "#2f6db5",
    "tool": "#8a5a00",
    "good": "#1a6b34",
    "bad": "#a8231f",
}
DARK = {
    "paper": "#14171b",
    "panel": "#1e2329",
    "line": "#454d58",
    "ink": "#e8eaed",
    "soft": "#aab3bf",
    "link": "#8ab8f5",
    "mark": "#f0a0e4",
    "call": "#6aa5ea",
    "tool": "#e0a63c",
    "good": "#7fd097",
    "bad": "#ff9a93",
}
READ_ON = ("ink", "soft", "link", "mark", "good", "bad")
"""Colours of text; each stands on `paper` and on `panel`."""

PARTS = 8
"""Patterns and shades for the parts of a prompt, used in turn."""

_RULES = """
*{box-sizing:border-box}
html{color-scheme:light dark}
body{margin:0 auto;max-width:72rem;padding:1rem 1.25rem 4rem;background:var(--paper);
color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:.5rem 0 1rem;white-space:pre-wrap}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
h3{font-size:1rem;margin:1.25rem 0 .25rem}
a{color:var(--link)}
.skip{position:absolute;left:-99rem}
.skip:focus{position:static}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:0}
dt{color:var(--soft)}
dd{margin:0}
pre{margin:.25rem 0;padding:.6rem .75rem;background:var(--panel);border:1px solid var(--line);
border-radius:.3rem;white-space:pre-wrap;font:.875rem/1.5 ui-monospace,monospace}
.special{color:var(--mark);font-weight:600}
.part{display:block;color:var(--soft);font-size:.75rem;border-top:1px dashed var(--line);
user-select:none}
.scroll{position:relative;overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.875rem}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;
border-bottom:1px solid var(--line)}
th[scope=row]{font-weight:400}
th[scope=col]{white-space:nowrap}
details{border:1px solid var(--line);border-radius:.3rem;margin:.5rem 0;background:var(--paper)}
details>*:not(summary){margin-left:.75rem;margin-right:.75rem}
details>*:last-child{margin-bottom:.75rem}
summary{padding:.5rem .75rem;cursor:pointer}
.timeline{list-style:none;margin:0;padding:0}
.timeline li{display:grid;grid-template-columns:14rem 1fr;gap:0 1rem;align-items:center}
.timeline a{display:block;padding:.15rem 0}
.track,.meter{display:flex;height:1rem;background:var(--panel);border:1px solid var(--line);
border-radius:.2rem;overflow:hidden}
.bar{min-width:3px;height:100%}
.call{background:var(--call)}
.tool{background:var(--tool)}
.meter span{height:100%;border-right:1px solid var(--paper)}
.reserve{background:repeating-linear-gradient(45deg,var(--line) 0 3px,transparent 3px 7px)}
.reused{background:var(--good)}
.fresh{background:var(--call)}
.swatch{display:inline-block;width:.8rem;height:.8rem;margin-right:.4rem;
border:1px solid var(--line)}
.good{color:var(--good)}
.bad{color:var(--bad)}
.buttons{margin:.5rem 0}
button{font:inherit;padding:.3rem .8rem;color:var(--ink);background:var(--panel);
border:1px solid var(--line);border-radius:.3rem;cursor:pointer}
@media (max-width:40rem){body{padding:.75rem}dl,.timeline li{grid-template-columns:1fr}
dd{margin-bottom:.4rem}}
@media print{details{break-inside:avoid}}
"""

SCRIPT = """
const all = () => document.querySelectorAll('details');
const turn = (open) => all().forEach((one) => { one.open = open; });
document.getElementById('open').addEventListener('click', () => turn(true));
document.getElementById('close').addEventListener('click', () => turn(false));
const reveal = () => {
  const goal = document.getElementById(location.hash.slice(1));
  if (goal && goal.tagName === 'DETAILS') {
    goal.open = true;
    goal.querySelector('summary').focus();
    goal.scrollIntoView();
  }
};
addEventListener('hashchange', reveal);
addEventListener('beforeprint', () => turn(true));
document.querySelector('.buttons').hidden = false;
reveal();
"""


def style() -> str:
    """Return the style sheet."""
    shades = "".join(
        f".p{number}{{background:hsl({number * 360 // PARTS} 55% 45%)}}" for number in range(PARTS)
    )
    dark = f"@media (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
    return f":root{{{_variables(LIGHT)}}}{dark}{_RULES}{shades}"


def policy() -> str:
    """Return the page's content policy: nothing is fetched, only this script runs."""
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours.items())
