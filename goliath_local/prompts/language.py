"""In which language is a text? Told by its script and its smallest words.

Pure. A 1.5B model answers a German question in English when the results are English. Only the
languages of the evals are told apart, and only where the text is plain enough.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGLISH: Final = "English"

_SMALL_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        ENGLISH: "i the is are were and to of for it that this these with my your you what when "
        "who how which have has had not at there be been will would i'm i've do does did on from "
        "by or please any it's i you're can could",
        "German": "der die das den dem des ist sind war und nicht ein eine einen einem einer mein "
        "meine meinen mir mich ich du zu zum zur im am um wie wann wer wo auf mit für von bitte "
        "noch wenn falls es hat haben habe wird dann auch nach bei kein keine gibt heute morgen "
        "welche welcher stell mach leg schick",
        "French": "le les une des est et pas mon ma mes moi je tu il elle au aux du que qui quel "
        "quelle quand pour dans ce cette sur avec à vous nous j'ai s'il si ça n'est c'est qu'est "
        "où combien demain mets ajoute fais",
        "Spanish": "el los las una unos es y mi mis me que en para por con del al qué cuál cuándo "
        "cuánto cuántos está están hay si lo le se mañana hoy pon añade dónde quién tengo ya",
    }.items()
}
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_QUOTED = re.compile(r"[\"“„«][^\"”“»]*[\"”“»]")
_SCRIPTS: Final = (
    ("Chinese", re.compile(r"[\u4e00-\u9fff]")),
    ("Hindi", re.compile(r"[\u0900-\u097f]")),
)
_NAMED = re.compile(
    r"(?i)\b(?:englis\w*|anglais\w*|ingl[eé]s\w*|deutsch\w*|german|allemand\w*|alem[aá]n\w*|"
    r"franz\w*|french|français\w*|francés\w*|spanis\w*|espagnol\w*|español\w*)\b|[英德法中西][语文]|"
    r"अंग्रेज|हिंदी|हिन्दी"
)
_SCRIPT_SHARE: Final = 0.3
"""Letters of a script from which on a text is in its language; names may be in another."""


def language_of(text: str) -> str | None:
    """Return the English name of the text's language, None where it cannot be told."""
    letters = sum(letter.isalpha() for letter in text)
    for language, script in _SCRIPTS:
        if len(script.findall(text)) > letters * _SCRIPT_SHARE:
            return language
    words = [word.casefold().replace("\u2019", "'") for word in _WORD.findall(text)]
    counts = sorted(
        ((sum(word in small for word in words), name) for name, small in _SMALL_WORDS.items()),
        reverse=True,
    )
    (most, language), (second, _), *_ = counts
    return language if most > second else None


def is_english_instead(text: str, language: str) -> bool:
    """Return whether a text that is to be in that language is plainly in English.

    What stands in quotation marks may be a name; a single small word of the language is enough.
    """
    text = _QUOTED.sub(" ", text)
    if language_of(text) != ENGLISH:
        return False
    words = {word.casefold().replace("\u2019", "'") for word in _WORD.findall(text)}
    own = _SMALL_WORDS.get(language, frozenset())
    return not words & (own - _SMALL_WORDS[ENGLISH])


def answer_language(ask: str) -> str | None:
    """Return the language that an answer needs to be reminded of, None where it needs no word.

    English comes by itself, since results are mostly in it; an ask that names a language may want
    another one.
    """
    language = language_of(ask)
    return None if language == ENGLISH or _NAMED.search(ask) else language
