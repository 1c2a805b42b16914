"""Settings outside their range are refused before llama.cpp sees them (F7)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.engine.settings import EngineSettings, verify_real, verify_settings
from goliath_local.errors import ConfigError

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
    ("deterministic", 1),
    ("fresh", "yes"),
    ("wait", 0),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_value_out_of_range_is_refused_by_name_with_the_allowed_range(name: str, value: Any):
    with pytest.raises(ConfigError, match=rf"{name} is .*; it must be .+\.$"):
        verify_settings(replace(EngineSettings(), **{name: value}), cpus=8)


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
