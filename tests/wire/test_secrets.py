"""What counts as a secret, and what a text looks like without it."""

from __future__ import annotations

import logging

import httpx2
import pytest

from goliath_local.wire import discreet, safe_url, secrets_of, without_secrets


def test_the_longest_secret_is_hidden_first_and_short_ones_are_words() -> None:
    assert without_secrets("Bearer abcdefg, abcdef", ["abcdef", "Bearer abcdefg"]) == (
        "[hidden], [hidden]"
    )
    assert without_secrets("debug is on", ["on", "debug", ""]) == "debug is on"


def test_headers_credentials_and_queries_are_secrets_and_the_type_is_none() -> None:
    found = secrets_of(
        "https://ana:s%40cret@h/p?a=tok-1&b=tok-2",
        {"Authorization": "Bearer key-1", "content-type": "application/json"},
    )
    assert {"Bearer key-1", "key-1", "s@cret", "ana:s@cret", "tok-1", "tok-2"} <= set(found)
    assert "application/json" not in found
    assert secrets_of("http://h:x/", {"X-Key": "key-2"}) == ("key-2", "key-2")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ana:pw@h:8443/a/b?c=d#e", "https://h:8443/a/b"),
        ("http://[::1]:80/x", "http://[::1]/x"),
        ("http://h:x/", "the given address"),
    ],
)
def test_an_address_is_shown_without_credentials_query_and_fragment(url: str, shown: str) -> None:
    assert safe_url(url) == shown


def test_the_librarys_log_is_cut_for_our_requests_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    url = httpx2.URL("https://ana:pw@h/?t=tok")
    log = logging.getLogger("httpx2")
    with discreet():
        log.info("ours: %s %s", "GET", url)
        logging.getLogger("httpcore2.http11").debug("complete return_value=(200, 'tok')")
    log.info("theirs: %s", url)
    assert [record.getMessage() for record in caplog.records] == [
        "ours: GET https://h/",
        f"theirs: {url}",
    ]
