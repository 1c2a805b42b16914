from __future__ import annotations

import math

from goliath_local.bench import deviation, differ, mean, median, outer_thirds, ratio


def test_figures_of_nothing_are_nothing_and_not_an_error() -> None:
    assert (mean(()), deviation(()), median(())) == (0.0, 0.0, 0.0)


def test_one_sample_has_no_deviation() -> None:
    assert deviation((3.0,)) == 0.0


def test_the_deviation_is_that_of_a_sample_as_llama_bench_prints_it() -> None:
    assert math.isclose(deviation((1.0, 2.0, 3.0)), 1.0)


def test_the_outer_thirds_are_the_beginning_and_the_end() -> None:
    assert outer_thirds([1, 2, 3, 4, 5, 6, 7]) == ((1, 2), (6, 7))
    assert outer_thirds([1, 2]) == ((), ())


def test_a_ratio_over_nothing_is_infinite() -> None:
    assert ratio(1.0, 0.0) == math.inf


def test_means_within_the_noise_do_not_differ() -> None:
    assert not differ((10.0, 12.0, 8.0), (11.0, 9.0, 12.5))


def test_means_far_outside_the_noise_differ() -> None:
    assert differ((10.0, 10.1, 9.9), (12.0, 12.1, 11.9))


def test_one_percent_is_no_difference_however_steady() -> None:
    assert not differ((10.0, 10.0, 10.0), (10.1, 10.1, 10.1))


def test_a_single_sample_borrows_the_spread_of_the_other_side() -> None:
    assert not differ((10.0, 14.0, 6.0), (12.0,))
    assert differ((10.0, 10.1, 9.9), (12.0,))
