"""Fitting a prompt into its limit: from a draft to the request and its report.

Pure. First every section is held to its own allowance; then, only while the prompt is over the
limit, the ladder of the stage is climbed. What is not on the ladder is never cut: instructions,
tools, facts, schema, the newest result, the ask, the hint. Source: behaviour spec 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from goliath_local.budget.counter import ESTIMATE
from goliath_local.budget.cut import clip_tokens, whole
from goliath_local.budget.draft import Brief, Draft, Fixed, Log, Recent
from goliath_local.budget.excerpts import omitted_excerpts
from goliath_local.budget.limits import (
    POLICY_VERSION,
    Limits,
    Window,
    conversation_tokens,
    limits,
    result_budgets,
)
from goliath_local.budget.recent import RecentShown, select_recent
from goliath_local.budget.report import Report, Shortened
from goliath_local.model import Part, Request, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goliath_local.budget.counter import Counter
    from goliath_local.budget.draft import Section
    from goliath_local.model import PromptTokens


class Trim(StrEnum):
    """The rules that make a prompt shorter."""

    EXCERPTS = "excerpts"
    """Older content results over the retrieval allowance became a line each."""

    BRIEF_CLIPPED = "brief-clipped"
    RECENT_CLIPPED = "recent-clipped"
    """Exchanges that do not fit the allowance are not shown, or the newest only in part."""

    OLDER_RESULTS = "older-results"
    """All results but the newest became their first line."""

    RECENT = "recent"
    BRIEF = "brief"
    EXAMPLES = "examples"


LADDER: Mapping[Stage, tuple[Trim, ...]] = {
    Stage.CONDUCTOR: (Trim.OLDER_RESULTS, Trim.RECENT, Trim.BRIEF, Trim.EXAMPLES),
    Stage.WORKER: (Trim.RECENT, Trim.BRIEF, Trim.EXAMPLES),
    Stage.ANSWER: (Trim.OLDER_RESULTS, Trim.RECENT, Trim.BRIEF, Trim.EXAMPLES),
    Stage.SCRIBE: (),
}
"""What each stage gives up, in order, when its prompt is over the limit."""

_PART_OF: Mapping[Trim, type[Section] | None] = {
    Trim.EXCERPTS: Log,
    Trim.BRIEF_CLIPPED: Brief,
    Trim.RECENT_CLIPPED: Recent,
    Trim.OLDER_RESULTS: Log,
    Trim.RECENT: Recent,
    Trim.BRIEF: Brief,
    Trim.EXAMPLES: None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPlan:
    """The prompt as it would be sent, and why it looks like that."""

    request: Request
    report: Report


def plan_budget(
    draft: Draft,
    *,
    window: Window,
    counter: Counter = ESTIMATE,
    retrieved_tokens: int | None = None,
    output_tokens: int | None = None,
) -> BudgetPlan:
    """Return the draft fitted into its limit; the same input gives the same plan.

    The request is there also when it does not fit (`report.fits`); then it must not be sent.

    Args:
        draft: what the stage would like to say.
        window: the whole window.
        counter: who counts; what it raises passes through.
        retrieved_tokens: allowance of content results, if not the window's own.
        output_tokens: most tokens of the reply, if not the stage's own cap.
    """
    bounds = limits(draft.stage, window.tokens, output_tokens=output_tokens)
    if retrieved_tokens is None:
        retrieved_tokens = result_budgets(window.tokens).retrieved_context_tokens
    climb = _Climb(draft=draft, bounds=bounds, counter=counter)
    climb.allow(conversation_tokens(window.tokens), retrieved_tokens)
    for trim in LADDER[draft.stage]:
        if climb.bill.total <= bounds.limit:
            break
        climb.apply(trim)
    return BudgetPlan(request=climb.request, report=climb.report(window))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """How much of each section is shown."""

    brief_tokens: int | None = None
    """Allowance of the brief; None is all of it."""

    recent_tokens: int | None = None
    omitted: frozenset[int] = frozenset()
    short_log: bool = False
    dropped: frozenset[Trim] = frozenset()


class _Climb:
    """One draft on its way down to the limit; lives for one `plan_budget`."""

    def __init__(self, *, draft: Draft, bounds: Limits, counter: Counter) -> None:
        self.draft = draft
        self.bounds = bounds
        self.counter = counter
        self.shape = _Shape()
        self.request = self._render(self.shape)
        self.bill = self.first_bill = counter.request(self.request)
        self.shortened: list[Shortened] = []

    def allow(self, conversation: int, retrieved: int) -> None:
        """Hold brief, recent conversation and excerpts to their allowances."""
        lines = [line for log in self._sections(Log) for line in log.lines]
        omitted = omitted_excerpts(
            [line.excerpt for line in lines], retrieved, count=self.counter.text
        )
        self._take(Trim.EXCERPTS, replace(self.shape, omitted=omitted))
        self._take(Trim.BRIEF_CLIPPED, replace(self.shape, brief_tokens=conversation))
        self._take(Trim.RECENT_CLIPPED, replace(self.shape, recent_tokens=conversation))

    def apply(self, trim: Trim) -> None:
        """Climb one rung."""
        if trim is Trim.OLDER_RESULTS:
            self._take(trim, replace(self.shape, short_log=True))
        else:
            self._take(trim, replace(self.shape, dropped=self.shape.dropped | {trim}))

    def _take(self, trim: Trim, shape: _Shape) -> None:
        request = self._render(shape)
        self.shape = shape
        if request == self.request:
            return
        bill = self.counter.request(request)
        name = self._part_name(trim)
        self.shortened.append(
            Shortened(
                part=name,
                how=trim.value,
                tokens_before=self.bill.by_part.get(name, 0),
                tokens_after=bill.by_part.get(name, 0),
            )
        )
        self.request, self.bill = request, bill

    def report(self, window: Window) -> Report:
        """Return the figures of where the climb ended."""
        recents = [self._recent(section, self.shape) for section in self._sections(Recent)]
        return Report(
            policy=POLICY_VERSION,
            stage=self.draft.stage,
            window=window.tokens,
            window_source=window.source,
            output_requested=self.bounds.requested_output,
            output_cap=self.bounds.output_cap,
            reserve=self.bounds.reserve,
            limit=self.bounds.limit,
            source=self.counter.source,
            tokens_before=self.first_bill.total,
            tokens=self.bill.total,
            by_part_before=dict(self.first_bill.by_part),
            by_part=dict(self.bill.by_part),
            exchanges_kept=sum(shown.kept for shown in recents),
            exchanges_dropped=sum(shown.dropped for shown in recents),
            shortened=tuple(self.shortened),
            failed_part=_largest(self.bill) if self.bill.total > self.bounds.limit else None,
        )

    def _render(self, shape: _Shape) -> Request:
        return Request(
            stage=self.draft.stage,
            system=tuple(self._parts(self.draft.system, shape)),
            user=tuple(self._parts(self.draft.user, shape)),
            examples=() if Trim.EXAMPLES in shape.dropped else self.draft.examples,
            schema=self.draft.schema,
            max_tokens=self.bounds.output_cap,
        )

    def _parts(self, sections: tuple[Section, ...], shape: _Shape) -> Iterator[Part]:
        for section in sections:
            match section:
                case Fixed(part=part):
                    texts, name = [part.text], part.name
                case Brief(name=name):
                    texts = [self._brief(section, shape)]
                case Recent(name=name):
                    shown = self._recent(section, shape).text
                    texts = [shown + section.after if shown else ""]
                case Log(name=name):
                    texts = _log_texts(section, shape)
            yield from (Part(name=name, text=whole(text)) for text in texts if text)

    def _brief(self, section: Brief, shape: _Shape) -> str:
        if Trim.BRIEF in shape.dropped or not section.text:
            return ""
        text = section.text
        if shape.brief_tokens is not None:
            text = clip_tokens(text, shape.brief_tokens, count=self.counter.conversation)
        return section.before + text + section.after if text else ""

    def _recent(self, section: Recent, shape: _Shape) -> RecentShown:
        if Trim.RECENT in shape.dropped:
            return RecentShown(text="", kept=0, dropped=len(section.blocks))
        if shape.recent_tokens is None:
            text = "\n\n".join(block.text for block in section.blocks)
            return RecentShown(
                text=section.heading + text if text else "", kept=len(section.blocks), dropped=0
            )
        return select_recent(
            section.heading,
            section.blocks,
            shape.recent_tokens,
            count=self.counter.conversation,
        )

    def _sections(self, kind: type[Section]) -> list[Any]:
        return [s for s in (*self.draft.system, *self.draft.user) if isinstance(s, kind)]

    def _part_name(self, trim: Trim) -> str:
        kind = _PART_OF[trim]
        if kind is None:
            return "examples"
        found = self._sections(kind)
        return found[0].name if found else ""


def _log_texts(section: Log, shape: _Shape) -> list[str]:
    last = len(section.lines) - 1
    texts = [section.heading] if section.lines else []
    for index, line in enumerate(section.lines):
        text = line.text
        if index in shape.omitted and line.omitted is not None:
            text = line.omitted
        if shape.short_log and index != last:
            text = min(text, line.short, key=len)
        texts.append(text)
    if section.after and section.lines:
        texts[-1] += section.after
    return texts


def _largest(bill: PromptTokens) -> str | None:
    return max(bill.by_part, key=lambda name: bill.by_part[name], default=None)
