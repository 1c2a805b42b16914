"""Notes in a real folder: found, read, written to; nothing outside touched, nothing lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.errors import FileError, StorageError
from goliath_local.toolsets.note_text import file_name, joined
from goliath_local.toolsets.notebook import Notebook
from goliath_local.toolsets.notes import note_tools

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "garden").mkdir(parents=True)
    (folder / "Shopping list.md").write_text("# Shopping list\n\n- milk\n- bread\n")
    (folder / "garden" / "Roses.md").write_text("Cut the roses in March.\nWater weekly.\n")
    (folder / "Doctor.md").write_text("Appointment with the doctor on Monday. Bring the card.")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / ".hidden.md").write_text("a secret")
    return folder


async def use(folder: Path, name: str, **given: Any) -> str:
    tool = {tool.name: tool for tool in note_tools(folder)}[name]
    if tool.resolve_input is not None:
        given = await tool.resolve_input(given, None)
    output = await tool.execute(tool.parameters.read(given), None)
    return tool.to_model_output(output) if tool.to_model_output else output


async def test_notes_are_listed_by_title_with_their_folder(folder: Path) -> None:
    assert await use(folder, "list_notes") == "Doctor\nShopping list\ngarden/Roses"


async def test_a_new_folder_is_made_for_its_user_alone_and_is_empty(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "notes"
    assert await use(place, "list_notes") == "There are no notes yet."
    assert place.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("roses", "garden/Roses: Cut the roses in March."),
        ("MILK", "Shopping list: milk"),
        ("doctor monday", "Doctor: Appointment with the doctor on Monday. Bring the card."),
        ("garden", "garden/Roses"),
        ("secret", "No note contains that."),
        ("tulips", "No note contains that."),
    ],
)
async def test_notes_are_found_by_words_in_title_or_text(
    folder: Path, words: str, found: str
) -> None:
    assert await use(folder, "find_notes", words=words) == found


async def test_the_note_with_most_of_the_words_comes_first(folder: Path) -> None:
    (folder / "Card.md").write_text("the card")
    found = await use(folder, "find_notes", words="doctor card")
    assert [line.split(":")[0] for line in found.splitlines()] == ["Doctor", "Card"]


@pytest.mark.parametrize("title", ["Doctor", "doctor", "Doctor.md", "doc", "  DOCTOR "])
async def test_a_note_is_read_by_its_title_or_a_clear_part_of_it(folder: Path, title: str) -> None:
    assert (await use(folder, "read_note", title=title)).startswith("Appointment")


async def test_a_title_that_fits_none_or_several_is_refused_with_what_there_is(
    folder: Path,
) -> None:
    with pytest.raises(LookupError, match=r'called "taxes".*Doctor, Shopping list, garden/Roses'):
        await use(folder, "read_note", title="taxes")
    (folder / "Doctor 2.md").write_text("x")
    (folder / "My doctor.md").write_text("x")
    (folder / "Doctor.md").unlink()
    with pytest.raises(LookupError, match="There are: Doctor 2, My doctor"):
        await use(folder, "add_to_note", title="doctor", text="more")


async def test_a_note_is_written_and_its_file_is_markdown_for_its_user_alone(folder: Path) -> None:
    said = await use(folder, "write_note", title="Wi-Fi: guests/kitchen", text="ask  Ana 😀")
    assert said == '"Wi-Fi guests kitchen" is written.'
    path = folder / "Wi-Fi guests kitchen.md"
    assert path.read_text() == "# Wi-Fi guests kitchen\n\nask  Ana 😀\n"
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_note_is_never_written_over(folder: Path) -> None:
    before = (folder / "Doctor.md").read_text()
    with pytest.raises(ValueError, match=r'note "doctor" already\. Use add_to_note'):
        await use(folder, "write_note", title="doctor", text="new")
    assert (folder / "Doctor.md").read_text() == before


async def test_a_list_goes_on_as_a_list(folder: Path) -> None:
    assert await use(folder, "add_to_note", title="shopping", text="eggs") == (
        'It is added to "Shopping list".'
    )
    text = (folder / "Shopping list.md").read_text()
    assert text == "# Shopping list\n\n- milk\n- bread\n- eggs\n"


@pytest.mark.parametrize(
    ("tail", "text", "added"),
    [
        ("", "one", "one\n"),
        ("one\n", "two", "\ntwo\n"),
        ("one", "two", "\n\ntwo\n"),
        ("- a\n", "b", "- b\n"),
        ("- a", "- b", "\n- b\n"),
        ("- [x] a\n", "b", "- [ ] b\n"),
        ("* a\n\n", "b", "* b\n"),
        ("- a\n", "a line\nand another", "\na line\nand another\n"),
    ],
)
def test_what_is_added_fits_what_was_there(tail: str, text: str, added: str) -> None:
    assert joined(tail, text) == added


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("../../etc/passwd", "etc passwd.md"),
        ("a\0b\nc", "a b c.md"),
        (".hidden", "hidden.md"),
        ("C:\\temp", "C temp.md"),
        ("e\u0301", "é.md"),
    ],
)
def test_a_title_cannot_lead_elsewhere(title: str, name: str) -> None:
    assert file_name(title) == name


@pytest.mark.parametrize("title", ["", " . ", "///", "ä" * 101])
def test_a_title_that_is_no_name_is_refused(title: str) -> None:
    with pytest.raises(ValueError, match="title"):
        file_name(title)


async def test_blank_and_endless_texts_are_refused(folder: Path) -> None:
    notes = Notebook(folder)
    with pytest.raises(ValueError, match="blank"):
        await notes.create("New", "  ")
    with pytest.raises(ValueError, match="20,001 characters"):
        await notes.append("Doctor", "x" * 20_001)
    with pytest.raises(ValueError, match="no word"):
        await use(folder, "find_notes", words="?!")


async def test_no_link_leads_out_of_the_folder(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "linked").symlink_to(outside)
    assert "link" not in await use(folder, "list_notes")
    notes = Notebook(folder)
    for path in ("link.md", "linked/secret.md"):
        with pytest.raises(OSError, match=r"."):
            notes._append(path, "more")
    # A link that is put there between the look and the opening.
    (folder / "garden" / "Roses.md").unlink()
    (folder / "garden" / "Roses.md").symlink_to(outside / "secret.md")
    with pytest.raises((FileError, LookupError)):
        await notes.read("garden/Roses")
    assert (outside / "secret.md").read_text() == "secret"


async def test_what_is_no_text_is_refused_and_does_not_stop_a_search(folder: Path) -> None:
    (folder / "broken.md").write_bytes(b"\xff\xfe\x00milk")
    assert "Shopping list: milk" in await use(folder, "find_notes", words="milk")
    with pytest.raises(FileError, match="broken"):
        await use(folder, "read_note", title="broken")


def test_a_folder_that_cannot_be_made_is_an_error_with_a_cure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match=r"cannot be made: .* Name another one"):
        Notebook(tmp_path / "file" / "notes")


async def test_only_the_tools_that_write_ask_first(folder: Path) -> None:
    asks = {tool.name for tool in note_tools(folder) if tool.writes}
    assert asks == {"write_note", "add_to_note"}


async def test_two_writers_of_one_title_leave_one_whole_note(folder: Path) -> None:
    notes = Notebook(folder)
    came = await asyncio.gather(
        *(notes.create("Same", f"text {n}") for n in range(6)), return_exceptions=True
    )
    assert sum(isinstance(one, str) for one in came) == 1
    assert (folder / "Same.md").read_text().startswith("# Same\n\ntext ")
