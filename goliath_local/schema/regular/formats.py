"""The formats that are regular languages, as automata.

Pure. Each is written as a pattern from the grammar in its standard; a text it accepts is valid by
the standard, and valid texts it leaves out are named here. Formats that are not in the table are
left to be checked after decoding.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from goliath_local.schema.regular.pattern import compile_tree
from goliath_local.schema.regular.syntax import read_pattern

if TYPE_CHECKING:
    from goliath_local.schema.regular.automaton import Automaton
    from goliath_local.schema.regular.tree import Tree

# Source: RFC 3339 section 5.6. Year 0000 is left out, and leap seconds unless every valid text is
# wanted: Python has neither.
_YEAR = r"(?!0000)\d{4}"
_LEAP_YEAR = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DAY = (
    r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)"
    r"|(?:0[13578]|1[02])-31)"
)
_DATE = rf"(?:{_YEAR}-{_DAY}|{_LEAP_YEAR}-02-29)"
_FRACTION = r"(?:\.\d{1,20})?"
_CLOCK = rf"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d{_FRACTION}"
_ZONE = r"(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"


def _leap_second() -> str:
    """Return the times that are 23:59:60 in UTC, for offsets of whole and half hours."""
    fraction = r"(?:\.\d+)?"
    found = [rf"23:59:60{fraction}[Zz]"]
    for hours in range(24):
        for sign in (1, -1):
            for half in (0, 30):
                local = (23 * 60 + 59 + sign * (hours * 60 + half)) % (24 * 60)
                zone = rf"{'+' if sign > 0 else '-'}{hours:02}:{half:02}"
                clock = f"{local // 60:02}:{local % 60:02}"
                found.append(rf"{clock}:60{fraction}{re.escape(zone)}")
    return f"(?:{'|'.join(found)})"


_LEAP_SECOND = _leap_second()

# Source: RFC 3339 appendix A. Numbers of at most nine digits.
_N = r"\d{1,9}"
_TIME_SPAN = rf"T(?:{_N}H(?:{_N}M(?:{_N}S)?)?|{_N}M(?:{_N}S)?|{_N}S)"
_DATE_SPAN = rf"(?:{_N}D|{_N}M(?:{_N}D)?|{_N}Y(?:{_N}M(?:{_N}D)?)?)"
_DURATION = rf"P(?:{_DATE_SPAN}(?:{_TIME_SPAN})?|{_TIME_SPAN}|{_N}W)"

# Source: RFC 1123 section 2.1, RFC 5890 section 2.3.1. Labels with -- in places 3 and 4 (punycode)
# are left out. No name is longer than 253 characters: three long labels, or twelve short ones.
_A, _H = "[A-Za-z0-9]", "[A-Za-z0-9-]"


def _label(longest: int) -> str:
    inner = rf"{_H}(?:{_A}{_H}|-{_A}){_H}{{0,{longest - 5}}}"
    return rf"{_A}(?:{_A}|{_H}{_A}|{_H}{_H}{_A}|{inner}{_A})?"


def _names(longest: int, most: int) -> str:
    return rf"{_label(longest)}(?:\.{_label(longest)}){{0,{most - 1}}}"


_HOST = rf"(?:{_names(63, 3)}|{_names(19, 12)})"

# Source: RFC 2673 section 3.2 and RFC 4291 section 2.2.
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_GROUP = r"[0-9A-Fa-f]{1,4}"
_LAST = rf"(?:{_GROUP}:{_GROUP}|{_IPV4})"
_IPV6_FORMS = [
    rf"(?:{_GROUP}:){{6}}{_LAST}",
    rf"::(?:{_GROUP}:){{5}}{_LAST}",
    *(
        rf"(?:(?:{_GROUP}:){{0,{before}}}{_GROUP})?::{after}"
        for before, after in [
            *((4 - n, rf"(?:{_GROUP}:){{{n}}}{_LAST}") for n in range(4, -1, -1)),
            (5, _GROUP),
            (6, ""),
        ]
    ),
]
_IPV6 = f"(?:{'|'.join(_IPV6_FORMS)})"

# Source: RFC 5321 section 4.1.2 (mailbox), at most 64 characters before the @. Quoted names and
# addresses in brackets only where every valid text is wanted.
_ATEXT = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_ATOMS = rf"{_ATEXT}{{1,30}}(?:\.{_ATEXT}{{1,16}}){{0,2}}"
_EMAIL = rf"{_ATOMS}@{_HOST}"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~]){0,31}"'
_ANY_EMAIL = rf"(?:{_ATOMS}|{_QUOTED})@(?:{_HOST}|\[{_IPV4}\]|\[IPv6:{_IPV6}\])"

# Source: RFC 3986 appendix A. Addresses in brackets, most of the automaton, only where every valid
# text is wanted.
_PERCENT = r"%[0-9A-Fa-f]{2}"
_PLAIN = r"A-Za-z0-9\-._~!$&'()*+,;="


def _uri(more: str, *, reference: bool, addresses: bool = False) -> str:
    char = rf"(?:[{_PLAIN}:@{more}]|{_PERCENT})"
    user = rf"(?:(?:[{_PLAIN}:{more}]|{_PERCENT})*@)?"
    name = rf"(?:[{_PLAIN}{more}]|{_PERCENT})*"
    future = rf"[vV][0-9A-Fa-f]+\.[{_PLAIN}:]+"
    host = rf"(?:\[(?:{_IPV6}|{future})\]|{name})" if addresses else name
    authority = rf"//{user}{host}(?::\d*)?"
    rooted = rf"{authority}(?:/{char}*)*|/(?:{char}+(?:/{char}*)*)?"
    end = rf"(?:\?(?:{char}|[/?])*)?(?:#(?:{char}|[/?])*)?"
    scheme = "[A-Za-z][A-Za-z0-9+.-]*:"
    if not reference:
        return rf"{scheme}(?:{rooted}|{char}+(?:/{char}*)*)?{end}"
    # With or without a scheme; without one, no colon before the first slash.
    first = rf"(?:[{_PLAIN}@{more}]|{_PERCENT})+"
    rootless = rf"(?:{scheme}{char}*|{first})(?:/{char}*)*"
    return rf"(?:(?:{scheme})?(?:{rooted})|{rootless}|)(?:{end})"


# Source: RFC 3987 section 2.2, ucschar; the private ranges are left out.
_BEYOND_ASCII = r"\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}"

# Source: RFC 6570 section 2.
_VARIABLE = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*"
_SPEC = rf"{_VARIABLE}(?::[1-9]\d{{0,3}}|\*)?"
_TEMPLATE = (
    rf"(?:[!#$&(-;=?-\[\]_a-z~\u00A0-\uD7FF]|{_PERCENT}"
    rf"|\{{[+#./;?&]?{_SPEC}(?:,{_SPEC})*\}})*"
)

_POINTER = r"(?:/(?:[^/~]|~[01])*)*"
_HEX = "[0-9A-Fa-f]"

PATTERNS: dict[str, str] = {
    "date": _DATE,
    "time": _CLOCK + _ZONE,
    "date-time": rf"{_DATE}[Tt]{_CLOCK}{_ZONE}",
    "duration": _DURATION,
    "email": _EMAIL,
    "hostname": _HOST,
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "uuid": rf"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}",
    "uri": _uri("", reference=False),
    "uri-reference": _uri("", reference=True),
    "iri": _uri(_BEYOND_ASCII, reference=False),
    "iri-reference": _uri(_BEYOND_ASCII, reference=True),
    "uri-template": _TEMPLATE,
    "json-pointer": _POINTER,
    "relative-json-pointer": rf"(?:0|[1-9]\d{{0,8}})(?:#|{_POINTER})",
}
"""Format names and the patterns of their texts, unanchored."""

BY_LETTER: dict[str, str] = {
    "time": _CLOCK + _ZONE + "|" + _LEAP_SECOND,
    "date-time": rf"{_DATE}[Tt](?:{_CLOCK}{_ZONE}|{_LEAP_SECOND})",
    "duration": _DURATION.replace("{1,9}", "+"),
    "email": _ANY_EMAIL,
    "uri": _uri("", reference=False, addresses=True),
    "uri-reference": _uri("", reference=True, addresses=True),
    "iri": _uri(_BEYOND_ASCII, reference=False, addresses=True),
    "iri-reference": _uri(_BEYOND_ASCII, reference=True, addresses=True),
}
"""What takes the place of a pattern where every valid text is wanted."""


@cache
def format_tree(name: str, *, by_letter: bool = False) -> Tree | None:
    """Return the pattern of a format as a tree without anchors; None when it is not in the table.

    Trees rather than automata, for some are short as an expression and long as an automaton.
    """
    pattern = BY_LETTER.get(name) if by_letter else None
    pattern = pattern or PATTERNS.get(name)
    return None if pattern is None else read_pattern(pattern)


@cache
def compile_format(name: str, *, by_letter: bool = False) -> Automaton | None:
    """Return the automaton of a format; None when it is not in the table."""
    tree = format_tree(name, by_letter=by_letter)
    return None if tree is None else compile_tree(tree)
