"""Templates of real models: golden prompts, and files that have none (user report 26, B10)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.catalogue import cards, find_card, read_gguf_header
from goliath_local.engine import EngineSettings, load_model
from goliath_local.engine.chat_template import known_templates
from goliath_local.errors import BadModelFile, ConfigError
from goliath_local.model import ExampleTurn, Part, Request, Stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goliath_local.engine import LocalModel

pytestmark = pytest.mark.model

FULL = Request(
    stage=Stage.ANSWER,
    system=(Part(name="instructions", text="Be brief."), Part(name="facts", text="\nIt rains.")),
    examples=(ExampleTurn(user="hi", assistant="hello"),),
    user=(Part(name="ask", text="Who are you?"),),
    max_tokens=4,
)
BARE = Request(
    stage=Stage.ANSWER, system=(), user=(Part(name="ask", text="Who are you?"),), max_tokens=4
)
CHATML_PROMPT = (
    "<|im_start|>system\nBe brief.\nIt rains.<|im_end|>\n"
    "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nhello<|im_end|>\n"
    "<|im_start|>user\nWho are you?<|im_end|>\n<|im_start|>assistant\n"
)
OWN_SYSTEM = {
    "smollm2-135m": "You are a helpful AI assistant named SmolLM, trained by Hugging Face",
    "qwen2.5-coder-0.5b": ("You are Qwen, created by Alibaba Cloud. You are a helpful assistant."),
}


def prompt(model: LocalModel, request: Request) -> str:
    tokenizer = model._loaded.tokenizer
    special = {token: text for text, token in tokenizer.control_texts().items()}
    return "".join(
        special[token] if token in special else tokenizer.decode((token,)).decode("latin-1")
        for part in model._lay_out(request)
        for token in part.ids
    )


@pytest.mark.parametrize("name", OWN_SYSTEM)
def test_the_prompt_of_a_known_card_is_golden(name: str, weights: Callable[[str], Path]):
    assert read_gguf_header(weights(name)).template_sha256 in known_templates()
    with load_model(weights(name), settings=EngineSettings(threads=1)) as model:
        assert prompt(model, FULL) == CHATML_PROMPT
        assert prompt(model, BARE) == (
            f"<|im_start|>system\n{OWN_SYSTEM[name]}<|im_end|>\n"
            "<|im_start|>user\nWho are you?<|im_end|>\n<|im_start|>assistant\n"
        )


def test_every_card_of_ours_that_was_read_has_the_hash_of_its_template():
    hashes = {card.name: card.template_sha256 for card in cards()}
    assert all(hashes[name] for name in ("smollm2-135m", "qwen2.5-coder-1.5b"))


def patched(weights: Path, folder: Path, changes: dict[bytes, bytes]) -> Path:
    data = weights.read_bytes()
    for old, new in changes.items():
        assert len(old) == len(new)
        assert old in data
        data = data.replace(old, new)
    path = folder / "patched.gguf"
    path.write_bytes(data)
    return path


NO_TEMPLATE = {b"tokenizer.chat_template": b"tokenizer.chat_templatX"}


@pytest.mark.slow
def test_a_file_without_a_template_gets_chatml_and_a_warning(
    weights: Callable[[str], Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    path = patched(weights("smollm2-135m"), tmp_path, NO_TEMPLATE)
    with load_model(path, settings=EngineSettings(threads=1)) as model:
        assert prompt(model, FULL) == CHATML_PROMPT
    assert "has no chat template; ChatML is used" in caplog.text
    caplog.clear()
    with load_model(path, settings=EngineSettings(chat_template="chatml")):
        assert caplog.text == ""


@pytest.mark.slow
def test_a_model_that_knows_no_chatml_needs_a_template(
    weights: Callable[[str], Path], tmp_path: Path
):
    # The token itself, not its mention in the template.
    token = b"\x0c\0\0\0\0\0\0\0<|im_start|>"
    changes = {**NO_TEMPLATE, token: token.replace(b"im_start", b"my_start")}
    path = patched(weights("smollm2-135m"), tmp_path, changes)
    with pytest.raises(BadModelFile, match=r"no chat template.*--chat-template chatml\|FILE"):
        load_model(path)
    with pytest.raises(ConfigError, match="no ChatML tokens"):
        load_model(path, settings=EngineSettings(chat_template="chatml"))
    own = "{% for m in messages %}<|my_start|>{{ m.content }}<|im_end|>{% endfor %}"
    with load_model(path, settings=EngineSettings(chat_template=own)) as model:
        assert prompt(model, BARE) == "<|my_start|>Who are you?<|im_end|>"


def test_a_template_that_cannot_be_used_stops_the_load(weights: Callable[[str], Path]):
    with pytest.raises(ConfigError, match="leaves out the system text"):
        load_model(weights("smollm2-135m"), settings=EngineSettings(chat_template="{{ 1 }}"))


# Text to ids and back (B10)

UNSPELLED = "\x04\x06\x13\x14\x16\x1d"
"""Characters that SmolLM2's vocabulary has no bytes for."""

LISTED = {
    "nothing": "",
    "NUL": "\0",
    "composed and decomposed": "é e\u0301",
    "a family": "👨\u200d👩\u200d👧\u200d👦",
    "line separator": "a\u2028b",
    "Arabic with marks": "العَرَبِيَّةُ",
    "tabs": "\t" * 4096,
    "spaces": " " * 100_000,
    "the first plane": "".join(
        letter
        for letter in map(chr, (*range(0xD800), *range(0xE000, 0x10000)))
        if letter not in UNSPELLED
    ),
}


@pytest.mark.parametrize("name", LISTED)
def test_a_text_reads_back_identical(name: str, tiny: LocalModel):
    tokenizer, text = tiny._loaded.tokenizer, LISTED[name]
    assert tokenizer.decode(tokenizer.encode(text, control=False)) == text.encode()


def test_what_a_vocabulary_cannot_spell_is_marked_and_not_left_out(tiny: LocalModel):
    tokenizer = tiny._loaded.tokenizer
    ids = tokenizer.encode("a\x04b\U00040000", control=False)
    assert tokenizer.decode(ids).decode() == "a\ufffdb\ufffd"


@given(text=st.text(st.characters(codec="utf-8").filter(lambda letter: letter not in UNSPELLED)))
def test_any_text_reads_back_identical(text: str, tiny: LocalModel):
    tokenizer = tiny._loaded.tokenizer
    ids = tokenizer.encode(text, control=False)
    assert tokenizer.decode(ids) == tokenizer.spelled(text.encode())
    if all(ord(letter) < 0x40000 for letter in text):
        assert tokenizer.decode(ids) == text.encode()
    assert tiny.count_text(text) == len(ids)


@given(text=st.text(min_size=1), cut=st.integers(0, 8), end=st.integers(0, 8))
def test_bytes_cut_inside_a_character_read_back_identical(
    text: str, cut: int, end: int, tiny: LocalModel
):
    data = tiny._loaded.tokenizer.spelled(text.encode())
    data = data[min(cut, len(data)) : max(len(data) - end, 0)]
    assert tiny._loaded.tokenizer.decode(tiny._loaded.tokenizer.encode_bytes(data)) == data


def test_the_text_of_every_token_reads_back(tiny: LocalModel):
    tokenizer = tiny._loaded.tokenizer
    whole = 0
    for piece in tokenizer.pieces:
        try:
            ids = tokenizer.encode(piece.decode(), control=False)
            whole += 1
        except UnicodeDecodeError:  # it begins or ends inside a character
            ids = tokenizer.encode_bytes(piece)
        assert tokenizer.decode(ids) == piece
    assert tokenizer.size * 0.9 < whole < tokenizer.size


@pytest.mark.slow
@pytest.mark.parametrize("letter", ["a", "\U0001f600", " ", "ab "])
def test_a_mebibyte_of_one_letter_is_counted(letter: str, tiny: LocalModel):
    text = letter * ((1 << 20) // len(letter.encode()))
    started = time.process_time()
    assert tiny.count_text(text) > 4096
    assert time.process_time() - started < 60  # a hang, not a speed


def test_cards_that_ask_for_variables_hand_them_to_the_template():
    assert find_card("smollm3-3b").template_variables == {"enable_thinking": False}
