"""The command itself: help, usage, exit codes, what is imported when."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import goliath_local.errors
from goliath_local.cli.app import COMMANDS, build
from goliath_local.cli.problems import CODES, ExitCode, read_problem
from goliath_local.errors import GoliathError

HEAVY = {"numpy", "llama_cpp", "pydantic_settings", "prompt_toolkit", "jinja2", "rich"}
QUICK = (
    ["--help"],
    ["version"],
    ["nonsense"],
    ["run", "--help"],
    ["chat", "-h"],
    ["run", "--nope"],
)


def test_help_version_and_wrong_usage_load_nothing_heavy(home) -> None:
    code = (
        "import json, sys; from goliath_local.cli import main;"
        "[main(line) for line in json.loads(sys.argv[1])];"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, json.dumps(QUICK)], capture_output=True, text=True, check=True
    )
    assert HEAVY.isdisjoint(ran.stderr.split())


def test_help_lists_every_command(goliath) -> None:
    shown = goliath("--help")
    assert shown.code == 0
    for name, entry in COMMANDS.items():
        assert name in shown.out
        assert entry.about in shown.out


def test_global_flags_stand_before_or_after_the_command(goliath) -> None:
    before = goliath("--seed", "3", "--json", "config", "show")
    after = goliath("config", "show", "--seed", "3", "--json")
    assert before.json["seed"] == {"value": 3, "from": "--seed"}
    assert before.out == after.out


def test_the_flag_after_the_command_wins(goliath) -> None:
    assert (
        goliath("--seed", "3", "config", "show", "--seed", "4", "--json").json["seed"]["value"]
        == 4
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("verson",), 'There is no command "verson". Did you mean "version"?'),
        (("version", "--nope"), 'has no flag "--nope"'),
        (("config",), None),
        (("config", "shwo"), 'Did you mean "show"?'),
        (("--threads", "many", "config", "show"), None),
        (("--seed",), "needs a value after it"),
    ],
    ids=str,
)
def test_wrong_usage_is_code_2_and_says_where_help_is(goliath, arguments, says) -> None:
    ran = goliath(*arguments)
    assert ran.code == ExitCode.USAGE
    if says is not None:
        assert says in ran.err
        assert "--help" in ran.last_error_line
        assert ran.out == ""


def test_an_error_in_json_is_one_document(goliath) -> None:
    ran = goliath("config", "show", "--json", "--threads", "10000")
    assert ran.json["ok"] is False
    assert ran.json["error"]["code"] == ran.code == ExitCode.USAGE
    assert "CPUs" in ran.json["error"]["message"]


def test_an_error_among_json_lines_is_the_last_of_them(goliath) -> None:
    ran = goliath("run", "--jsonl", "-m", "nope", "hi")
    assert ran.code == ExitCode.NOT_READY
    assert ran.json["type"] == "result"
    assert (ran.json["ok"], ran.json["error"]["code"]) == (False, ran.code)


def every_error() -> list[type[BaseException]]:
    found, waiting = [], [GoliathError]
    while waiting:
        kind = waiting.pop()
        found += [kind] if kind.__module__.startswith("goliath_local.") else []
        waiting += kind.__subclasses__()
    return found


def test_every_error_class_of_the_package_has_its_code() -> None:
    known = [kind for kind, _ in CODES]
    missing = [kind for kind in every_error() if not issubclass(kind, tuple(known))]
    assert missing == [GoliathError]


def test_a_more_special_class_stands_above_a_more_general_one() -> None:
    kinds = [kind for kind, _ in CODES]
    for at, kind in enumerate(kinds):
        assert not any(issubclass(later, kind) for later in kinds[at + 1 :])


def test_an_error_without_words_still_says_something() -> None:
    for kind in (goliath_local.errors.StorageError, goliath_local.errors.ModelError):
        assert kind.__name__ in read_problem(kind()).message


def test_an_unknown_exception_is_our_bug_and_leaves_a_report(goliath, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "goliath_local.cli.settings", None)
    ran = goliath("config", "show")
    assert ran.code == ExitCode.OUR_BUG
    assert "bug in goliath-local" in ran.err
    assert "Traceback" not in ran.err
    assert ran.last_error_line.startswith("Details: ")


def test_a_package_that_is_not_there_is_no_bug_of_ours(goliath, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    monkeypatch.delitem(sys.modules, "goliath_local.cli.places", raising=False)
    monkeypatch.delitem(sys.modules, "goliath_local.cli.settings", raising=False)
    ran = goliath("config", "show")
    assert (ran.code, ran.out) == (ExitCode.NOT_READY, "")
    assert "the package platformdirs is missing. Install it again: pip install" in ran.err


def test_without_its_packages_the_program_says_which_is_missing(monkeypatch, capsys) -> None:
    from goliath_local.__main__ import main as program

    for name in [name for name in sys.modules if name.startswith("goliath_local.cli")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as ending:
        program()
    assert ending.value.code == ExitCode.NOT_READY
    assert "the package typer is missing." in capsys.readouterr().err


def test_a_traceback_is_shown_only_when_asked_for(goliath, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "goliath_local.cli.settings", None)
    assert "Traceback" in goliath("config", "show", "-vv").err


def command(*arguments: str, shell: str = "") -> subprocess.CompletedProcess[str]:
    line = f'"{sys.executable}" -m goliath_local {" ".join(arguments)} {shell}'
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_closed_streams_do_no_harm(home) -> None:
    assert command("config", "show", "--json", shell="2>&-").stdout.startswith("{")
    assert command("config", "show", shell="2>&- >&-").returncode == 0
    assert command("nonsense", shell="2>&-").returncode == ExitCode.USAGE


def test_a_reader_that_goes_away_is_code_141(home) -> None:
    ran = command("config", "show", shell="| (exec 0<&-; sleep 0.5); echo ${PIPESTATUS[0]}")
    assert ran.stdout.strip() == str(int(ExitCode.READER_GONE))
    assert ran.stderr == ""


def test_a_full_disk_on_stdout_is_code_5(home) -> None:
    ran = command("config", "show", shell="> /dev/full")
    assert ran.returncode == ExitCode.NETWORK_OR_DISK
    assert "disk is full" in ran.stderr


@pytest.mark.parametrize(
    "typed",
    [
        "--help",
        "config show",
        "models list",
        "doctr",
        "run -T demo --engine fake hi",
        "bench -r x",
    ],
)
def test_nothing_is_coloured_when_nobody_looks(goliath, typed) -> None:
    ran = goliath(*typed.split())
    assert "\x1b" not in ran.out + ran.err


@pytest.mark.slow
def test_the_doctor_colours_nothing_when_nobody_looks(goliath) -> None:
    ran = goliath("doctor", "--quick")
    assert "python" in ran.out
    assert "\x1b" not in ran.out + ran.err


def test_config_init_writes_a_private_file_that_can_be_read_back(goliath, home) -> None:
    made = goliath("config", "init")
    path = home / ".config" / "goliath-local" / "config.toml"
    assert made.out.strip() == str(path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text(path.read_text().replace("# max_steps = 5", "max_steps = 3"))
    assert goliath("config", "show", "--json").json["max_steps"]["value"] == 3
    assert goliath("config", "init").code == ExitCode.USAGE


def test_version_in_json_names_the_binding(goliath) -> None:
    assert set(json.loads(goliath("version", "--json").out)) == {
        "goliath-local",
        "llama-cpp-python",
    }


def test_remarks_and_errors_go_to_the_log_file_too(goliath, tmp_path) -> None:
    log = tmp_path / "remarks.log"
    ran = goliath("tokens", "nowhere.txt", "--log-file", str(log), "--quiet")
    assert log.read_text() == ran.err
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_log_file_that_cannot_be_written_is_told_and_no_more(goliath, tmp_path) -> None:
    ran = goliath("tokens", "-T", "demo", "--log-file", str(tmp_path))
    assert ran.code == 0
    assert "Remarks are not written there." in ran.err


@pytest.fixture
def offered(goliath, monkeypatch):
    """What the shell would offer for a line, its last word half typed."""

    def ask(line: str) -> str:
        monkeypatch.setenv("_GOLIATH_LOCAL_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
        ran = goliath()
        monkeypatch.delenv("_GOLIATH_LOCAL_COMPLETE")
        return ran.out.strip()

    return ask


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("goliath-local do", "doctor"),
        ("goliath-local -m qw", "qwen2.5-coder-0.5b"),
        ("goliath-local run --model qw", "qwen2.5-coder-0.5b"),
        ("goliath-local models pull smol", "smollm"),
        ("goliath-local chat -T de", "demo"),
        ("goliath-local tokens -T cl", "clock"),
        ("goliath-local tools check -T nu", "numbers"),
        ("goliath-local eval run -T no", "notes"),
        ("goliath-local eval run buil", "builtin"),
        ("goliath-local run --max", "--max-steps"),
    ],
)
def test_commands_flags_models_and_tool_sets_are_completed(offered, line, wanted) -> None:
    assert wanted in offered(line)


def test_own_tool_files_and_case_files_are_completed(offered, home) -> None:
    Path("kit").mkdir()
    for name in ("mytools.py", "mycases.jsonl", "kit/more.py", ".hidden.py", "my.txt"):
        Path(name).write_text("")
    assert offered("goliath-local run -T my") == "mytools.py"
    assert offered("goliath-local run -T ki") == "kit/"
    assert offered("goliath-local run -T kit/") == "kit/more.py"
    assert offered("goliath-local run -T nowhere/") == ""
    assert offered("goliath-local eval run my") == "mycases.jsonl"


def test_conversations_and_traces_are_completed(offered, goliath, script) -> None:
    assert offered("goliath-local chat -c tr") == ""
    ran = goliath("run", "--engine", script({"text": "x"}), "-c", "trip", "--json", "hi")
    assert offered("goliath-local chat -c tr") == "trip"
    assert offered("goliath-local conversations show t") == "trip"
    assert ran.json["trace"] in offered(f"goliath-local trace show {ran.json['trace'][:4]}")


def test_completion_is_installed_for_the_program_alone(goliath) -> None:
    assert "--install-completion" in goliath("--help").out
    assert "--install-completion" not in goliath("run", "--help").out


def every_command() -> list[str]:
    """Each command and each of its own, as they are typed."""
    found = []
    root = build()
    for name in COMMANDS:
        command = root.get_command(None, name)
        found += [name, *(f"{name} {child}" for child in getattr(command, "commands", {}))]
    return found


@pytest.mark.parametrize("typed", every_command())
def test_the_help_of_every_command_ends_with_two_examples(goliath, typed) -> None:
    ran = goliath(*typed.split(), "--help")
    assert ran.code == 0
    examples = ran.out.partition("Examples:")[2].split("\n\n")
    assert sum("goliath-local" in paragraph for paragraph in examples) >= 2
    assert "other flags of goliath-local --help" in ran.out
    assert "\x1b" not in ran.out


@pytest.mark.parametrize("name", ["tools", "eval", "trace", "grammar"])
def test_no_sentence_of_a_help_is_cut(goliath, name) -> None:
    assert "..." not in goliath(name, "--help").out.partition("Commands:")[2]
