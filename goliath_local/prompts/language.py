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
        ENGLISH: "i a in me am show tell give add set play buy call remind wake let put send make "
        "turn move start stop check need want find get list today tomorrow monday tuesday "
        "wednesday thursday friday saturday sunday the is are were and to of for it that this "
        "these with my your you what when who how which have has had not at there be been will "
        "would i'm i've do does did on from by or please any it's you're can could if as no so",
        "German": "der die das den dem des ist sind war und nicht ein eine einen einem einer mein "
        "meine meinen mir mich ich du zu zum zur im am um wie wann wer wo auf mit für von bitte "
        "noch wenn falls es hat haben habe wird dann auch nach bei kein keine gibt heute morgen "
        "welche welcher stell mach leg schick steht uhr viel montag dienstag mittwoch donnerstag "
        "freitag samstag sonntag wieder alle",
        "French": "le les une des est et pas mon ma mes moi je tu il elle au aux du que qui quel "
        "quelle quand pour dans ce cette sur avec à vous nous j'ai s'il si ça n'est c'est qu'est "
        "où combien demain mets ajoute fais la de lundi mardi mercredi jeudi vendredi samedi "
        "dimanche aujourd'hui",
        "Spanish": "el los las una unos es y mis me que en para por con del al qué cuál cuándo "
        "cuánto cuántos está están hay se mañana hoy pon añade dónde quién tengo ya la de lunes "
        "martes miércoles jueves viernes sábado domingo tiene si hace menos más enciende "
        "apaga cierra abre baja sube avísame pasa supera",
        "Portuguese": "o os as um uma não que para com por meu minha você amanhã hoje tenho são "
        "está me de do da no na em e é",
        "Italian": "il lo gli di che è un una per con mi sono ho della domani oggi le la e non ci",
        "Dutch": "de het een en van ik je op met niet voor is mijn wat dat te er",
    }.items()
}
"""The last three are told from the others, and not spoken of further."""

_SPOKEN: Final = frozenset({ENGLISH, "German", "French", "Spanish"})
_LEAST_HITS: Final = 2
_PLAIN_HITS: Final = 3
_KANA = re.compile(r"[\u3040-\u30ff]")
_MARKED = re.compile(r"[äöüßéèêàçñáíóú¿¡]", re.IGNORECASE)
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
    """Return the English name of the text's language, None where it cannot be told.

    One word alone tells nothing: "am" and "war" are words of two languages.
    """
    letters = sum(letter.isalpha() for letter in text)
    for language, script in _SCRIPTS:
        if len(script.findall(text)) > letters * _SCRIPT_SHARE:
            return None if _KANA.search(text) else language
    counts = sorted(((_hits(text, name), name) for name in _SMALL_WORDS), reverse=True)
    (most, language), (second, _), *_ = counts
    is_plain = most >= _LEAST_HITS and most > second
    return language if is_plain and language in _SPOKEN else None


def is_english(text: str) -> bool:
    """Return whether a text is not plainly in another language."""
    return language_of(text) in {None, ENGLISH} and text.isascii()


def is_english_instead(text: str, language: str) -> bool:
    """Return whether a text that is to be in that language is plainly in English.

    What stands in quotation marks may be a name; a single small word of the language is enough.
    """
    text = _QUOTED.sub(" ", text)
    if _MARKED.search(text) or _hits(text, ENGLISH) < _PLAIN_HITS:
        return False
    own = _SMALL_WORDS.get(language, frozenset()) - _SMALL_WORDS[ENGLISH]
    return not own & set(_words(text))


def answer_language(ask: str) -> str | None:
    """Return the language that an answer is to be in, None where it is English or not plain.

    An ask that names a language may want another one.
    """
    language = language_of(ask)
    return None if language == ENGLISH or _NAMED.search(ask) else language


def _hits(text: str, language: str) -> int:
    """Return how many small words of a language a text has; one with its marks counts twice."""
    small = _SMALL_WORDS[language]
    return sum(2 if _MARKED.search(word) else 1 for word in _words(text) if word in small)


def _words(text: str) -> list[str]:
    return [word.casefold().replace("\u2019", "'") for word in _WORD.findall(text)]
