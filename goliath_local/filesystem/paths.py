"""One spelling for a virtual path, and what a virtual file may hold.

Pure. A path starts with `/`, has no empty, `.` or `..` segment, no backslash and no control
character; nothing else is special in it. Source: behaviour spec, section 8.1.
"""

from __future__ import annotations

import re

from goliath_local.errors import FileError, NotText

MAX_PATH_CHARS = 512
MAX_FILE_BYTES = 1_048_576

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def virtual_path(text: object) -> str:
    """Return the one spelling of a path; `/` for the root.

    Raises:
        FileError: it is not a virtual path.
    """
    if not isinstance(text, str):
        raise FileError(repr(text), "a path is a text such as /notes/a.md.")
    if problem := _problem(text):
        raise FileError(text.encode("unicode_escape").decode("ascii"), problem)
    segments = [segment for segment in text.split("/") if segment]
    if "." in segments or ".." in segments:
        raise FileError(text, "a path has no . or .. in it. Write it out from /.")
    return "/" + "/".join(segments)


def file_path(text: object) -> str:
    """Return the one spelling of a path that names a file, so not `/`.

    Raises:
        FileError: it is not a virtual path, or it is the root.
    """
    path = virtual_path(text)
    if path == "/":
        raise FileError(path, "that is the root folder. Name a file, such as /notes/a.md.")
    return path


def within(path: str, root: str) -> bool:
    """Return whether the path is the root or lies below it; `/notes2` is not in `/notes`."""
    return root in {"/", path} or path.startswith(root + "/")


def confined(path: str, root: str) -> str:
    """Return the path.

    Raises:
        FileError: it is not within the root.
    """
    if not within(path, root):
        raise FileError(path, f"only files under {root} can be reached.")
    return path


def file_text(path: str, content: object) -> str:
    """Return the content of a file.

    Raises:
        NotText: it is not text, or over 1 MiB as UTF-8.
    """
    if not isinstance(content, str):
        raise NotText(path, "the content is not text.")
    try:
        size_bytes = len(content.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise NotText(path, f"character {error.start + 1} is not valid Unicode.") from error
    if size_bytes > MAX_FILE_BYTES:
        reason = f"it would be {size_bytes:,} bytes; a file has at most {MAX_FILE_BYTES:,}."
        raise NotText(path, f"{reason} Split it.")
    return content


def _problem(text: str) -> str | None:
    if not text.startswith("/"):
        return "a path starts with /, for example /notes/a.md."
    if len(text) > MAX_PATH_CHARS:
        return f"the path is {len(text):,} characters; at most {MAX_PATH_CHARS} are possible."
    if "\\" in text:
        return "a path has no backslash. Separate folders with /."
    if _CONTROL.search(text):
        return "a path has no control characters. Leave them out."
    if any("\ud800" <= char <= "\udfff" for char in text):
        return "the path is not valid Unicode."
    return None
