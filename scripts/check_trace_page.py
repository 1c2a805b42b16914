"""Open the page of a trace in a real browser and ask what only a browser can tell.

    pip install playwright            # the driver
    apt install chromium              # or: playwright install chromium
    python scripts/check_trace_page.py [PAGE.html] [--chromium /usr/bin/chromium]

Without a page, a turn with hostile text is run on a scripted model and its page is taken. Asked
are: two widths, both schemes, with and without script. Exit code 1 when an answer is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HOSTILE = "</pre><script>window.pwned=1</script><img src=x onerror=window.pwned=2>"
WIDTHS = (390, 1280)
_REACHABLE = "a[href],button,summary,[tabindex='0']"
_FOCUSED = f"""() => {{
  const one = document.activeElement;
  const all = [...document.querySelectorAll("{_REACHABLE}")];
  const outline = getComputedStyle(one).outlineStyle;
  return {{name: one.tagName, outline: outline, index: all.indexOf(one)}};
}}"""


def main() -> int:
    """Check the page; return the exit code."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("page", nargs="?", type=Path)
    reader.add_argument("--chromium", default=shutil.which("chromium"))
    said = reader.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = said.page or _sample(Path(folder))
        wrong = _checked(page.resolve(), said.chromium)
    for line in wrong:
        print(f"WRONG  {line}")
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


def _sample(folder: Path) -> Path:
    """Run a turn on a scripted model and return the page of its trace."""
    plan = {"why": HOSTILE, "kind": "tool", "tool": "list_tasks", "brief": HOSTILE}
    answer = {"why": "w", "kind": "answer", "brief": "say it"}
    script = folder / "script.json"
    script.write_text(json.dumps([{"json": plan}, {"json": answer}, {"text": HOSTILE}]))
    page = folder / "turn.html"
    command = [sys.executable, "-m", "goliath_local"]
    environ = os.environ | {"HOME": str(folder), "GOLIATH_DATA_DIR": str(folder / "data")}
    ask = [*command, "run", "--engine", f"fake:{script}", "-T", "demo", HOSTILE]
    for line in (ask, [*command, "trace", "export", "--html", "-o", str(page)]):
        subprocess.run(line, check=True, env=environ, stdin=subprocess.DEVNULL)
    return page


def _checked(page: Path, chromium: str | None) -> list[str]:
    from playwright.sync_api import sync_playwright

    wrong: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        grounds = set()
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                for script in (True, False):
                    context = browser.new_context(
                        viewport={"width": width, "height": 900},
                        color_scheme=scheme,
                        java_script_enabled=script,
                    )
                    where = f"{width} {scheme} {'with' if script else 'without'} script"
                    found = _look(context.new_page(), page, script=script)
                    wrong += [f"{where}: {one}" for one in found]
                    print(f"{'ok' if not found else 'no'}     {where}")
                    if script:
                        grounds.add((scheme, _ground(context, page)))
                    context.close()
        if len(grounds) != 2 or len({colour for _, colour in grounds}) != 2:
            wrong.append(f"light and dark should have one ground each: {grounds}")
        browser.close()
    return wrong


def _ground(context: Any, page: Path) -> str:
    view = context.new_page()
    view.goto(page.as_uri())
    return str(view.evaluate("getComputedStyle(document.body).backgroundColor"))


def _look(view: Any, page: Path, *, script: bool) -> list[str]:
    wrong: list[str] = []
    view.on("console", lambda line: wrong.append(f"console: {line.text}"))
    view.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    view.on(
        "request",
        lambda asked: (
            None if asked.url.startswith("file:") else wrong.append(f"asked for {asked.url}")
        ),
    )
    view.goto(page.as_uri())
    wrong += _opened_by_key(view)
    if not script:
        return wrong + (["buttons without a script"] if view.is_visible(".buttons") else [])
    if view.evaluate("window.pwned") is not None:
        wrong.append("foreign text ran")
    wrong += _sideways(view, "closed")
    view.click("#open")
    wrong += _sideways(view, "open")
    return wrong + _by_tab(view, page) + _by_link(view, page)


def _opened_by_key(view: Any) -> list[str]:
    summary = view.locator("#call-1 > summary")
    summary.focus()
    view.keyboard.press("Enter")
    return [] if view.locator("#call-1[open]").count() else ["Enter does not open a call"]


def _sideways(view: Any, state: str) -> list[str]:
    wide = view.evaluate("document.documentElement.scrollWidth - innerWidth")
    return [f"{state}: {wide} pixels too wide"] if wide > 0 else []


def _by_tab(view: Any, page: Path) -> list[str]:
    """Walk through the open page by Tab: everything is reached, in order, and seen."""
    view.goto(page.as_uri())
    view.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    count = view.evaluate(f'document.querySelectorAll("{_REACHABLE}").length')
    wrong, seen = [], []
    for _ in range(count):
        view.keyboard.press("Tab")
        at = view.evaluate(_FOCUSED)
        seen.append(at["index"])
        if at["outline"] == "none":
            wrong.append(f"{at['name']} {at['index']} has no outline when focused")
    if seen != list(range(count)):
        wrong.append(f"Tab should go down the page, 0 to {count - 1}; it goes {seen}")
    return wrong


def _by_link(view: Any, page: Path) -> list[str]:
    view.goto(page.as_uri())
    view.click("a[href='#call-2']")
    view.wait_for_timeout(50)
    opened = view.locator("#call-2[open]").count()
    focused = view.evaluate("document.activeElement.tagName")
    return [] if opened and focused == "SUMMARY" else ["a link of the timeline opens nothing"]


if __name__ == "__main__":
    sys.exit(main())
