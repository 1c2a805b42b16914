from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.budget import (
    POLICY_VERSION,
    Block,
    Brief,
    BudgetPlan,
    Draft,
    Fixed,
    Log,
    LogLine,
    Recent,
    Section,
    Window,
    compact_result,
    counter_from_function,
    estimate_tokens,
    plan_budget,
)
from goliath_local.errors import ModelError
from goliath_local.model import ExampleTurn, Part, PromptTokens, Request, Stage, WindowSource
from goliath_local.records import to_json


def fixed(name: str, text: str) -> Fixed:
    return Fixed(part=Part(name=name, text=text))


def line(number: int, result: str, *, content: bool = False) -> LogLine:
    def worded(result: str) -> str:
        return f"{number}. look() → {result}\n"

    return LogLine(
        text=worded(result),
        short=worded(compact_result(result)),
        excerpt=result if content else None,
        omitted=worded("left out, read it again if needed") if content else None,
    )


def draft(
    stage: Stage = Stage.CONDUCTOR,
    *,
    instructions: str = "Be careful.\n",
    facts: str = "",
    brief: str = "",
    blocks: tuple[Block, ...] = (),
    log: tuple[LogLine, ...] = (),
    ask: str = "What now?",
    **more: Any,
) -> Draft:
    system: list[Section] = [fixed("instructions", instructions)]
    if facts:
        system.append(fixed("facts", facts))
    return Draft(
        stage=stage,
        system=tuple(system),
        user=(
            Brief(text=brief, before="Brief: ", after="\n\n"),
            Recent(heading="Recent:\n", blocks=blocks, after="\n\n"),
            Log(lines=log, heading="Steps:\n", after="\n"),
            fixed("ask", ask),
        ),
        **more,
    )


def block(number: int, length: int = 20) -> Block:
    return Block(lines=(f"User: ask {number}", f"Assistant: {'y' * length}"))


def plan(wanted: Draft, window: int = 4096, **more: Any) -> BudgetPlan:
    return plan_budget(wanted, window=Window(tokens=window), **more)


FULL = draft(
    brief="Goal: eggs",
    blocks=(block(1), block(2)),
    log=(line(1, "three\nlines\nhere"), line(2, "two\nlines")),
    examples=(ExampleTurn(user="Hi", assistant="{}"),),
    schema={"type": "object"},
)


def test_a_draft_that_fits_is_sent_as_it_is() -> None:
    found = plan(FULL)
    assert found.request.system_text == "Be careful.\n"
    assert found.request.user_text == (
        "Brief: Goal: eggs\n\n"
        f"Recent:\n{block(1).text}\n\n{block(2).text}\n\n"
        "Steps:\n1. look() → three\nlines\nhere\n2. look() → two\nlines\n\n"
        "What now?"
    )
    assert found.request.examples == FULL.examples
    assert found.request.schema == FULL.schema
    assert found.request.max_tokens == 256
    assert found.report.fits
    assert found.report.trimmed == ()
    assert found.report.failed_part is None


def test_each_step_is_a_part_of_its_own_so_that_older_ones_stay_evaluated() -> None:
    names = [part.name for part in plan(FULL).request.user]
    assert names == ["brief", "recent", "log", "log", "log", "ask"]


def test_an_empty_section_leaves_nothing_behind() -> None:
    assert plan(draft()).request.user_text == "What now?"


def test_compaction_shortens_all_but_the_last_result_to_their_first_line() -> None:
    log = (line(1, "a" * 300 + "\nmore " * 400), line(2, "b\n" + "x " * 400))
    found = plan(draft(log=log), window=1024)
    assert "1. look() → " + "a" * 99 + "…\n" in found.request.user_text
    assert "2. look() → b\nx x" in found.request.user_text
    assert found.report.trimmed == ("older-results",)
    assert found.report.fits


def test_then_recent_conversation_then_the_brief_then_the_examples_go() -> None:
    big = ExampleTurn(user="e" * 800, assistant="{}")
    seen: list[tuple[str, ...]] = []
    for length in range(1, 2600, 40):
        found = plan(
            draft(
                instructions="i" * length,
                brief="b" * 400,
                blocks=(block(1, 300),),
                log=(line(1, "one\ntwo" + "z" * 200), line(2, "now")),
                examples=(big,),
            ),
            window=1024,
        )
        seen.append(found.report.trimmed)
    ladder = ("older-results", "recent", "brief", "examples")
    assert list(dict.fromkeys(seen)) == [ladder[:count] for count in range(5)]


def test_the_worker_gives_up_conversation_and_brief_but_no_results() -> None:
    found = plan(
        draft(
            Stage.WORKER,
            brief="b" * 300,
            blocks=(block(1, 300),),
            log=(line(1, "one\n" + "z" * 1200), line(2, "now")),
        ),
        window=1024,
    )
    assert found.report.trimmed == ("recent", "brief")
    assert "z" * 1200 in found.request.user_text


def test_the_scribe_gives_up_nothing() -> None:
    found = plan(draft(Stage.SCRIBE, brief="b" * 400, ask="x" * 3000), window=1024)
    assert found.report.trimmed == ()
    assert "b" * 400 in found.request.user_text
    assert not found.report.fits


def test_examples_go_before_an_ask_is_refused() -> None:
    examples = (ExampleTurn(user="e" * 8000, assistant="{}"),)
    for stage in (Stage.CONDUCTOR, Stage.WORKER, Stage.ANSWER):
        kept = plan(draft(stage, examples=examples), window=1024)
        assert kept.report.fits, stage
        assert kept.request.examples == (), stage


def test_an_ask_of_30000_characters_does_not_fit_and_is_not_cut() -> None:
    found = plan(draft(ask="x" * 30_000))
    assert not found.report.fits
    assert found.report.failed_part == "ask"
    assert found.request.user_text.endswith("x" * 30_000)


def test_an_ask_of_12000_characters_fails_at_4096_and_passes_at_8192() -> None:
    assert not plan(draft(ask="x" * 12_000)).report.fits
    assert plan(draft(ask="x" * 12_000), window=8192).report.fits


def test_facts_and_schema_are_not_cut_and_are_named_when_they_are_too_large() -> None:
    facts = plan(draft(facts="f" * 20_000))
    assert facts.report.failed_part == "facts"
    assert "f" * 20_000 in facts.request.system_text
    schema = plan(draft(schema={"description": "s" * 20_000}))
    assert schema.report.failed_part == "schema"


def test_a_window_too_small_for_any_prompt_fails_before_a_call() -> None:
    found = plan(draft(), window=100)
    assert found.report.limit <= 0
    assert not found.report.fits


def test_the_brief_is_clipped_to_an_eighth_of_the_window() -> None:
    found = plan(draft(brief="b " * 4000))
    shown = found.request.user[0].text.removeprefix("Brief: ").removesuffix("\n\n")
    assert shown.endswith("…")
    assert 505 <= estimate_tokens(shown) <= 512
    assert found.report.trimmed == ("brief-clipped",)


def test_exchanges_over_an_eighth_of_the_window_are_dropped_and_counted() -> None:
    found = plan(draft(blocks=(block(1, 1500), block(2, 1500))))
    assert (found.report.exchanges_kept, found.report.exchanges_dropped) == (1, 1)
    assert found.report.trimmed == ("recent-clipped",)
    assert "ask 2" in found.request.user_text
    assert "ask 1" not in found.request.user_text


def test_older_excerpts_become_a_line_once_a_quarter_of_the_window_is_used() -> None:
    log = tuple(line(n, f"{n}" * 2400, content=True) for n in (1, 2, 3))
    found = plan(draft(log=log))
    assert "1. look() → left out" in found.request.user_text
    assert "2. look() → left out" in found.request.user_text
    assert "3" * 2400 in found.request.user_text
    assert found.report.trimmed == ("excerpts",)
    assert log[0].excerpt == "1" * 2400


def test_the_retrieval_allowance_can_be_set() -> None:
    log = tuple(line(n, f"{n}" * 400, content=True) for n in (1, 2))
    assert "left out" not in plan(draft(log=log)).request.user_text
    assert "1. look() → left out" in plan(draft(log=log), retrieved_tokens=150).request.user_text


def test_the_report_says_what_was_shortened_by_how_much() -> None:
    found = plan(draft(brief="b " * 4000))
    (entry,) = found.report.shortened
    assert (entry.part, entry.how) == ("brief", "brief-clipped")
    assert entry.tokens_before == found.report.by_part_before["brief"]
    assert entry.tokens_after == found.report.by_part["brief"]
    assert found.report.tokens_before - found.report.tokens == (
        entry.tokens_before - entry.tokens_after
    )


def test_the_report_has_every_figure_of_the_call() -> None:
    window = Window(tokens=2048, source=WindowSource.TRAINED)
    report = plan_budget(replace(FULL, stage=Stage.WORKER), window=window).report
    written = to_json(report)
    assert {key: written[key] for key in list(written)[:9]} == {
        "policy": POLICY_VERSION,
        "stage": "worker",
        "window": 2048,
        "windowSource": "trained",
        "outputRequested": 512,
        "outputCap": 512,
        "reserve": 205,
        "limit": 1331,
        "source": "estimate",
    }
    assert sum(written["byPart"].values()) == written["tokens"]
    assert sum(written["byPartBefore"].values()) == written["tokensBefore"]


def test_with_a_counter_the_event_figures_are_its_own() -> None:
    report = plan(FULL, counter=counter_from_function(lambda text: 100)).report
    assert (report.tokens, report.source) == (108, "tokenizer")


def test_a_failing_counter_ends_the_planning_of_the_prompt() -> None:
    with pytest.raises(ModelError):
        plan(FULL, counter=counter_from_function(lambda text: -1))


def test_planning_leaves_the_draft_as_it_was() -> None:
    before = repr(FULL)
    plan(FULL, window=300)
    assert repr(FULL) == before


LINE = st.text("ab c\n漢", max_size=400)
DRAFTS = st.builds(
    draft,
    st.sampled_from(Stage),
    instructions=LINE,
    brief=LINE,
    blocks=st.lists(st.builds(lambda a, b: Block(lines=(a, b)), LINE, LINE), max_size=3).map(
        tuple
    ),
    log=st.lists(
        st.builds(lambda n, r, c: line(n, r, content=c), st.integers(1, 9), LINE, st.booleans()),
        max_size=4,
    ).map(tuple),
    ask=LINE,
    examples=st.lists(st.builds(ExampleTurn, user=LINE, assistant=LINE), max_size=2).map(tuple),
)
WINDOWS = st.integers(1, 3000)


class Words:
    """Counts like a tokenizer with a template: by part, and never by the characters."""

    def request(self, request: Request) -> PromptTokens:
        by_part = {"template": 5 * (2 + len(request.examples))}
        for part in (*request.system, *request.user):
            by_part[part.name] = by_part.get(part.name, 0) + len(part.text.split()) + 1
        return PromptTokens(total=sum(by_part.values()), by_part=by_part)


@given(DRAFTS, WINDOWS)
def test_the_same_draft_gets_the_same_plan(wanted: Draft, window: int) -> None:
    assert plan(wanted, window) == plan(wanted, window)


@given(DRAFTS, WINDOWS)
def test_what_fits_is_within_the_limit_and_what_does_not_says_why(
    wanted: Draft, window: int
) -> None:
    report = plan(wanted, window).report
    assert report.fits == (report.tokens <= report.limit) == (report.failed_part is None)
    assert report.tokens <= report.tokens_before or report.trimmed
    assert sum(report.by_part.values()) == report.tokens
    assert report.exchanges_kept + report.exchanges_dropped == len(wanted.user[1].blocks)  # type: ignore[union-attr]  # the second section is Recent


@given(DRAFTS, WINDOWS)
def test_the_report_is_the_bill_of_the_request(wanted: Draft, window: int) -> None:
    from goliath_local.budget import ESTIMATE, Counter

    words = Counter(
        source="tokenizer",
        text=lambda text: len(text.split()),
        conversation=lambda text: len(text.split()),
        request=Words().request,
    )
    for counter in (ESTIMATE, words):
        found = plan(wanted, window, counter=counter)
        assert counter.request(found.request).total == found.report.tokens


@given(DRAFTS, WINDOWS)
def test_what_is_never_cut_is_there_whole(wanted: Draft, window: int) -> None:
    request = plan(wanted, window).request
    assert request.system_text == wanted.system[0].part.text  # type: ignore[union-attr]  # it is Fixed
    assert request.user_text.endswith(wanted.user[3].part.text)  # type: ignore[union-attr]  # it is Fixed
    log = wanted.user[2]
    assert isinstance(log, Log)
    if log.lines and log.lines[-1].excerpt is None:
        assert log.lines[-1].text in request.user_text
