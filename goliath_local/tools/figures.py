"""Figures that nobody said: numbers, times and dates that a model made up or copied to fill a gap.

Pure. A small model asked for the time of an alarm gives one, said or not. Plain code sees the
plainest case: the call holds a figure, and nothing that was said holds any figure at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goliath_local.tools.tool import Tool

_FIGURE = re.compile(r"[\d:./,T\sZ+-]*\d[\d:./,T\sZ+-]*")
_ONE = 1
"""What `a` comes to; it is said in every language by saying nothing."""

_SAID = re.compile(
    r"\d|[零一二两三四五六七八九十百千半今明昨]|月|(?i:\b("
    # numbers and parts
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|"
    r"fifty|sixty|seventy|eighty|ninety|hundred|thousand|half|quarter|dozen|couple|noon|midday|"
    r"midnight|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w+zehn|\w+zig|"
    r"hundert|tausend|halb\w*|viertel\w*|mittags?|mitternacht|deux|trois|quatre|cinq|six|sept|"
    r"huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingt|trente|quarante|cinquante|"
    r"soixante|cent|mille|demi\w*|quart|midi|minuit|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|"
    r"diez|once|doce|trece|catorce|quince|veinte|treinta|cuarenta|cincuenta|sesenta|cien|mil|"
    r"medi[oa]|cuarto|mediodía|medianoche|"
    # days
    r"today|tonight|tomorrow|yesterday|now|morning|evening|afternoon|week\w*|month|mon\w*|tues\w*|"
    r"wednes\w*|thurs\w*|fri|friday|satur\w*|sun|sunday|daily|heute|morgen|übermorgen|gestern|"
    r"abend|woche\w*|monat|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|"
    r"aujourd'hui|demain|hier|soir|matin|semaine|mois|lundi|mardi|mercredi|jeudi|vendredi|samedi|"
    r"dimanche|hoy|mañana|ayer|noche|semana|mes|lunes|martes|miércoles|jueves|viernes|sábado|"
    r"domingo|"
    r"last|next|night|nacht|letzt\w*|nächst\w*|nuit|derni\w*|prochain\w*|pasad\w*|próxim\w*)\b)|आज|कल|परसों|बजे|एक|दो|तीन|चार|पांच|पाँच|दस|आधा|साढ़े|सोम|मंगल|बुध|गुरु|शुक्र|शनि|रवि"
)

_KNOWN = re.compile(
    r"[\u4e00-\u9fff\u0900-\u097f]|(?i:\b(the|an|my|for|please|and|of|with|your|"
    r"mir|mich|mein\w*|der|das|bitte|und|einen|eine|une|moi|mon|pour|est|des|los|por|para|mis)\b)"
)
"""Words of the languages whose figures are known. An ask without one is not judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Arguments without the values that nobody said."""

    value: dict[str, Any]
    missing: tuple[str, ...]
    """Required arguments among those taken out."""


def without_unsaid_figures(tool: Tool, arguments: Mapping[str, Any], said: str) -> Checked:
    """Return the arguments, less every figure when `said` holds no figure at all.

    Judged in the languages of the evals only; in others every figure stays.

    Args:
        tool: whose arguments they are.
        arguments: what the model filled in.
        said: the ask, the conversation and the results that the model saw.
    """
    if _SAID.search(said) or not _KNOWN.search(said):
        return Checked(value=dict(arguments), missing=())
    required = tool.parameters.json.get("required", [])
    made_up = [name for name, value in arguments.items() if _is_figure(value)]
    kept = {name: value for name, value in arguments.items() if name not in made_up}
    return Checked(value=kept, missing=tuple(name for name in made_up if name in required))


def without_copied(
    tool: Tool, arguments: Mapping[str, Any], *, copies: Iterable[str], seen: str
) -> Checked:
    """Return the arguments, less the values that stand in an example and not in what was asked.

    Args:
        tool: whose arguments they are.
        arguments: what the model filled in.
        copies: values of the worked examples.
        seen: all that the model was told of the real case.
    """
    foreign = {value for value in copies if value not in seen}
    required = tool.parameters.json.get("required", [])
    kept = {
        name: value
        for name, value in arguments.items()
        if not (isinstance(value, str) and value in foreign)
    }
    lost = (name for name in arguments if name not in kept)
    return Checked(value=kept, missing=tuple(name for name in lost if name in required))


def says_figure(text: str) -> bool:
    """Return whether a number, a time or a day is said, in digits or in words."""
    return _SAID.search(text) is not None


def _is_figure(value: Any) -> bool:
    if isinstance(value, bool) or value == _ONE:
        return False
    if isinstance(value, int | float):
        return True
    return isinstance(value, str) and _FIGURE.fullmatch(value) is not None
