"""Likely mistakes, typed: each is answered with a clear sentence and the right exit code."""

import os
from pathlib import Path

import pytest

from goliath_local.cli.problems import ExitCode

TYPED = [
    ("rnu hi", 2, 'There is no command "rnu". Did you mean "run"?'),
    ("ask hello", 2, 'There is no command "ask".'),
    ("run hello world", 2, "Put the whole ask in quotes"),
    ("run", 2, "There is nothing to ask. Write for example"),
    ("chat hello", 2, 'does not know what to do with "hello". Leave it out.'),
    ("--thread 2 version", 2, 'has no flag "--thread". Did you mean "--threads"?'),
    ("run --seeed 3 hi", 2, 'Did you mean "--seed"?'),
    ("run --seed", 2, "--seed needs a value after it."),
    ("run --seed x hi", 2, "--seed: 'x' cannot be used. Give a whole number"),
    ("run --timeout soon hi", 2, "--timeout: 'soon' cannot be used. Give a number of seconds"),
    ("run --max-steps many hi", 2, "--max-steps: 'many' cannot be used. Give a whole number"),
    ("run -t 10000 hi", 2, "10000 threads, but this machine has"),
    ("run --gpu-layers lots hi", 2, "Give auto, all, or a whole number"),
    ("--color blue version", 2, "--color: give auto, always or never."),
    ("run --json --jsonl hi", 2, "Give one of them."),
    ("chat --json", 2, "For scripts: goliath-local run --json"),
    ("chat -c trip --new", 2, "-c resumes a conversation, --new begins one. Give one of them."),
    ("chat --steps loud", 2, "--steps: 'loud' cannot be used. Give full, short or off."),
    ("config set threads 4", 2, 'has no command "set". There are: show, path, init.'),
    ("config shwo", 2, 'Did you mean "show"?'),
    ("models pull granite-4.0-mirco", 3, 'Did you mean "granite-4.0-micro"?'),
    ("run -m granite-4.0-mirco hi", 3, 'Did you mean "granite-4.0-micro"?'),
    ("run hi", 3, "No model is installed. Get the default"),
    ("run -m ./nope.gguf hi", 3, "There is no file nope.gguf. Check the path"),
    ("models pull http://example.invalid/x.gguf", 2, "An address needs the file's hash"),
    ("models pull hf:owner/repo", 2, "hf:OWNER/REPO/FILE@REVISION"),
    ("models rm nothing", 3, 'No model "nothing". See: goliath-local models list'),
    ("trace show 99", 5, 'There is no trace "99". See: goliath-local trace list'),
    ("trace list -n x", 2, "-n: give a whole number."),
    ("conversations rm", 2, "Name the conversations to forget, or give --all."),
    ("conversations show trip", 5, 'There is no conversation "trip".'),
    ("grammar compile", 2, "SCHEMA is missing: A JSON Schema file"),
    ("grammar compile nope.json", 2, "nope.json cannot be read: No such file or directory."),
    ("tokens nope.txt", 2, 'There is no file "nope.txt". Check the path.'),
    ("tokens --tools", 2, "Name them by -T: goliath-local tokens --tools -T demo"),
    ("tools check", 2, "Give -T module:attr, -T FILE.py or -T demo."),
    ("tools check -T nope.py", 2, "There is no file nope.py."),
    ('run --schema {"type":"object"} hi', 2, "--schema takes a file or module:Model"),
    ("run -T demo --allow creat_task hi", 2, "There are: "),
    ("help", 2, 'There is no command "help". Did you mean "--help"?'),
    ("pull smollm2-135m", 2, 'There is no command "pull". Did you mean "models pull"?'),
    ("list", 2, 'Did you mean "models list"?'),
    ("run -T clok hi", 2, 'there is no tool set "clok". Did you mean "clock"?'),
    ("run -T mykit hi", 2, 'there is no tool set "mykit". Did you mean "mykit.py"?'),
    ("run -T mykt.py hi", 2, 'There is no file mykt.py. Did you mean "mykit.py"?'),
    ("run -T mykit.py hi", 2, 'mykit.py:1: it imports "nowhere_at_all", which is not installed'),
    ("run -T nomodule:kit hi", 2, '-T nomodule: there is no module "nomodule". Give module:'),
    ("run --schema nomodule:City hi", 2, "Give a JSON Schema file, or module:Model."),
    ("run --fallback nomodule:f hi", 2, "Give a URL, module:function, or none."),
    ("run -T files:nowhere hi", 2, "nowhere is not a folder"),
    ("run --chat-template nope -m own.gguf hi", 4, "own.gguf is an empty file."),
    ("run --model= hi", 2, "--model: '' cannot be used. Give a model's name"),
    ("run --threads= hi", 2, "--threads: '' cannot be used. Give a whole number"),
    ("eval run --limit 0", 2, "--limit: give a whole number, 1 or more."),
    ("eval run -o nowhere/x.jsonl --engine fake", 2, "There is no folder nowhere. Make it first:"),
    ("bench --save nowhere/x.json", 2, "There is no folder nowhere. Make it first: mkdir -p"),
    ("trace export nowhere -o .", 2, ". is a folder. Name a file in it."),
    ("bench -p abc", 2, "give whole numbers of tokens, as in -p 0,2048"),
    ("bench -o xml", 2, "-o: give md, csv, json or jsonl."),
    ("config show --config nope.toml", 2, "Make one: goliath-local config init"),
]


@pytest.mark.parametrize(("typed", "code", "says"), TYPED, ids=[line for line, *_ in TYPED])
def test_a_likely_mistake_is_told_with_its_cure(goliath, typed, code, says) -> None:
    Path("mykit.py").write_text("import nowhere_at_all\n")
    Path("own.gguf").touch()
    ran = goliath(*typed.split())
    assert ran.code == code
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert ran.last_error_line
    if "--json" not in typed:
        assert ran.out == ""


def test_a_file_without_a_name_is_told(goliath) -> None:
    ran = goliath("tokens", "", "--estimate")
    assert (ran.code, "The name of a file is blank." in ran.err) == (ExitCode.USAGE, True)


def test_a_command_without_its_own_shows_what_there_is_and_no_more(goliath) -> None:
    ran = goliath("models")
    assert ran.code == ExitCode.USAGE
    assert ran.last_error_line.strip() == "goliath-local models pull default"


def test_a_trace_that_cannot_be_kept_is_told_in_words(goliath, home, monkeypatch) -> None:
    Path("taken").touch()
    monkeypatch.setenv("GOLIATH_DATA_DIR", "taken")
    ran = goliath("run", "--engine", "fake", "hi")
    assert ran.code == ExitCode.DONE
    assert "The trace was not written: taken: File exists. " in ran.err
    assert "Errno" not in ran.err


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("GOLIATH_THEADS", "4", 'Did you mean "GOLIATH_THREADS"?'),
        ("GOLIATH_THREADS", "10000", "GOLIATH_THREADS: 10000 threads, but this machine has"),
        ("GOLIATH_OFFLINE", "perhaps", "GOLIATH_OFFLINE: 'perhaps' cannot be used. Give true"),
    ],
)
def test_a_mistake_in_the_environment_is_told_by_its_name(
    goliath, monkeypatch, name, value, says
) -> None:
    monkeypatch.setenv(name, value)
    ran = goliath("config", "show")
    assert (ran.code, says in ran.err) == (ExitCode.USAGE, True)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("theads = 4", 'config.toml:2 unknown key "theads". Did you mean "threads"?'),
        ('steps = "loud"', "config.toml:2: 'loud' cannot be used. Give full, short or off."),
        ("allow = 3", "config.toml:2: 3 cannot be used. Give a list of texts."),
        ("model = granite", "is not TOML"),
    ],
)
def test_a_mistake_in_the_config_file_is_told_with_its_line(goliath, home, line, says) -> None:
    path = home / ".config/goliath-local/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(f"# mine\n{line}\n")
    ran = goliath("config", "show")
    assert (ran.code, says in ran.err) == (ExitCode.USAGE, True)


def test_a_schema_in_which_nothing_fits_is_told_with_its_pointer(goliath, home) -> None:
    Path("city.json").write_text(
        '{"type":"object","properties":{"zip":{"type":"string","minLength":9,"maxLength":5}},'
        '"required":["zip"]}'
    )
    ran = goliath("grammar", "compile", "city.json")
    assert ran.code == ExitCode.USAGE
    assert "city.json#/properties/zip: minLength 9 is above maxLength 5" in ran.err
    # Also where an answer would need it, and before anything is loaded for it.
    asked = goliath("run", "--schema", "city.json", "--engine", "fake", "hi")
    assert (asked.code, asked.err, asked.out) == (ExitCode.USAGE, ran.err, "")


def test_a_tool_without_a_type_hint_is_told_with_file_line_and_an_example(goliath, home) -> None:
    Path("mytools.py").write_text(
        "from goliath_local import tool\n\n\n@tool\ndef add_note(when) -> str:\n"
        '    """Add a note."""\n    return ""\n'
    )
    ran = goliath("tools", "check", "-T", "mytools.py")
    assert ran.code == ExitCode.USAGE
    assert 'mytools.py:5 add_note: parameter "when" has no type hint.' in ran.err
    assert "when: str" in ran.err


NOISY = """
from goliath_local import tool

print("noise of a file")


@tool
def listen() -> str:
    \"\"\"Listen.\"\"\"
    print("noise of a tool")
    return "quiet"
"""


def test_what_a_tool_prints_is_no_part_of_the_result(goliath, script) -> None:
    Path("noisy.py").write_text(NOISY)
    listen = {"json": {"why": "w", "kind": "tool", "tool": "listen", "brief": "b"}}
    engine = script(
        listen, {"json": {"why": "w", "kind": "answer", "brief": "b"}}, {"text": "So."}
    )
    ran = goliath("run", "-T", "noisy.py", "--json", "--engine", engine, "listen")
    assert ran.json["text"] == "So."
    assert ran.err == "noise of a file\nnoise of a tool\n"
    assert [
        tool["name"]
        for tool in goliath("tools", "list", "-T", "noisy.py", "--json", "--estimate").json[
            "tools"
        ]
    ] == ["listen"]


def test_a_tool_file_that_ends_the_program_is_told(goliath) -> None:
    Path("quits.py").write_text("import sys\n\nsys.exit(0)\n")
    ran = goliath("run", "-T", "quits.py", "hi")
    assert ran.code == ExitCode.USAGE
    assert "quits.py:3: it ends the program while it is read." in ran.err


@pytest.mark.parametrize(
    "command",
    ["version", "config show", "models list", "trace list", "conversations list", "config path"],
)
def test_json_is_exactly_one_document_and_stderr_is_empty(goliath, command) -> None:
    ran = goliath(*command.split(), "--json")
    assert ran.out.count("\n") == 1
    assert isinstance(ran.json, dict)
    assert ran.err == ""


def test_a_working_directory_that_is_gone_is_told(goliath, home, tmp_path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    try:
        ran = goliath("config", "show")
    finally:
        os.chdir(tmp_path)
    assert ran.code != ExitCode.OUR_BUG
    assert "Traceback" not in ran.err
