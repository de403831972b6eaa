"""Each suite of quality as one function from a setting to its rows and details."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import asof, consolidation, locomo, longmemeval, pairs, retrieval
from bench.baselines import baselines
from bench.engine import Engine, scratch_memory
from bench.report import Figure, Row, SuiteResult
from bench.retrieval import (
    MEASURES,
    UPDATE_MEASURES,
    Measure,
    all_found,
    answer_all,
    answer_each,
    clean_at,
    current_at,
    ndcg,
    recall,
    scores,
    stale_at,
)
from bench.stats import paired_bootstrap
from bench.values import Answered, Corpus, Retriever
from lean_memory.models.ports import Embedder
from lean_memory.proposals import ProposalKind

if TYPE_CHECKING:
    from lean_memory import Memory

Corpora = Callable[[], Iterable[Corpus]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where the data is and what is run: with `engine` off only the baselines are."""

    data: Path
    cache: Path
    embedder: Embedder
    recipe: str | None = None
    engine: bool = True
    scales: tuple[int, ...] = (1_000, 10_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers of the engine (`None` where it was not run) and of every baseline, to the same questions."""

    engine: Sequence[Answered] | None
    baselines: Mapping[str, Sequence[Answered]]

    def figure(self, name: str, measure: Measure, *, must: float, goal: float, floor: float, more_is_better: bool = True) -> Figure:
        """A figure with the best baseline on the same questions; for less-is-better measures the baseline asks for nothing."""
        best = max((_mean(measure, answers) for answers in self.baselines.values()), default=None) if more_is_better else None
        measured = None if self.engine is None else _mean(measure, self.engine)
        return Figure(name=name, measured=measured, must=must, goal=goal, floor=floor, baseline=best, more_is_better=more_is_better)

    def details(self, measures: dict[str, Measure]) -> dict[str, Any]:
        """The summary of every system, the engine's by category, and its gain over each baseline with its interval."""
        summaries = {name: retrieval.summary(answers, measures) for name, answers in self.baselines.items()}
        if self.engine is None:
            return {"systems": summaries}
        gains = {
            baseline: {
                name: asdict(paired_bootstrap(scores(self.engine, measure), scores(answers, measure))) for name, measure in measures.items()
            }
            for baseline, answers in self.baselines.items()
            if answers
        }
        summaries["lean-memory"] = retrieval.summary(self.engine, measures)
        return {"systems": summaries, "by category": retrieval.by_category(self.engine, measures), "gains": gains}

    def narrowed(self, choose: Callable[[Sequence[Answered]], list[Answered]]) -> Answers:
        """The answers to some of the questions."""
        engine = None if self.engine is None else choose(self.engine)
        return Answers(engine=engine, baselines={name: choose(answers) for name, answers in self.baselines.items()})


def run_locomo(setting: Setting) -> SuiteResult:
    answers = _answers(setting, lambda: locomo.read_corpora(setting.data))
    figures = (
        answers.figure("R@10", recall(10), floor=0.668, must=0.778, goal=0.85),
        answers.figure("nDCG@10", ndcg(10), floor=0.534, must=0.588, goal=0.66),
    )
    return SuiteResult(suite="locomo", rows=[Row(number="1", measure="LoCoMo turns", figures=figures)], details=answers.details(MEASURES))


def run_longmemeval(setting: Setting) -> SuiteResult:
    """Rows 2 and 3 on one store. The evidence of row 2 holds turns that later ones replaced, so it is asked for with history; its
    figures in a latest search stand beside it, and row 3 is about that search.
    """
    latest, whole = _answers_of_both(setting, lambda: longmemeval.read_corpora(setting.data))
    figures = (
        whole.figure("R@10", recall(10), floor=0.915, must=0.915, goal=0.95),
        whole.figure("all@5", all_found(5), floor=0.864, must=0.864, goal=0.92),
    )
    rows = [Row(number="2", measure="LongMemEval, session + 45 distractors, with history", figures=figures), _updates_row(latest)]
    details = whole.details(MEASURES) | {
        "latest search": latest.details(MEASURES),
        "updates": latest.narrowed(retrieval.updates).details(UPDATE_MEASURES),
    }
    return SuiteResult(suite="longmemeval", rows=rows, details=details)


def run_updates(setting: Setting) -> SuiteResult:
    """The knowledge updates of LongMemEval alone, which is quicker than all of it."""
    answers = _answers(
        setting, lambda: (corpus for corpus in longmemeval.read_corpora(setting.data) if any(each.stale for each in corpus.questions))
    )
    return SuiteResult(suite="updates", rows=[_updates_row(answers)], details=answers.details(UPDATE_MEASURES))


def _updates_row(answers: Answers) -> Row:
    chosen = answers.narrowed(retrieval.updates)
    figures = (
        chosen.figure("cur@1", current_at(1), floor=0.83, must=0.85, goal=0.93),
        chosen.figure("stale@5", stale_at(5), floor=0.94, must=0.30, goal=0.10, more_is_better=False),
    )
    return Row(number="3", measure="LongMemEval knowledge updates", figures=figures)


def run_consolidation(setting: Setting) -> SuiteResult:
    corpora = consolidation.read_corpora(setting.data)
    answers = _answers(setting, lambda: corpora)
    figures = (
        answers.figure("cur@1", current_at(1), floor=0.78, must=0.95, goal=0.99),
        answers.figure("clean@5", clean_at(5), floor=0.60, must=0.95, goal=0.99),
    )
    details = answers.details(UPDATE_MEASURES) | {"changed slots only": answers.narrowed(retrieval.updates).details(UPDATE_MEASURES)}
    if setting.engine:
        details["superseded found with history on"] = consolidation_history(setting, corpora)
    row = Row(number="4", measure="FactConsolidation, single-hop", figures=figures)
    return SuiteResult(suite="consolidation", rows=[row], details=details)


def consolidation_history(setting: Setting, corpora: Iterable[Corpus]) -> dict[str, float]:
    """The share of changed slots whose older statement is among the first 5 and 10 hits when history is asked for."""
    with scratch_memory(setting.embedder) as memory:
        answers = retrieval.updates(answer_all(Engine(memory=memory, recipe=setting.recipe, latest_only=False), corpora))
    return retrieval.summary(answers, {"stale@5": stale_at(5), "stale@10": stale_at(10)})


def run_asof(setting: Setting) -> SuiteResult:
    timelines = asof.read_timelines(setting.data)
    details: dict[str, Any] = {}
    if setting.engine:
        for name, order in asof.ORDERS.items():
            with scratch_memory(setting.embedder) as memory:
                told = asof.Told(memory=memory, recipe=setting.recipe)
                told.tell(order(timelines.statements))
                details[name] = asof.measure(told, timelines.probes)
        with scratch_memory(setting.embedder) as memory:
            details["known at"] = asof.measure_known_at(asof.Told(memory=memory, recipe=setting.recipe), timelines)
    worst = {measure: min((details[name][measure] for name in asof.ORDERS), default=None) for measure in ASOF_SHOWN} if details else {}
    figures = [Figure(name="value@1, worst order", measured=worst.get("value@1"), floor=0.455, must=0.99, goal=0.998)]
    figures += [Figure(name=measure, measured=worst.get(measure), goal=1.0) for measure in ASOF_SHOWN if measure != "value@1"]
    return SuiteResult(suite="asof", rows=[Row(number="5", measure="As-of, TimeQA", figures=figures)], details=details)


ASOF_SHOWN = ("value@1", "gap: search silent", "gap: facts silent")


def run_pairs(setting: Setting) -> SuiteResult:
    """Rows 6 and 7. Row 6 is what the finders tell of two statements about one subject, as the cosine of the floor was measured, and below
    it what comes of the sentences by way of extraction.
    """
    sentences = pairs.read_pairs(setting.data)
    details: dict[str, Any] = {}
    details["cosine at half the true duplicates"] = pairs.best_cosine(sentences, setting.embedder)
    for threshold in pairs.COSINES:
        proposer = pairs.cosine_proposer(setting.embedder, threshold)
        details[f"cosine {threshold:.2f}"] = pairs.duplicates_offered(sentences, proposer)
    told = {kind: pairs.one_slot_proposer(setting.embedder, kind)(sentences) for kind in (ProposalKind.MERGE, ProposalKind.CONFLICT)}
    details |= {f"one subject: offered as {kind}": pairs.shares(sentences, offered) for kind, offered in told.items()}
    for name, part in zip(("two thirds", "held-out third"), pairs.thirds(sentences), strict=True):
        chosen, offered = [sentences[at] for at in part], [told[ProposalKind.MERGE][at] for at in part]
        details[f"one subject: offered as merge, {name}"] = pairs.shares(chosen, offered)
    rows = [_duplicates_row("Different values merged as duplicates", sentences, told[ProposalKind.MERGE], details["cosine 0.90"])]
    if setting.engine:
        with scratch_memory(setting.embedder) as memory:
            rows.append(_maintained_row(memory, sentences, details))
            details["retired"] = pairs.retired(memory, sentences)
        figure = Figure(name="share", measured=details["retired"]["other_subject"], must=0.001, goal=0.0, more_is_better=False)
        rows.append(Row(number="7", measure="A statement about another subject supersedes", figures=[figure]))
    return SuiteResult(suite="pairs", rows=rows, details=details)


def _maintained_row(memory: Memory, sentences: Sequence[pairs.Pair], details: dict[str, Any]) -> Row:
    fates = pairs.fates(memory, sentences)
    for kind in (ProposalKind.MERGE, ProposalKind.CONFLICT):
        details[f"maintained: offered as {kind}"] = pairs.shares(sentences, [kind in fate.offered for fate in fates])
    details["maintained: extraction made a fact of either"] = pairs.shares(sentences, [fate.both_read for fate in fates])
    details["maintained: in one slot"] = pairs.shares(sentences, [fate.one_slot for fate in fates])
    offered = [ProposalKind.MERGE in fate.offered for fate in fates]
    row = _duplicates_row("The same, added to a memory and maintained", sentences, offered, None)
    held = [at for at, fate in enumerate(fates) if fate.both_read]
    found = pairs.shares([sentences[at] for at in held], [offered[at] for at in held])[pairs.SAME]
    return replace(row, figures=[*row.figures, Figure(name="true duplicates found where both are facts", measured=found, must=0.5)])


def _duplicates_row(measure: str, sentences: Sequence[pairs.Pair], offered: Sequence[bool], cosine: dict[str, float] | None) -> Row:
    found_of = pairs.shares(sentences, offered)
    wrong = Figure(
        name="offered in error",
        measured=found_of["conflict"],
        floor=0.15,
        must=0.05,
        goal=0.02,
        baseline=cosine["conflict"] if cosine else None,
        more_is_better=False,
    )
    other = Figure(name="other subjects offered", measured=found_of["other_subject"], must=0.05, more_is_better=False)
    found = Figure(name="true duplicates found", measured=found_of[pairs.SAME], must=0.5)
    return Row(number="6", measure=measure, figures=[wrong, other, found])


def _answers(setting: Setting, corpora: Corpora) -> Answers:
    simple = {system.name: answer_all(system, corpora()) for system in _baselines(setting)}
    if not setting.engine:
        return Answers(engine=None, baselines=simple)
    with scratch_memory(setting.embedder) as memory:
        return Answers(engine=answer_all(Engine(memory=memory, recipe=setting.recipe), corpora()), baselines=simple)


def _answers_of_both(setting: Setting, corpora: Corpora) -> tuple[Answers, Answers]:
    """The answers to a latest search, and to one with history."""
    simple = {system.name: answer_all(system, corpora()) for system in _baselines(setting)}
    if not setting.engine:
        return Answers(engine=None, baselines=simple), Answers(engine=None, baselines=simple)
    with scratch_memory(setting.embedder) as memory:
        latest = Engine(memory=memory, recipe=setting.recipe)
        found, whole = answer_each([latest, replace(latest, latest_only=False)], corpora())
        return Answers(engine=found, baselines=simple), Answers(engine=whole, baselines=simple)


def _baselines(setting: Setting) -> list[Retriever]:
    return list(baselines(setting.embedder))


def _mean(measure: Measure, answers: Sequence[Answered]) -> float:
    return retrieval.summary(answers, {"mean": measure}).get("mean", 0.0)
