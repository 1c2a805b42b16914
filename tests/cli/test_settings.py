"""Where settings come from, and what is refused."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from goliath_local.cli.settings import Settings, load_settings
from goliath_local.errors import ConfigError
from tests.conftest import Ran


@pytest.fixture
def config(home: Path) -> Path:
    path = home / ".config" / "goliath-local" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def test_the_defaults_need_no_file(home: Path) -> None:
    assert load_settings({}, environ={}) == Settings(origin={})


def test_a_flag_beats_the_environment_beats_the_project_beats_the_user(config: Path) -> None:
    config.write_text('model = "user"\nmax_steps = 2\nseed = 7\nsteps = "off"\n')
    Path("goliath.toml").write_text('model = "project"\nmax_steps = 3\nseed = 8\n')
    environ = {"GOLIATH_MODEL": "environment", "GOLIATH_MAX_STEPS": "4"}
    found = load_settings({"model": "flag"}, environ=environ)
    assert (found.model, found.max_steps, found.seed, found.steps) == ("flag", 4, 8, "off")
    assert found.origin == {
        "model": "--model",
        "max_steps": "GOLIATH_MAX_STEPS",
        "seed": "goliath.toml:3",
        "steps": "config.toml:4",
    }


def test_an_unknown_key_is_refused_with_its_line_and_a_suggestion(config: Path) -> None:
    config.write_text('# mine\nmodel = "x"\ntheads = 4\n')
    with pytest.raises(
        ConfigError, match=r'^config.toml:3 unknown key "theads". Did you mean "threads"'
    ):
        load_settings({}, environ={})


def test_a_misspelt_variable_is_refused_and_a_foreign_one_is_not(home: Path) -> None:
    with pytest.raises(ConfigError, match=r'"GOLIATH_THEADS".*"GOLIATH_THREADS"'):
        load_settings({}, environ={"GOLIATH_THEADS": "4"})
    load_settings({}, environ={"GOLIATH_X11_BRIDGE_PORT": "4"})


@pytest.mark.parametrize(
    "line",
    [
        'allow = ["send"]',
        "yes = true",
        'fallback = "http://x"',
        'tools = "a.py"',
        'models_dir = "m"',
    ],
)
def test_a_project_cannot_loosen_approvals(home: Path, line: str) -> None:
    Path("goliath.toml").write_text(f"\n{line}\n")
    with pytest.raises(ConfigError, match=r"^goliath.toml:2: .*loosen approvals"):
        load_settings({}, environ={})


def test_the_user_may_loosen_approvals(config: Path) -> None:
    config.write_text('allow = ["create_task"]\n')
    assert load_settings({}, environ={}).allow == ("create_task",)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("threads", "many", "GOLIATH_THREADS: 'many' cannot be used"),
        ("threads", "0", "Give a whole number of CPU threads, 1 or more"),
        ("seed", "-1", "from 0 to 4294967295"),
        ("timeout", "nan", "a number of seconds above 0"),
        ("color", "blue", "Give auto, always or never"),
        ("window", "8192", "fixed at 4,096"),
        ("gpu_layers", "some", "cannot be used"),
    ],
)
def test_a_value_out_of_range_says_where_it_stood_and_what_is_allowed(
    home, key, value, says
) -> None:
    with pytest.raises(ConfigError, match=says):
        load_settings({}, environ={f"GOLIATH_{key.upper()}": value})


def test_more_threads_than_processors_are_refused_with_their_number(home: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"--threads: 10000 threads, but this machine has \d+ CPUs"
    ):
        load_settings({"threads": 10_000}, environ={})


def test_a_list_in_the_environment_is_separated_by_commas(home: Path) -> None:
    assert load_settings({}, environ={"GOLIATH_ALLOW": "a, b"}).allow == ("a", "b")


def test_a_broken_file_names_its_place(config: Path) -> None:
    config.write_text("model = \n")
    with pytest.raises(ConfigError, match=r"config.toml is not TOML: .*line 1"):
        load_settings({}, environ={})
    config.write_bytes(b'model = "\xff"\n')
    with pytest.raises(ConfigError, match="not UTF-8: byte 9"):
        load_settings({}, environ={})


def test_a_file_with_a_byte_order_mark_is_read(config: Path) -> None:
    config.write_bytes(b'\xef\xbb\xbfmodel = "x"\n')
    assert load_settings({}, environ={}).model == "x"


def test_a_chosen_config_file_that_is_missing_is_an_error(home: Path) -> None:
    with pytest.raises(ConfigError, match=r"There is no file nowhere.toml"):
        load_settings({}, config_file=Path("nowhere.toml"), environ={})


def test_a_config_file_that_cannot_be_replaced_stays_as_it_was(
    goliath: Callable[..., Ran], config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("threads = 1\n")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)
    ran = goliath("config", "init", "--force")
    assert (ran.code, config.read_text()) == (5, "threads = 1\n")
    assert "No space left" in ran.last_error_line
    assert [path.name for path in config.parent.iterdir()] == ["config.toml"]
