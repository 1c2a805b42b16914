"""The language of a text, where it is plain."""

from __future__ import annotations

import pytest

from goliath_local.prompts.language import answer_language, is_english_instead, language_of

ORDINARY = (
    "Tell me a joke",
    "Remind me tomorrow",
    "Show me today's tasks",
    "Send me Anna's number",
    "Los Angeles weather tomorrow",
    "Wake me up 6:30",
    "Set alarm 7 am",
    "Add meeting 9 am Friday",
    "8 am gym",
    "Buy hat",
    "Add leg day",
    "Play war movies",
    "Call ma",
)
"""English asks with a word that is also one of another language."""


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what's on the list for Friday?", "English"),
        ("Um wie viel Uhr treffe ich Ivo am Samstag?", "German"),
        ("mets du lait sur la liste", "French"),
        ("¿qué tengo mañana por la tarde?", "Spanish"),
        ("明天有什么安排？", "Chinese"),
        ("फार्मेसी की लिस्ट में दो टूथब्रश डाल दो", "Hindi"),
        ("The book “Winter Birds of the Coast” is not available.", "English"),
        ("Falls 'Winter Birds of the Coast' gerade da ist, leg es für Oskar zurück", "German"),
        (
            "Kessler & Sons vient de payer sa facture, marque-la comme payée, s'il te plaît",
            "French",
        ),
        ("Lindau 14:30", None),
        ("今日の予定は?", None),
        ("Mi dici le riunioni di oggi?", None),
        ("Que compromissos tenho amanhã? me diga por favor", None),
        ("", None),
    ],
)
def test_a_language_is_told_by_its_smallest_words(text: str, language: str | None):
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("ask", "language"),
    [
        ("Was steht am Freitag an?", "German"),
        ("Wie heißt das auf Englisch?", None),
        ("what is on for Friday?", None),
        ("Lindau", None),
        *((ask, None) for ask in ORDINARY),
    ],
)
def test_an_answer_is_reminded_of_a_language_that_does_not_come_by_itself(
    ask: str, language: str | None
):
    assert answer_language(ask) == language


@pytest.mark.parametrize(
    ("text", "language", "english"),
    [
        ("You have Choir at 17:00 on Friday.", "German", True),
        ("The list is on the table and it is full.", "Hindi", True),
        (
            'Amina tiene dos: "The Daughters of the Sea" y "Maps of the Old Harbour".',
            "Spanish",
            False,
        ),
        ("Amina tiene The Daughters y Maps of the Old Harbour.", "Spanish", False),
        ("Choir, 17:00", "German", False),
        ("3 Aufgaben: Send the report to Anna, Prepare slides für Montag", "German", False),
        ("Am Freitag ist Choir.", "German", False),
    ],
)
def test_an_answer_in_english_instead_is_told_from_one_with_english_names(
    text: str, language: str, english: bool
):
    assert is_english_instead(text, language) is english
