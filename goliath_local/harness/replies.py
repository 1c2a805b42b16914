"""Reading a reply as JSON, strictly.

Pure. A reply that was cut off by its cap is simply not JSON.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goliath_local.records import Json


class NotJsonText(ValueError):
    """The text is not one JSON value."""


def read_json(text: str) -> Json:
    """Return the JSON value that the text is.

    Raises:
        NotJsonText: it is blank, not JSON, has NaN or infinities, or is nested without end.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise NotJsonText("the reply is nested too deeply") from error
    except ValueError as error:
        what = "the reply is blank" if not text.strip() else f"the reply is not JSON ({error})"
        raise NotJsonText(what) from error


def _refuse(word: str) -> Any:
    message = f"{word} is not JSON"
    raise ValueError(message)
