"""What notes are called, which one is meant, which ones match: over texts, without a disk.

Pure.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import TYPE_CHECKING

from goliath_local.budget import clip

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_NAME_BYTES = 200
_LINE_CHARACTERS = 100
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]+')
_BULLET = re.compile(r"\s*([-*+] (?:\[[ xX]\] )?)")
_NAMED = 5


def file_name(title: str) -> str:
    """Return the name of a new note's file, sound on every common file system.

    Raises:
        ValueError: nothing is left of the title, or it is too long.
    """
    plain = unicodedata.normalize("NFC", _NOT_IN_NAMES.sub(" ", title))
    name = " ".join(plain.split()).strip(". ")
    if not name:
        raise ValueError("The note has no title. Give it one, a few words are enough.")
    if len(name.encode()) > MAX_NAME_BYTES:
        raise ValueError("The title is too long for a file name. Use fewer words.")
    return f"{name}.md"


def meant(title: str, titles: Sequence[str]) -> str | None:
    """Return the note that is meant: of that title, else the only one that contains it."""
    wanted = _key(title)
    same = [one for one in titles if _key(one) == wanted]
    # A note in a folder can be named without the folder.
    same = same or [one for one in titles if _key(one.rpartition("/")[2]) == wanted]
    near = same or [one for one in titles if wanted and wanted in _key(one)]
    return near[0] if len(near) == 1 else None


def unknown(title: str, titles: Sequence[str]) -> LookupError:
    """Return the error for a title that fits no note, or several; names some."""
    wanted = _key(title)
    near = [one for one in titles if wanted and wanted in _key(one)]
    near = near or difflib.get_close_matches(title, titles, n=_NAMED, cutoff=0.4)
    near = near or list(titles)
    listed = ", ".join(near[:_NAMED]) or "none"
    more = ", …" if len(near) > _NAMED else ""
    return LookupError(f'No single note is called "{title}". There are: {listed}{more}.')


def match(words: Sequence[str], title: str, text: str) -> tuple[int, str]:
    """Return how well a note matches, 0 for not at all, and its line that matches best."""
    low_title, lines = title.casefold(), text.splitlines()
    in_title = sum(word in low_title for word in words)
    counts = [sum(word in line.casefold() for word in words) for line in lines]
    found = {word for word in words if word in low_title or word in text.casefold()}
    if not found:
        return 0, ""
    best = max(range(len(lines)), key=lambda n: counts[n], default=None)
    line = lines[best] if best is not None and counts[best] else ""
    # Words that are there at all count most, then those of the title.
    return 100 * len(found) + 10 * in_title + max(counts, default=0), clip(
        line.strip("#-*> \t"), _LINE_CHARACTERS
    )


def search_words(text: str) -> list[str]:
    """Return the words that are looked for, in small letters, each once."""
    return list(dict.fromkeys(re.findall(r"\w+", text.casefold())))


def joined(tail: str, text: str) -> str:
    """Return what is written behind a note that ends like that; a list goes on as a list."""
    last = next((line for line in reversed(tail.splitlines()) if line.strip()), "")
    bullet = _BULLET.match(last)
    new = text.strip()
    if bullet and "\n" not in new and not _BULLET.match(new):
        new = bullet.group(1).replace("[x]", "[ ]").replace("[X]", "[ ]") + new
    is_list = bullet is not None and _BULLET.match(new) is not None
    gap = "" if tail.endswith("\n") or not tail else "\n"
    return f"{gap}{'' if is_list or not tail.strip() else chr(10)}{new}\n"


def _key(title: str) -> str:
    plain = unicodedata.normalize("NFC", title).casefold().strip().removesuffix(".md")
    return " ".join(plain.split())
