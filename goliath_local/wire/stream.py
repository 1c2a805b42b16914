"""Server-sent events of one request, within a size. Edge: network.

Nothing is unpacked: a stream is asked for as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2

from goliath_local.errors import HttpError
from goliath_local.wire.chat import read_json
from goliath_local.wire.http import opened, whole_body
from goliath_local.wire.secrets import safe_url

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from goliath_local.records import Json

END = "[DONE]"


async def server_events(
    client: httpx2.AsyncClient,
    url: str,
    *,
    headers: Mapping[str, str],
    content: bytes,
    max_bytes: int,
) -> AsyncGenerator[str, None]:
    """Yield the data of each event up to the end; of a server that does not stream, its reply.

    Raises:
        HttpError: the answer is outside 2xx (with its status and body), or over the size.
    """
    sent = {**headers, "accept-encoding": "identity"}
    async with opened(client, "POST", url, headers=sent, content=content) as response:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status_code != 200 or kind != "text/event-stream":
            body = await whole_body(response, max_bytes=max_bytes)
            if response.status_code != 200:
                raise HttpError(safe_url(url), "", status=response.status_code, body=body)
            yield body.decode("utf-8", "replace")
            return
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise HttpError(safe_url(url), "its stream is packed, which was not asked for.")
        size_bytes = 0
        async for event in httpx2.EventSource(response):
            size_bytes += len(event.data)
            if size_bytes > max_bytes:
                raise HttpError(safe_url(url), f"its reply is over {max_bytes:,} bytes.")
            if event.data.strip() == END:
                return
            yield event.data


def read_event(url: str, data: str) -> Json:
    """Return the JSON of an event.

    Raises:
        ModelError: it is none.
        HttpError: it is the report of an error, with its status and body.
    """
    found = read_json(data)
    if isinstance(found, dict) and found.get("error"):
        error = found["error"]
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
        raise HttpError(safe_url(url), "", status=status, body=data.encode("utf-8", "replace"))
    return found
