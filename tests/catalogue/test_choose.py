"""What `default` means: the order, and the reason that is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.catalogue import (
    Machine,
    cards,
    choose_default,
    choose_default_installed,
    find_card,
    verify_fits,
    write_chosen,
)
from goliath_local.catalogue.choose import (
    Answer,
    choose_installed,
    choose_to_fetch,
    largest_that_fits,
)
from goliath_local.catalogue.folder import open_folder
from goliath_local.errors import FetchError, MachineError, NoModel
from tests.catalogue import server
from tests.catalogue.server import serving

if TYPE_CHECKING:
    from pathlib import Path

GIB = 1 << 30
HUB = Answer(source="the hub (huggingface.co)")
INDEX = Answer(source="the package index", reasons=("huggingface.co does not answer",))
NOBODY = Answer(source=None, reasons=("huggingface.co does not answer",))
SMALL, MIDDLE = "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"


def installed(names: set[str], chosen: str | None = None) -> Any:
    return choose_installed(cards(), installed=names, chosen=chosen)


def test_the_model_chosen_before_wins_over_a_better_one() -> None:
    choice = installed({SMALL, MIDDLE}, chosen=SMALL)
    assert choice.card.name == SMALL
    assert choice.reason == "qwen2.5-coder-0.5b, as chosen before."
    assert choice.installed


def test_a_chosen_model_that_is_gone_is_forgotten() -> None:
    choice = installed({SMALL, MIDDLE}, chosen="smollm3-3b")
    assert choice.reason == "qwen2.5-coder-1.5b, which is the best of 2 installed models."


def test_a_single_installed_model_is_taken() -> None:
    assert installed({SMALL}).reason == "qwen2.5-coder-0.5b, which is installed here."


def test_the_tests_model_is_never_the_default() -> None:
    assert installed({"smollm2-135m"}) is None
    assert largest_that_fits(cards(), available_bytes=10**9 // 2) is None


def fetched(answers: dict[str, Answer], gib: float = 16) -> Any:
    return choose_to_fetch(cards(), available_bytes=int(gib * GIB), answers=answers)


def test_the_default_is_taken_where_the_hub_answers_and_memory_suffices() -> None:
    choice = fetched({"granite-4.0-micro": HUB})
    assert choice.reason == (
        "granite-4.0-micro, the default: the hub (huggingface.co) answers, and memory suffices "
        "(needs about 2.5 GiB, 16.0 GiB is free)."
    )
    assert not choice.installed


def test_without_the_hub_the_largest_of_the_package_index_is_taken() -> None:
    choice = fetched({"granite-4.0-micro": NOBODY, "smollm3-3b": NOBODY, MIDDLE: INDEX})
    assert choice.card.name == MIDDLE
    assert choice.reason == (
        "qwen2.5-coder-1.5b, the largest model that can be had here and fits (needs about 1.3 "
        "GiB, 16.0 GiB is free): huggingface.co does not answer, so granite-4.0-micro and "
        "smollm3-3b cannot be had; the package index has it."
    )


def test_little_memory_takes_a_smaller_model_and_says_so() -> None:
    choice = fetched({SMALL: HUB}, gib=1)
    assert choice.card.name == SMALL
    assert "granite-4.0-micro, smollm3-3b and qwen2.5-coder-1.5b would not fit" in choice.reason


def test_too_little_memory_for_any_is_an_error_with_figures() -> None:
    with pytest.raises(MachineError, match=r"0\.5 GiB of memory is free.*needs about 0\.7 GiB"):
        fetched({}, gib=0.5)


def test_no_source_at_all_names_what_was_tried_once() -> None:
    with pytest.raises(FetchError) as caught:
        fetched(dict.fromkeys(("granite-4.0-micro", "smollm3-3b", MIDDLE, SMALL), NOBODY))
    assert str(caught.value).count("huggingface.co does not answer") == 1


def test_memory_that_does_not_suffice_is_told_with_both_figures() -> None:
    verify_fits("big", need_bytes=GIB, available_bytes=GIB, smaller=None)
    with pytest.raises(MachineError) as caught:
        verify_fits("big", need_bytes=26 * GIB // 10, available_bytes=GIB, smaller=SMALL)
    assert str(caught.value) == (
        "big needs about 2.6 GiB, 1.0 GiB is free. Close programs, or use -m qwen2.5-coder-0.5b."
    )


MACHINE = Machine(total_bytes=16 * GIB, available_bytes=12 * GIB, cores=2)


def test_an_installed_model_is_the_default_without_asking_anyone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = find_card(SMALL)
    place = open_folder(folder)
    with (place / card.file).open("wb") as file:
        file.truncate(card.size_bytes)
    with serving(b"") as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        choice = choose_default(folder, machine=MACHINE)
        assert choice.card == card
        write_chosen(place, SMALL)
        assert choose_default(folder, machine=MACHINE).reason.endswith("as chosen before.")
        assert hub.seen == []


def test_a_damaged_file_does_not_count_as_installed(folder: Path) -> None:
    place = open_folder(folder)
    (place / find_card(SMALL).file).write_bytes(b"cut")
    assert choose_default_installed(folder) is None


def test_a_hub_that_answers_gives_the_default(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(b"") as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        choice = choose_default(folder, machine=MACHINE)
        assert choice.card.name == "granite-4.0-micro"
        assert [request.method for request in hub.seen] == ["HEAD"]


@pytest.mark.slow
def test_a_silent_hub_is_asked_once_for_all_models(
    folder: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(b"") as hub:
        hub.head = server.status(503)
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        with pytest.raises(FetchError, match=r"127\.0\.0\.1 answers 503") as caught:
            choose_default(folder, machine=MACHINE)
        assert len(hub.seen) == 1
    assert "the package index has no" in str(caught.value)


def test_offline_without_a_model_says_how_to_get_one(folder: Path) -> None:
    with pytest.raises(NoModel) as caught:
        choose_default(folder, offline=True, machine=MACHINE)
    assert str(caught.value) == (
        "No model is installed. Get the default (2.1 GB): goliath-local models pull default\n"
        f"Looked in: {folder}"
    )
