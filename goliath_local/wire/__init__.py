"""Speaking HTTP: one bounded exchange at a time, and the OpenAI-compatible chat form."""

from goliath_local.wire.address import Address, read_address
from goliath_local.wire.chat import (
    Completion,
    Incoming,
    chat_body,
    read_completion,
    read_json,
    read_piece,
    request_body,
)
from goliath_local.wire.http import (
    HttpReply,
    exchange,
    http_client,
    opened,
    told_as_http,
    whole_body,
    within_time,
)
from goliath_local.wire.refusals import is_about_schema, read_refusal
from goliath_local.wire.secrets import discreet, safe_url, secrets_of, without_secrets
from goliath_local.wire.stream import read_event, server_events

__all__ = [
    "Address",
    "Completion",
    "HttpReply",
    "Incoming",
    "chat_body",
    "discreet",
    "exchange",
    "http_client",
    "is_about_schema",
    "opened",
    "read_address",
    "read_completion",
    "read_event",
    "read_json",
    "read_piece",
    "read_refusal",
    "request_body",
    "safe_url",
    "secrets_of",
    "server_events",
    "told_as_http",
    "whole_body",
    "within_time",
    "without_secrets",
]
