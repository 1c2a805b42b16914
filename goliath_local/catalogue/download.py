"""Brings a web address's bytes into a part: ranged, resumed, retried, and believing nothing.

Edge: the network, through `web`. A server may cut, lie about ranges or sizes, or send a web page:
each has its own answer here, and the hash has the last word.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tenacity import RetryCallState, Retrying, retry_if_exception_type

from goliath_local.catalogue.gguf_reader import what_it_is_instead
from goliath_local.catalogue.progress import amount_of
from goliath_local.catalogue.web import Broken, ask, translated
from goliath_local.errors import BadModelFile, FetchError

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx2

    from goliath_local.cancel import CancelToken
    from goliath_local.catalogue.part import Part
    from goliath_local.catalogue.web import Address

_ATTEMPTS = 4
_FRESH_START_BYTES = 64 << 20
"""An attempt that brought so much was a good one: the count of attempts begins anew."""

_LONGEST_PAUSE_S = 30.0


def download(
    client: httpx2.Client,
    address: Address,
    part: Part,
    *,
    pause: Callable[[float], None],
    cancel: CancelToken | None = None,
) -> None:
    """Bring the rest of the file into the part.

    Args:
        client: from `open_client`.
        address: whom to ask.
        part: open; what it has is not asked for again.
        pause: waits so many seconds between attempts.
        cancel: looked at with every chunk.

    Raises:
        FetchError: it did not all come; what came is kept.
        BadModelFile: a web page came, or nothing.
    """
    if part.have_bytes == part.pin.size_bytes:
        return
    patience = _Patience(part)
    try:
        for attempt in Retrying(
            stop=patience.is_over,
            wait=patience.wait_s,
            retry=retry_if_exception_type(Broken),
            sleep=pause,
            reraise=True,
        ):
            with attempt:
                _attempt(client, address, part, cancel)
    except Broken as error:
        raise _gave_up(error, address, part, began=patience.has_brought_bytes) from error


class _Patience:
    """How often one more attempt is worth it."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._first_bytes = self._mark_bytes = part.have_bytes
        self._failures = 0

    @property
    def has_brought_bytes(self) -> bool:
        return self._part.have_bytes > self._first_bytes

    def is_over(self, state: RetryCallState) -> bool:
        if self._part.have_bytes - self._mark_bytes >= _FRESH_START_BYTES:
            self._failures, self._mark_bytes = 0, self._part.have_bytes
        self._failures += 1
        error = _broken(state)
        if error.pause_s > _LONGEST_PAUSE_S:
            return True
        # Whoever cannot be reached at all is asked twice: the next source may be quicker.
        return self._failures >= (_ATTEMPTS if error.connected else 2)

    def wait_s(self, state: RetryCallState) -> float:
        return max(_broken(state).pause_s, 0.5 * 2.0**self._failures)  # 0.5, 1, 2 s


def _broken(state: RetryCallState) -> Broken:
    error = state.outcome.exception() if state.outcome else None
    return error if isinstance(error, Broken) else Broken("it failed")


def _gave_up(error: Broken, address: Address, part: Part, *, began: bool) -> FetchError:
    if began:
        done = amount_of(part.have_bytes, part.pin.size_bytes)
        msg = f"The connection broke at {done}. The part is kept; run the same command to go on."
        return FetchError(msg, began=True)
    kept = " The part is kept." if part.have_bytes else ""
    return FetchError(
        f"{address.host} did not give {part.pin.file}: {error}.{kept} "
        "Look at the connection and run the same command again."
    )


def _attempt(
    client: httpx2.Client, address: Address, part: Part, cancel: CancelToken | None
) -> None:
    with translated(), ask(client, address, _range_headers(part)) as response:
        _verify_status(response, address, part)
        skip = _align(response, part)
        _verify_offer(response, address, part, have_bytes=0 if skip else part.have_bytes)
        part.note(url=address.url, etag=_strong_etag(response))
        _copy(response, address, part, skip_bytes=skip, cancel=cancel)


def _range_headers(part: Part) -> dict[str, str]:
    if not part.have_bytes:
        return {}
    headers = {"Range": f"bytes={part.have_bytes}-"}
    if part.etag:
        headers["If-Range"] = part.etag
    return headers


def _verify_status(response: httpx2.Response, address: Address, part: Part) -> None:
    status = response.status_code
    if status in {200, 206}:
        return
    if status == 416:
        part.restart()
        raise Broken("it refused to go on where the part ends")
    if status == 429 or status >= 500 or status == 408:
        pause_s = _retry_after_s(response)
        waits = f" and asks to wait {pause_s:,.0f} s" if pause_s else ""
        msg = f"it answered {status}{waits}"
        raise Broken(msg, pause_s=pause_s)
    code = re.sub(r"[^A-Za-z]", "", response.headers.get("X-Error-Code", ""))[:40]
    told = address.refusal(status, code)
    msg = told or (
        f"{address.host} answered {status} for {part.pin.file}. Look at the address, or try later."
    )
    raise FetchError(msg)


def _retry_after_s(response: httpx2.Response) -> float:
    value = response.headers.get("Retry-After", "").strip()
    return float(value) if value.isdigit() and len(value) < 9 else 0.0


def _align(response: httpx2.Response, part: Part) -> int:
    """Return how many bytes of the reply are already here and are to be skipped."""
    if response.status_code == 206:
        start, total = _content_range(response)
        if start != part.have_bytes or total not in {None, part.pin.size_bytes}:
            part.restart()
            raise Broken("it answered with another range than the one asked for")
        return 0
    if part.have_bytes and part.etag and _strong_etag(response) not in {"", part.etag}:
        part.restart()  # another version of the file
    return part.have_bytes


def _content_range(response: httpx2.Response) -> tuple[int, int | None]:
    found = re.fullmatch(
        r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)", response.headers.get("Content-Range", "")
    )
    if found is None:
        return -1, None
    return int(found[1]), None if found[2] == "*" else int(found[2])


def _verify_offer(
    response: httpx2.Response, address: Address, part: Part, *, have_bytes: int
) -> None:
    """Refuse a reply whose announced size cannot be the file's, before a byte is taken."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        msg = f"{address.host} sends the file re-encoded. Look for a proxy that does so."
        raise FetchError(msg)
    announced = response.headers.get("Content-Length", "")
    if not announced.isdigit() or _looks_like_page(response) or announced == "0":
        return  # the first bytes will tell
    offered = int(announced) + have_bytes
    if offered != part.pin.size_bytes:
        msg = (
            f"{address.host} offers {offered:,} bytes as {part.pin.file}, and its card says "
            f"{part.pin.size_bytes:,}. Nothing was taken. Often a proxy or a moved file."
        )
        raise FetchError(msg)


def _looks_like_page(response: httpx2.Response) -> bool:
    return response.headers.get("Content-Type", "").startswith("text/html")


def _strong_etag(response: httpx2.Response) -> str:
    etag = response.headers.get("ETag", "")
    return etag if re.fullmatch(r'"[\x21\x23-\x7e]{1,200}"', etag) else ""


def _copy(
    response: httpx2.Response,
    address: Address,
    part: Part,
    *,
    skip_bytes: int,
    cancel: CancelToken | None,
) -> None:
    # As they come: a chunk size would hold bytes back, and a break would lose them.
    for chunk in response.iter_raw():
        if cancel is not None:
            cancel.raise_if_cancelled()
        fresh, skip_bytes = chunk[skip_bytes:], max(0, skip_bytes - len(chunk))
        if part.have_bytes == 0 and (instead := what_it_is_instead(fresh[:64])):
            part.discard()
            raise BadModelFile(part.final, instead)
        if part.have_bytes + len(fresh) > part.pin.size_bytes:
            part.discard()
            msg = (
                f"{address.host} sends more than the {part.pin.size_bytes:,} bytes of "
                f"{part.pin.file}. Nothing was installed. Often a proxy or a moved file."
            )
            raise FetchError(msg)
        if fresh:
            part.write(fresh)
    if part.have_bytes == 0:
        part.discard()
        raise BadModelFile(part.final, "came as an empty file. It was not installed.")
    if part.have_bytes < part.pin.size_bytes:
        raise Broken("the reply ended early")
