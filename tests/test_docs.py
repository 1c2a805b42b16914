"""What README and docs show can be run as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from goliath_local.cli.app import COMMANDS

ROOT = Path(__file__).parents[1]
ALL_PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
STANDALONE = {
    "README", "tools", "embedding", "command", "extensions", "observability", "storage",
}  # fmt: skip
PAGES = [page for page in ALL_PAGES if page.stem in STANDALONE]
"""Pages whose blocks stand by themselves; other pages' examples need a server or a schema."""

NEEDS_WEIGHTS = "load_model("


def blocks(language: str) -> list[tuple[str, str]]:
    """Return the code blocks of all pages with their place."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```", re.DOTALL | re.MULTILINE)
    return [
        (f"{page.name}-{number}", match.group(1))
        for page in PAGES
        for number, match in enumerate(pattern.finditer(page.read_text(encoding="utf-8")), start=1)
    ]


PYTHON = blocks("python")


@pytest.mark.parametrize(
    "code", [code for _, code in PYTHON if NEEDS_WEIGHTS not in code],
    ids=[place for place, code in PYTHON if NEEDS_WEIGHTS not in code],
)  # fmt: skip
def test_a_python_block_runs(tmp_path: Path, code: str) -> None:
    path = tmp_path / "mytools.py"
    path.write_text(code)
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("code", [code for _, code in PYTHON if NEEDS_WEIGHTS in code])
def test_a_python_block_with_a_model_runs(tmp_path: Path, code: str, weights) -> None:
    folder = weights("qwen2.5-coder-0.5b").parent
    path = tmp_path / "program.py"
    path.write_text(code)
    ran = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"GOLIATH_MODELS_DIR": str(folder), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()


def test_the_tool_of_the_readme_can_be_named_and_used(goliath, script, home) -> None:
    code = next(code for _, code in PYTHON if "word_count" in code)
    Path("mytools.py").write_text(code)
    assert goliath("tools", "check", "-T", "mytools.py", "--json").json["advice"] == []
    ran = goliath(
        "run", "--json", "-T", "mytools.py", "--engine",
        script(
            {"json": {"why": "w", "kind": "tool", "tool": "word_count", "brief": "count"}},
            {"json": {"text": "to be or not to be", "missing": ""}},
            {"json": {"why": "w", "kind": "answer", "brief": "say it"}},
            {"text": "Six."},
        ),
        "How many words has 'to be or not to be'?",
    )  # fmt: skip
    assert ran.json["steps"][0]["result"] == "6"


def test_every_command_that_is_named_exists() -> None:
    named = {
        match
        for page in ALL_PAGES
        for match in re.findall(r"goliath-local ([a-z]+)", page.read_text(encoding="utf-8"))
        if page.stem != "licences"  # prose alone
    }
    assert named - set(COMMANDS) == set()


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in ALL_PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    """Return the cells of all table rows of a page."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_of_models_says_what_the_cards_say() -> None:
    from goliath_local.catalogue import cards

    told = {row[0].strip("`"): row for row in rows(page("models")) if row[0].startswith("`")}
    assert set(told) == {card.name for card in cards()}
    for card in cards():
        assert told[card.name][1:] == [
            card.size_class,
            f"{card.size_bytes / 1e9:.2f} GB",
            f"{card.needed_bytes / 2**30:.1f} GiB",
            card.licence,
        ]


def test_the_bounds_of_speed_are_bandwidth_over_size() -> None:
    table = [row for row in rows(page("small-machines")) if row[1].endswith("GB/s")]
    assert len(table) == 3
    for row in table:
        bandwidth = float(row[1].split()[0])
        for size, cell in zip((0.49, 1.12, 2.10), row[2:], strict=True):
            assert abs(float(cell.split()[0]) - bandwidth / size) < 1, row


def test_every_hook_is_in_its_table_in_order() -> None:
    from goliath_local.extensions import HOOKS

    told = [row[0].strip("`") for row in rows(page("extensions")) if row[0].startswith("`")]
    assert tuple(told) == HOOKS


def test_every_option_of_a_tool_is_on_its_page() -> None:
    from goliath_local.tools.declare import ToolOptions

    told = {row[0].strip("`").partition("=")[0] for row in rows(page("tools")) if "=" in row[0]}
    assert told == set(ToolOptions.__annotations__)


def test_the_page_of_troubles_has_the_three_ways_to_install_llama_cpp() -> None:
    from goliath_local.cli.checkup import install_cure

    told, printed = page("troubleshooting"), install_cure("Linux") + install_cure("Darwin")
    for way in ("build-essential cmake", "xcode-select --install", "--prefer-binary"):
        assert way in told
        assert way in printed


def test_the_global_flags_that_are_named_exist() -> None:
    from goliath_local.cli.flags import global_options

    known = {opt for option in global_options() for opt in option.opts}
    shown = re.findall(r"[Gg]lobal flags \((.*?)\)", page("command"))
    assert shown
    named = {word for text in shown for word in re.findall(r"`(--?[a-z-]+)`", text)}
    assert named <= known


def test_every_tool_set_is_told_with_its_tools(tmp_path: Path, home: Path) -> None:
    from goliath_local.toolsets import TOOL_SETS, tool_set

    table = {row[0]: row[1] for row in rows(page("tools")) if len(row) == 3}
    for name in TOOL_SETS:
        [told] = [tools for sets, tools in table.items() if f"`{name}`" in sets]
        tools = tool_set(name, data=tmp_path)
        marks = [f"`{tool.name}`" + ("\\*" if tool.writes else "") for tool in tools]
        assert told == ", ".join(marks)


def test_the_file_of_servers_can_be_read(tmp_path: Path) -> None:
    from goliath_local.mcp.named import _read

    [block] = re.findall(r"```json\n(.*?)```", page("mcp"), re.DOTALL)
    path = tmp_path / "servers.json"
    path.write_text(block)
    servers = _read(path)
    assert servers["time"].tools == ("get_current_time",)
    assert servers["notes"].start_timeout_s == 60


def test_every_place_in_the_package_that_a_page_names_is_there() -> None:
    for shown in ALL_PAGES:
        text = shown.read_text(encoding="utf-8")
        for place in re.findall(r"`(goliath_local/[a-z_./]+)`", text):
            assert (ROOT / place).exists(), f"{shown.name}: {place}"


@pytest.mark.parametrize(
    "line",
    [
        line.split("#")[0].strip()
        for shown in ALL_PAGES
        for block in re.findall(r"```sh\n(.*?)```", shown.read_text(encoding="utf-8"), re.DOTALL)
        for line in block.splitlines()
        if line.startswith("goliath-local ")
    ],
)
def test_every_flag_that_a_page_shows_is_one_of_its_command(line: str) -> None:
    import shlex

    from goliath_local.cli.app import build

    _, name, *rest = shlex.split(line)
    command = context = build()
    context = command.make_context("goliath-local", [name], resilient_parsing=True)
    command = command.get_command(context, name)
    while hasattr(command, "get_command") and rest and not rest[0].startswith("-"):
        context = command.make_context(name, list(rest), resilient_parsing=True)
        name, *rest = rest
        command = command.get_command(context, name)
    known = {option for parameter in command.params for option in parameter.opts}
    for word in rest:
        if re.match(r"--?[a-z]", word):
            assert word in known | {"--help"}, line
