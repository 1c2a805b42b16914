"""The GGUF header reader: what it reads, and in which words it refuses."""

from __future__ import annotations

import hashlib
import os
import random
import struct
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.catalogue import GgufHeader, find_card, read_gguf_header
from goliath_local.catalogue.gguf import SkippedArray
from goliath_local.errors import BadModelFile, ModelFileError, NoModel
from tests.catalogue import maker
from tests.catalogue.maker import ARRAY, STRING, U32, entry, gguf, strings, tensor, text

if TYPE_CHECKING:
    from pathlib import Path


def read(tmp_path: Path, data: bytes) -> GgufHeader:
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    return read_gguf_header(path)


def refusal(tmp_path: Path, data: bytes) -> str:
    with pytest.raises(BadModelFile) as caught:
        read(tmp_path, data)
    return str(caught.value)


def test_a_sound_file_says_what_it_is(tmp_path: Path) -> None:
    header = read(tmp_path, gguf())
    assert header.version == 3
    assert header.architecture == "llama"
    assert header.trained_window_tokens == 8192
    assert header.kv_bytes_per_token == 3 * 3 * 64 * 2 * 2
    assert header.vocabulary_size == 2000
    assert header.chat_template == "{{ messages }}"
    assert header.template_sha256 == hashlib.sha256(b"{{ messages }}").hexdigest()
    assert header.metadata["general.languages"] == ("en", "de")
    assert [t.size_bytes for t in header.tensors] == [64 * 300 // 32 * 18, 128]
    assert header.data_offset_bytes + maker.DATA_BYTES == header.file_bytes


def test_long_arrays_are_walked_over_and_not_kept(tmp_path: Path) -> None:
    scores = read(tmp_path, gguf()).metadata["tokenizer.ggml.scores"]
    assert isinstance(scores, SkippedArray)
    assert scores.count == 2000


def test_kv_heads_may_be_given_layer_by_layer(tmp_path: Path) -> None:
    metadata = (
        *maker.METADATA[:6],
        entry("llama.attention.head_count_kv", ARRAY, maker.numbers(U32, "I", [1, 0, 3])),
    )
    assert read(tmp_path, gguf(metadata=metadata)).kv_bytes_per_token == 4 * 64 * 2 * 2


def test_a_file_that_does_not_say_gives_none(tmp_path: Path) -> None:
    header = read(tmp_path, gguf(metadata=()))
    assert (header.architecture, header.trained_window_tokens) == ("", None)
    assert (header.kv_bytes_per_token, header.chat_template, header.vocabulary_size) == (
        None,
        None,
        None,
    )


def test_version_two_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, gguf(version=2)).version == 2


def test_an_empty_file_is_called_one(tmp_path: Path) -> None:
    assert refusal(tmp_path, b"") == "model.gguf is an empty file. Get the file again."


def test_a_web_page_is_called_one(tmp_path: Path) -> None:
    assert refusal(tmp_path, b"<html lang='en'><body>Log in</body></html>") == (
        'model.gguf starts with "<html": a web page, not a model. Was it saved from a login page?'
    )


def test_a_doctype_after_blanks_is_a_web_page_too(tmp_path: Path) -> None:
    assert 'starts with "<!DOCTYPE": a web page' in refusal(tmp_path, b"\n  <!DOCTYPE html>\n")


def test_a_git_lfs_pointer_is_called_one(tmp_path: Path) -> None:
    assert "is a Git LFS pointer" in refusal(
        tmp_path, b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n"
    )


def test_another_beginning_is_shown_without_its_control_characters(tmp_path: Path) -> None:
    said = refusal(tmp_path, b"\x1b[2J" + bytes(100))
    assert said.startswith('model.gguf starts with "?[2J" where a model starts with "GGUF"')


def test_a_directory_is_called_one(tmp_path: Path) -> None:
    with pytest.raises(BadModelFile, match="is a directory, not a model file"):
        read_gguf_header(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a POSIX thing")
def test_a_named_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    with pytest.raises(BadModelFile, match="is not a regular file"):
        read_gguf_header(pipe)


def test_a_missing_file_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(NoModel, match=r"There is no file .*gone\.gguf"):
        read_gguf_header(tmp_path / "gone.gguf")


def test_a_file_cut_inside_its_tensors_says_how_much_is_missing(tmp_path: Path) -> None:
    whole = gguf()
    said = refusal(tmp_path, whole[:-1000])
    assert f"has {len(whole) - 1000:,} bytes and its tensors need {len(whole):,}" in said


@pytest.mark.parametrize("keep", [3, 5, 12, 24, 100, 9_000])
def test_a_file_cut_inside_its_header_is_called_cut_short(tmp_path: Path, keep: int) -> None:
    said = refusal(tmp_path, gguf()[:keep])
    assert "is cut short" in said or "starts with" in said


@pytest.mark.parametrize("version", [0, 1, 4, 2**31])
def test_other_versions_are_refused_by_number(tmp_path: Path, version: int) -> None:
    assert f"is GGUF version {version}" in refusal(tmp_path, gguf(version=version))


def test_a_big_endian_file_is_called_one(tmp_path: Path) -> None:
    assert "is a big-endian GGUF" in refusal(tmp_path, gguf(version=3 << 24))


SILLY = {
    "tensor count": gguf(counts=(2**40, 1)),
    "metadata count": gguf(counts=(1, 2**63)),
    "string length": gguf(metadata=(entry("a", STRING, struct.pack("<Q", 2**62)),)),
    "string over 1 MiB": gguf(metadata=(entry("a", STRING, text(b"x" * (2**20 + 1))),)),
    "array length": gguf(metadata=(entry("a", ARRAY, struct.pack("<IQ", 0, 2**22 + 1)),)),
    "array of arrays": gguf(metadata=(entry("a", ARRAY, struct.pack("<IQ", ARRAY, 1)),)),
    "value type": gguf(metadata=(entry("a", 77, b""),)),
    "key twice": gguf(metadata=(entry("a", 7, b"\1"), entry("a", 7, b"\1"))),
    "blank key": gguf(metadata=(entry("", 7, b"\1"),)),
    "key not UTF-8": gguf(metadata=(text(b"\xff") + struct.pack("<I", 7) + b"\1",)),
    "alignment": gguf(
        metadata=(entry("general.alignment", U32, struct.pack("<I", 8192)),), tensors=()
    ),
    "alignment zero": gguf(metadata=(entry("general.alignment", U32, bytes(4)),)),
    "alignment as text": gguf(metadata=(entry("general.alignment", STRING, text("32")),)),
    "alignment as bool": gguf(metadata=(entry("general.alignment", 7, b"\1"),)),
    "no dimensions": gguf(tensors=(tensor("a", (), 0, 0),)),
    "nine dimensions": gguf(tensors=(tensor("a", (1,) * 9, 0, 0),)),
    "overflowing shape": gguf(tensors=(tensor("a", (2**62, 2**62), 0, 0),)),
    "empty shape": gguf(tensors=(tensor("a", (0, 5), 0, 0),)),
    "broken block": gguf(tensors=(tensor("a", (33,), 2, 0),)),
    "unknown type": gguf(tensors=(tensor("a", (32,), 4711, 0),)),
    "withdrawn type": gguf(tensors=(tensor("a", (32,), 4, 0),)),
    "tensor twice": gguf(tensors=(tensor("a", (32,), 0, 0), tensor("a", (32,), 0, 128))),
    "odd offset": gguf(tensors=(tensor("a", (32,), 0, 3),)),
    "offset far away": gguf(tensors=(tensor("a", (32,), 0, 2**63),)),
}


@pytest.mark.parametrize("case", SILLY)
def test_a_silly_header_is_refused_quickly_and_in_words(tmp_path: Path, case: str) -> None:
    begin = time.perf_counter()
    said = refusal(tmp_path, SILLY[case])
    assert time.perf_counter() - begin < 20  # a hang, not a speed
    assert said.startswith("model.gguf ")
    assert said.endswith((".", "?"))


def test_many_long_texts_together_are_refused(tmp_path: Path) -> None:
    million = text(b"x" * 2**20)
    metadata = tuple(entry(f"k{n}", STRING, million) for n in range(17))
    assert "is damaged" in refusal(tmp_path, gguf(metadata=metadata))


def test_a_vocabulary_of_200_000_tokens_costs_little_memory(tmp_path: Path) -> None:
    tokens = entry("tokenizer.ggml.tokens", ARRAY, strings([f"token{n}" for n in range(200_000)]))
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(metadata=(*maker.METADATA[:7], tokens)))
    tracemalloc.start()
    header = read_gguf_header(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert header.vocabulary_size == 200_000
    assert peak < 8 << 20


def mutate(data: bytes, chance: random.Random, *, head_bytes: int = 700) -> bytes:
    """Damage a file in one of the ways files are damaged, mostly in its first bytes."""
    body = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(body) if chance.random() < 0.2 else min(len(body), head_bytes))
        match chance.randrange(6):
            case 0:
                body[at] ^= 1 << chance.randrange(8)
            case 1:
                body[at : at + 8] = struct.pack("<Q", chance.choice(ODD))
            case 2:
                body[at : at + chance.randint(1, 200)] = bytes(chance.randint(1, 200))
            case 3:
                del body[at : at + chance.randint(1, 64)]
            case 4:
                body = body[: chance.randrange(1, len(body) + 1)]
            case _:
                other = chance.randrange(len(body))
                body[at : at + 32] = body[other : other + 32]
        if not body:
            return b""
    return bytes(body)


MUTATED = int(os.environ.get("GOLIATH_TEST_EXAMPLES", "20000"))
MUTATED_REAL = int(os.environ.get("GOLIATH_TEST_EXAMPLES", "200"))
SEED = int(os.environ.get("GOLIATH_TEST_SEED", "2"))
ODD = (0, 1, 2**16, 2**20, 2**22, 2**31, 2**32 - 1, 2**53, 2**63, 2**64 - 1)


def verdict(path: Path) -> str:
    """Read; anything but a header or our own refusal fails the test."""
    try:
        read_gguf_header(path)
    except ModelFileError as error:
        return "refused" if str(error).strip() else "refused without a word"
    return "sound"


def trial(
    tmp_path: Path,
    *,
    count: int,
    seed: int,
    seeds: tuple[bytes, ...] = (gguf(), gguf(tensors=(), data_bytes=0)),
    head_bytes: int = 700,
    hole_bytes: int = 0,
) -> dict[str, int]:
    chance = random.Random(seed)
    path, found = tmp_path / "m.gguf", {"sound": 0, "refused": 0}
    slowest = 0.0
    for _ in range(count):
        # A new file each time: what replaces the bytes of an old one, ext4 writes to the disk.
        path.unlink(missing_ok=True)
        path.write_bytes(mutate(chance.choice(seeds), chance, head_bytes=head_bytes))
        if hole_bytes:  # the place of the weights, which no reader of headers looks at
            os.truncate(path, path.stat().st_size + hole_bytes)
        begin = time.process_time()
        found[verdict(path)] += 1
        slowest = max(slowest, time.process_time() - begin)
    assert slowest < 20  # a hang, not a speed
    return found


def test_mutated_files_are_read_or_refused_and_nothing_else(tmp_path: Path) -> None:
    found = trial(tmp_path, count=300, seed=1)
    assert found["sound"] > 4
    assert found["refused"] > 80


@pytest.mark.slow
def test_twenty_thousand_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    found = trial(tmp_path, count=MUTATED, seed=SEED)
    assert set(found) == {"sound", "refused"}
    assert sum(found.values()) == MUTATED


@pytest.mark.model
@pytest.mark.slow
def test_mutated_headers_of_a_real_model_are_read_or_refused(tmp_path: Path, weights) -> None:
    path = weights("smollm2-135m")
    whole_bytes, data_bytes = path.stat().st_size, read_gguf_header(path).data_offset_bytes
    with path.open("rb") as file:
        seeds = (file.read(data_bytes),)
    found = {"sound": 0, "refused": 0}
    for head_bytes, seed in ((2000, SEED), (data_bytes, SEED + 1)):
        part = trial(
            tmp_path,
            count=MUTATED_REAL // 2,
            seed=seed,
            seeds=seeds,
            head_bytes=head_bytes,
            hole_bytes=whole_bytes - data_bytes,
        )
        found = {name: found[name] + part[name] for name in found}
    assert found["sound"] > 4
    assert found["refused"] > MUTATED_REAL // 10


@given(data=st.binary(max_size=400), prefix=st.sampled_from([b"", b"GGUF", gguf()[:24]]))
def test_any_bytes_are_read_or_refused(tmp_path: Path, data: bytes, prefix: bytes) -> None:
    path = tmp_path / "m.gguf"
    path.unlink(missing_ok=True)
    path.write_bytes(prefix + data)
    verdict(path)


@pytest.mark.model
@pytest.mark.parametrize("name", ["smollm2-135m", "qwen2.5-coder-0.5b"])
def test_real_files_are_as_their_cards_say(weights, name: str) -> None:
    card = find_card(name)
    begin = time.process_time()
    header = read_gguf_header(weights(name))
    assert time.process_time() - begin < 20  # a hang, not a speed
    assert header.trained_window_tokens == card.trained_window_tokens
    assert header.kv_bytes_per_token == card.kv_bytes_per_token
    assert header.template_sha256 == card.template_sha256
    last = max(t.offset_bytes + t.size_bytes for t in header.tensors)
    assert header.data_offset_bytes + last == card.size_bytes
