"""`doctor`, and the counting commands: the questions of a first day."""

import sys
from pathlib import Path

import pytest

from goliath_local.cli import checkup
from goliath_local.cli.checkup import (
    cores_check,
    heat_check,
    install_cure,
    library_check,
    load_check,
)
from goliath_local.cli.load_probe import Probed, run_probe
from goliath_local.cli.problems import ExitCode
from goliath_local.engine import default_threads


def child(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_child_that_dies_of_an_illegal_instruction_is_told_from_the_parent() -> None:
    probed = run_probe(child("import os, signal; os.kill(os.getpid(), signal.SIGILL)"))
    assert (probed.ok, probed.signal) == (False, "SIGILL")
    check = library_check(probed)
    assert (check.state, check.code) == ("bad", ExitCode.NOT_READY)
    assert "CPU features your CPU lacks; rebuild" in check.cure
    assert "pip install" in check.cure


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; sys.exit('out of memory')", "out of memory"),
        ("print('not json')", "said nothing"),
        ('print(\'{"error": "no compiler"}\')', "no compiler"),
    ],
)
def test_a_child_that_fails_says_why(code: str, why: str) -> None:
    assert why in run_probe(child(code)).why


@pytest.mark.slow
def test_a_child_that_does_not_end_is_given_up() -> None:
    code = "import time; time.sleep(600)"
    assert "did not end within 0.5 s" in run_probe(child(code), timeout_s=0.5).why


def test_a_missing_library_names_the_compiler_and_a_command() -> None:
    check = library_check(Probed(ok=False, why="No module named 'llama_cpp'"))
    assert "llama-cpp-python" in check.cure
    assert "--prefer-binary" in check.cure
    assert "build-essential" in install_cure("Linux")
    assert "xcode-select --install" in install_cure("Darwin")


def test_without_llama_cpp_the_doctor_says_so_and_other_commands_work(
    goliath, tmp_path, monkeypatch
) -> None:
    stub = tmp_path / "stub"
    (stub / "llama_cpp").mkdir(parents=True)
    (stub / "llama_cpp" / "__init__.py").write_text("raise ImportError('no libllama')")
    monkeypatch.setenv("PYTHONPATH", str(stub))
    ran = goliath("doctor", "--quick")
    assert ran.code == ExitCode.NOT_READY
    assert "llama-cpp-python" in ran.out
    assert "no libllama" in ran.out
    assert "Traceback" not in ran.out + ran.err
    assert goliath("models", "list").code == 0


def test_the_doctor_names_the_command_that_gets_a_model(goliath, monkeypatch) -> None:
    monkeypatch.setattr(checkup, "run_probe", lambda *_, **__: Probed(ok=True))
    ran = goliath("doctor", "--json")
    assert ran.code == ExitCode.NOT_READY
    checks = {one["name"]: one for one in ran.json["checks"]}
    assert checks["model"]["state"] == "bad"
    assert "goliath-local models pull default" in checks["model"]["cure"]
    assert checks["python"]["state"] == "ok"


def test_a_busy_or_throttled_machine_is_told(tmp_path: Path) -> None:
    assert load_check(3.0, 2).state == "warn"
    assert load_check(0.5, 2).state == "ok"
    clock = tmp_path / "devices/system/cpu/cpu0/cpufreq"
    clock.mkdir(parents=True)
    (clock / "scaling_max_freq").write_text("1500000\n")
    (clock / "cpuinfo_max_freq").write_text("2400000\n")
    assert "1.5 of 2.4 GHz" in heat_check(tmp_path).found
    (clock / "scaling_max_freq").write_text("2400000\n")
    zone = tmp_path / "class/thermal/thermal_zone0"
    zone.mkdir(parents=True)
    (zone / "temp").write_text("85000\n")
    assert heat_check(tmp_path).state == "warn"
    (zone / "temp").write_text("41000\n")
    assert heat_check(tmp_path).found == "not held back, 41 °C"


def test_the_doctor_says_which_threads_follow_from_the_cores() -> None:
    found = cores_check(None)
    best = default_threads()
    assert (found.state, f"→ {best} thread" in found.found) == ("ok", True)
    slow = cores_check(best + 1)
    assert slow.state == "warn"
    assert f"use -t {best}." in slow.cure


def test_tokens_of_a_file_are_estimated_without_a_model(goliath, tmp_path) -> None:
    (tmp_path / "a.txt").write_text("hello world")
    ran = goliath("tokens", str(tmp_path / "a.txt"), "--json")
    assert ran.json["texts"] == [4]
    assert ran.json["exact"] is False
    assert ran.json["limits"]["conductor"] == {"prompt": 2867, "reply": 256}
    assert goliath("tokens", "nowhere.txt").code == ExitCode.USAGE


def test_the_bill_of_a_prompt_has_its_parts(goliath) -> None:
    ran = goliath("tokens", "-T", "demo", "--json")
    assert {"instructions", "tools", "examples", "ask"} <= set(ran.json["parts"])
    assert "total" in goliath("tokens", "-T", "demo").out


def test_tools_are_listed_as_the_model_sees_them(goliath) -> None:
    ran = goliath("tools", "list", "-T", "demo", "--json")
    rows = {row["name"]: row for row in ran.json["tools"]}
    assert rows["create_task"]["writes"] is True
    assert list(rows["create_task"]["parameters"]["properties"]) == ["title"]
    assert "create_task  asks first" in goliath("tools", "list", "-T", "demo").out
    assert goliath("tools", "list").code == ExitCode.USAGE


def test_tools_that_are_hard_for_a_small_model_get_advice(goliath, home) -> None:
    Path("many.py").write_text(
        "from goliath_local import tool\n\n\ndef make(n):\n"
        "    def work(things: list[str]) -> str:\n        return ''\n"
        "    work.__name__ = f'work_{n}'\n    work.__doc__ = 'Work.'\n    return tool(work)\n\n\n"
        "kit = [make(n) for n in range(6)]\n"
    )
    ran = goliath("tools", "check", "-T", "many.py", "--json")
    assert ran.code == 0
    advice = "\n".join(ran.json["advice"])
    assert "6 tools; a small model chooses best among 5 or fewer." in advice
    assert "work_0: things is nested" in advice


def test_the_demo_tools_need_no_advice(goliath) -> None:
    assert goliath("tools", "check", "-T", "demo", "--json").json["advice"] == []


def test_a_check_says_what_each_tool_costs_and_whether_it_asks(goliath) -> None:
    ran = goliath("tools", "check", "-T", "demo")
    assert ran.out.splitlines()[0].startswith("list_tasks: sound, reads, about ")
    assert "create_task: sound, asks first, about " in ran.out
    assert goliath("tools", "check", "-T", "demo", "--json").json["tokens"]["list_tasks"] > 5
