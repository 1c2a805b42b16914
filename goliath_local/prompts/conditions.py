"""What has to hold before something is done, as the words of an ask say it.

Pure. Word lists in the languages of the evals: English, German, French, Spanish, Hindi, Chinese.
"""

from __future__ import annotations

import re

_EXCEPT = (
    r"unless|except if|außer (?:wenn|falls)|außer|es sei denn|sauf si|à moins (?:que|qu['\u2019])|"
    r"salvo si|salvo que|a menos que"
)
_UNLESS = re.compile(rf"(?i)\b(?:{_EXCEPT})|除非")
"""What forbids the thing it stands before; longer phrases first, so that `if` is part of them."""

_CONDITION = re.compile(
    rf"(?i)\b(?:{_EXCEPT}|(?:if|in case|wenn|falls|sofern|si|s'il|s\u2019il|agar)\b)|"
    r"अगर|यदि|如果|要是|除非"
)
"""What makes a wish depend on something."""

_ASKED_FIRST = re.compile(
    r"(?i)[?\uff1f]\s*(?:(?:then|if so|if yes|in that case|dann|wenn ja|falls ja|alors|si oui|"
    r"entonces|si es así|en ese caso)\b|那就|那么|तो\s)"
)
"""What makes a wish depend on the question in front of it."""

_WHICH = re.compile(
    r"(?i)^[\s¿]*(?:what|when|where|who|which|how|why|was|wann|wo|wer|wen|welche\w*|wie|warum|que|qu|"
    r"quel\w*|quand|où|qui|combien|comment|pourquoi|qué|cuándo|dónde|quién|cuál|cuánt\w*|cómo)\b|"
    r"什么|哪|谁|几|多少|怎么|क्या|कब|कहाँ|कौन|कितन"
)
"""What asks for more than yes or no."""

_WHETHER = re.compile(
    r"(?i)^[\s¿]*(?:(?:is|are|were|do|does|did|have|has|had)(?:n['\u2019]t)?|any|"
    r"was (?=it|that|there|the|my|he|she|any)|hab\w*|hast|hat|gibt|ist|sind|war(?:en|st|t)?|"
    r"est-ce|y a-t-il|ai-je|hay|tengo|es|está\w*)\b|吗|^\s*क्या\b"
)
"""What asks for yes or no."""

_FAILING = re.compile(
    r"(?i)\b(?:(?:and |or )?if (?:it|that|this) (?:"
    r"(?:won['\u2019]?t|doesn['\u2019]?t|does not|will not|can['\u2019]?t|cannot)"
    r" (?:take|fit|work|go|accept|let|succeed|happen|be (?:done|made|added|accepted|possible))\b|"
    r"(?:fails|is refused|is rejected|is not possible|isn['\u2019]t possible)\b)|"
    r"(?:(?:and|or|but) |(?<=[,;.!] ))should (?:it|that|this) (?:fail|be refused|be rejected|"
    r"not (?:work|fit|go|succeed|happen|be (?:done|made|accepted|possible)))\b|"
    r"failing that\b|"
    r"(?:wenn|falls) (?:das|es|dies) nicht (?:geht|passt|klappt|reicht|möglich ist)\b|"
    r"si (?:ça|cela) (?:ne )?(?:marche|passe|va|tient|rentre) pas\b|si c['\u2019]est impossible\b|"
    r"si (?:eso )?no (?:funciona|cabe|va|se puede|es posible)\b)|"
    r"如果不行|不行的话"
)
"""What says what to do when the change itself cannot be made: only trying it tells."""

_OTHERWISE = re.compile(
    r"(?i)\b(otherwise|else|if not|sonst|andernfalls|sinon|autrement|si no|de lo contrario)\b|"
    r"否则|不然|वरना|नहीं तो"
)
"""What says what to do when the condition does not hold."""

_IDLE_CASE = re.compile(
    r"(?i)(?:[,;.!\u2013-]\s{0,2}|(?<=\w)\s)\b(?:otherwise|(?:or )?else|if not|sonst|andernfalls|"
    r"sinon|autrement|si no|de lo contrario)\b,? "
    r"(?:(?:please|just|then|bitte|einfach|dann) ){0,2}(?:"
    r"(?:leave|keep) (?:it|that|them|things|everything|all)(?: (?:as (?:it is|is|they are)|alone|"
    r"be|so|like that|that way|the way (?:it is|they are)|unchanged|on|off|open|closed|shut))?|"
    r"let it be|do nothing|don['\u2019]t (?:bother|do anything|change anything|touch it)|"
    r"lass(?:e|en)? (?:es|das|ihn|sie|alles)(?: (?:so|sein|bleiben|wie (?:es|er|sie) ist))?|"
    r"(?:mach|tu) nichts|"
    r"laissez?(?:-(?:le|la|les))?(?: (?:tout|ça))?(?: (?:comme (?:ça|c['\u2019]est)|ainsi))?|"
    r"ne fais rien|d[eé]jal[oa]s?(?: (?:así|como está))?|no hagas nada)(?=\s{0,3}(?:[.!?\n]|$))"
)
"""What says that nothing is to be done when the condition does not hold."""

_TO_BE_TOLD = re.compile(
    r"(?i)^\W*(?:(?:please|can you|could you|bitte)\W+)?(?:tell me|let me know|i want to know|"
    r"i['\u2019]d like to know|check|see|find out|look|show me|is|are|do|does|did|has|have|was|"
    r"were|dis-moi|dites-moi|je veux savoir|regarde|dime|quiero saber|mira|sag (?:mir|bescheid)|"
    r"schau|prüf\w*)\b,?"
    r"(?:(?!\b(?:and|then|so|und|dann|et|puis|y|e|luego)\b)[^,;:?!.\n])*[.!?]?\s*$"
)
"""What wants to be told whether something holds: nothing is to be changed for it."""

_CLAUSE_END = re.compile(r"(?:,(?!\d)|[;!?\n]|\.(?!\d)|[\uff0c\u3002\uff1b\u3001\u0964]|\sतो\s)")
"""Where a condition ends; a point or a comma within a number is no end."""


def is_conditional(ask: str) -> bool:
    """Return whether the ask says that something has to hold first."""
    rest = _FAILING.sub(" ", ask)
    return _CONDITION.search(rest) is not None or bool(_asked_first(rest))


def wants_to_be_told(ask: str) -> bool:
    """Return whether the ask is only to be told if something holds: "tell me if it rains"."""
    return _TO_BE_TOLD.match(ask) is not None


def asks_whether(ask: str) -> bool:
    """Return whether the ask is for a yes or a no, in the languages of the evals."""
    return _WHETHER.search(ask) is not None


def opens_with_condition(text: str) -> bool:
    """Return whether a text begins with what has to hold: it tells no outcome then."""
    return _CONDITION.match(text.lstrip()) is not None


def has_second_choice(ask: str) -> bool:
    """Return whether the ask says what to do if the change that it wants cannot be made.

    Nothing else has to hold first, so the change is tried, not looked into.
    """
    return _FAILING.search(ask) is not None and not is_conditional(ask)


def without_idle_case(ask: str) -> str:
    """Return the ask without "otherwise leave it as it is": that goes without saying."""
    return _IDLE_CASE.sub("", ask)


def has_one_condition(ask: str) -> bool:
    """Return whether exactly one thing has to hold, and nothing is said for the other case."""
    count = len(_CONDITION.findall(ask)) + bool(_asked_first(ask))
    return count == 1 and _OTHERWISE.search(ask) is None


def first_choice(ask: str) -> str:
    """Return the ask without its second choice, and what stands behind that."""
    found = _FAILING.search(ask)
    return ask[: found.start()].rstrip(" ,;") if found and has_second_choice(ask) else ask


def second_choice(ask: str) -> str:
    """Return what the ask says to do when its first choice cannot be made; else the ask."""
    found = _FAILING.search(ask)
    return ask[found.start() :] if found and has_second_choice(ask) else ask


def condition_of(ask: str) -> str:
    """Return what has to hold: from the word of condition to the end of its clause.

    Or the question in front of a wish that depends on it.
    """
    asked = _asked_first(ask)
    if asked:
        return asked
    found = _CONDITION.search(ask)
    return _CLAUSE_END.split(ask[found.start() :], maxsplit=1)[0] if found else ""


def is_exception(text: str) -> bool:
    """Return whether the text says when something is not to be done."""
    return _UNLESS.search(text) is not None


def _asked_first(ask: str) -> str:
    """Return the question, to be answered by yes or no, on which the wish behind it depends."""
    found = _ASKED_FIRST.search(ask)
    question = _CLAUSE_END.split(ask[: found.start()])[-1] if found else ""
    return "" if _WHICH.search(question) else question
