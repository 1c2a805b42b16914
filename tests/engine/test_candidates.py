"""The likeliest tokens, best first."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.engine.candidates import WALKED, best_first, ranked
from goliath_local.engine.constraint import FreeText
from goliath_local.engine.vocabulary import Vocabulary


@given(st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=2000), st.integers(1, 300))
def test_ranked_ids_are_those_of_a_stable_sort(values: list[float], most: int):
    logits = np.array(values, dtype=np.float32)
    expected = sorted(range(len(values)), key=lambda token: (-logits[token], token))[:most]
    assert ranked(logits, most).tolist() == expected


def test_minus_infinity_does_not_hide_the_rest():
    logits = np.array([-np.inf, 1.0, -np.inf, 0.0], dtype=np.float32)
    assert ranked(logits, 4).tolist() == [1, 3, 0, 2]


def test_every_id_that_can_begin_to_fit_comes_in_the_end():
    rng = np.random.default_rng(1)
    logits = rng.normal(size=1000).astype(np.float32)
    vocabulary = Vocabulary([bytes([65 + n % 26]) for n in range(999)] + [b""], [999])
    ids = list(best_first(logits, FreeText(), vocabulary))
    assert len(ids) == len(set(ids))
    assert set(range(999)) <= set(ids)
    assert ids[:WALKED] == ranked(logits, WALKED).tolist()


def test_but_for_the_best_only_ids_that_begin_right_are_tried():
    from goliath_local.grammar import compile_schema

    logits = np.zeros(2000, dtype=np.float32)
    logits[1500] = -5.0
    vocabulary = Vocabulary([b"x"] * 1500 + [b'"'] + [b"y"] * 499, [])
    place = compile_schema({"type": "string"}).matcher()
    ids = list(best_first(logits, place, vocabulary))
    assert ids == [0, 1500]
