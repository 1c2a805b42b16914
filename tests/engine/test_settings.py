"""Settings outside their range are refused before llama.cpp sees them (F7)."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.engine.settings import EngineSettings, verify_real, verify_settings
from goliath_local.errors import ConfigError
from tests.levers import first_seed, many

BAD = [
    *(
        ("window_tokens", n)
        for n in (0, -1, 1, 4095, 8192, 2**31 - 1, 2**63, "4096", True, 4096.0)
    ),
    *(("threads", n) for n in (0, -3, 10**4, True, 2.0, "2")),
    *(("batch_tokens", n) for n in (0, 31, 2**31, -1, None)),
    *(("gpu_layers", n) for n in (-2, 2**31, "some", None, 1.5)),
    *(("seed", n) for n in (-2, 2**32, 1.0, "0")),
    *(("top_k", n) for n in (0, 257)),
    *(("top_p", n) for n in (0, 1.5, -0.1, math.nan, math.inf, "1")),
    *(("flash_attention", n) for n in (7, None, "on")),
    ("snapshot_memory_bytes", -1),
    ("use_mmap", "no"),
    ("use_mmap", 1),
    ("snapshot_dir", "states"),
    ("deterministic", 1),
    ("fresh", "yes"),
    ("wait", 0),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_value_out_of_range_is_refused_by_name_with_the_allowed_range(name: str, value: Any):
    with pytest.raises(ConfigError, match=rf"{name} is .*; it must be .+\.$"):
        verify_settings(replace(EngineSettings(), **{name: value}), cpus=8)


ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 3.0, 0.5, 1.5, -0.0, math.nan, math.inf, "", "4096", "auto"),
    *("all", 4096, 4095, 32, 512, 2048, 2049, 8, 9, 2**31, 2**32 - 1, 2**32, 2**63, -(2**63)),
    *(10_000, 10_001, 256, 257, b"1", [], {}, (1,), 1j),
]
"""What a program may hand over by mistake, sound values among it."""


def whole(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


SOUND = {
    "window_tokens": lambda v: whole(v, 4096, 4096),
    "threads": lambda v: v is None or whole(v, 1, 8),
    "batch_tokens": lambda v: whole(v, 32, 2048),
    "gpu_layers": lambda v: v in ("auto", "all") or whole(v, 0, 10_000),
    "flash_attention": lambda v: isinstance(v, bool),
    "use_mmap": lambda v: v is None or isinstance(v, bool),
    "seed": lambda v: v is None or whole(v, 0, 2**32 - 1),
    "top_k": lambda v: whole(v, 1, 256),
    "top_p": lambda v: type(v) in (int, float) and 0 < v <= 1,
    "deterministic": lambda v: isinstance(v, bool),
    "fresh": lambda v: isinstance(v, bool),
    "wait": lambda v: isinstance(v, bool),
    "snapshot_memory_bytes": lambda v: v is None or whole(v, 0, 1 << 40),
    "snapshot_dir": lambda v: v is None,
}


def test_records_of_odd_values_are_accepted_exactly_when_all_are_in_range():
    chance, accepted, count = random.Random(first_seed(7)), 0, many(5_000)
    for _ in range(count):
        names = chance.sample(list(SOUND), chance.randint(1, 4))
        odd = {name: chance.choice(ODD) for name in names}
        settings = replace(EngineSettings(), **odd)
        is_sound = all(SOUND[name](value) for name, value in odd.items()) and not (
            settings.deterministic and settings.flash_attention
        )
        assert is_accepted(settings) == is_sound, odd
        accepted += is_sound
    assert accepted > count / 50


def is_accepted(settings: EngineSettings) -> bool:
    try:
        verify_settings(settings, cpus=8)
    except ConfigError:
        return False
    return True


def test_what_comes_without_asking_is_allowed():
    verify_settings(EngineSettings(), cpus=1)
    verify_settings(EngineSettings(threads=8, seed=2**32 - 1, gpu_layers="all", top_p=1), cpus=8)


def test_more_threads_than_processors_are_refused_with_their_number():
    with pytest.raises(ConfigError, match="this machine has 2 CPUs"):
        verify_settings(EngineSettings(threads=3), cpus=2)


def test_the_deterministic_profile_has_no_flash_attention():
    with pytest.raises(ConfigError, match="deterministic"):
        verify_settings(EngineSettings(deterministic=True, flash_attention=True), cpus=2)


@given(value=st.one_of(st.floats(), st.integers(), st.text(), st.none(), st.booleans()))
def test_a_temperature_is_a_number_in_range_or_refused(value: Any):
    sound = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 10
    if sound:
        verify_real("temperature", value, 0.0, 10.0)
    else:
        with pytest.raises(ConfigError, match="temperature"):
            verify_real("temperature", value, 0.0, 10.0)
