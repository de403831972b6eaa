"""Asks every question of every corpus and scores the rankings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from bench import metrics
from bench.values import DEPTH, Answered, Corpus, Retriever

Measure = Callable[[Answered], float]

TOKEN_BUDGETS = (512, 1024, 2048)


def answer_all(system: Retriever, corpora: Iterable[Corpus], k: int = DEPTH) -> list[Answered]:
    """Every question with its first `k` hits, corpus by corpus; a corpus is dropped once its questions are answered."""
    return answer_each([system], corpora, k)[0]


def answer_each(systems: Sequence[Retriever], corpora: Iterable[Corpus], k: int = DEPTH) -> list[list[Answered]]:
    """The same for systems that ask one store in different ways: the first of them loads and drops."""
    answers: list[list[Answered]] = [[] for _ in systems]
    for corpus in corpora:
        systems[0].load(corpus)
        for system, answered in zip(systems, answers, strict=True):
            answered += [Answered(question=question, found=system.search(corpus, question, k)) for question in corpus.questions]
        systems[0].drop(corpus)
    return answers


def recall(k: int) -> Measure:
    return lambda answer: metrics.recall_at(answer.ranked, answer.question.evidence, k)


def any_found(k: int) -> Measure:
    return lambda answer: metrics.any_at(answer.ranked, answer.question.evidence, k)


def all_found(k: int) -> Measure:
    return lambda answer: metrics.all_at(answer.ranked, answer.question.evidence, k)


def ndcg(k: int) -> Measure:
    return lambda answer: metrics.ndcg_at(answer.ranked, answer.question.evidence, k)


def distinct_recall(k: int) -> Measure:
    return lambda answer: metrics.recall_at(metrics.distinct(answer.ranked, k), answer.question.evidence, k)


def recall_within(tokens: int) -> Measure:
    return lambda answer: metrics.recall_within(answer.found, answer.question.evidence, tokens)


def current_at(k: int) -> Measure:
    """For an update: a turn that is evidence and not stale stands among the first `k`."""
    return lambda answer: metrics.any_at(answer.ranked, _current(answer), k)


def stale_at(k: int) -> Measure:
    """For an update: a stale turn stands among the first `k`."""
    return lambda answer: metrics.any_at(answer.ranked, answer.question.stale, k)


def clean_at(k: int) -> Measure:
    """For an update: what is current is among the first `k` and nothing stale is."""
    return lambda answer: current_at(k)(answer) * (1 - stale_at(k)(answer))


MEASURES: dict[str, Measure] = {
    **{f"R@{k}": recall(k) for k in (1, 5, 10, 20)},
    **{f"any@{k}": any_found(k) for k in (1, 5, 10, 20)},
    **{f"all@{k}": all_found(k) for k in (5, 10, 20)},
    "MRR": lambda answer: metrics.reciprocal_rank(answer.ranked, answer.question.evidence),
    "nDCG@10": ndcg(10),
    "R@10, stale turns not asked for": lambda answer: metrics.recall_at(answer.ranked, _current(answer), 10),
    "all@5, stale turns not asked for": lambda answer: metrics.all_at(answer.ranked, _current(answer), 5),
    "distinct-turn R@10": distinct_recall(10),
    **{f"R within {tokens} tokens": recall_within(tokens) for tokens in TOKEN_BUDGETS},
}


def current_before_stale(answer: Answered) -> float:
    """For an update: of all its evidence, a current turn stands first."""
    return metrics.reciprocal_rank(
        [turn for turn in answer.ranked if turn in answer.question.evidence | answer.question.stale][:1], _current(answer)
    )


UPDATE_MEASURES: dict[str, Measure] = {
    "current@1": current_at(1),
    "current@5": current_at(5),
    "stale@5": stale_at(5),
    "clean@5": clean_at(5),
    "current before stale": current_before_stale,
}


def scores(answers: Sequence[Answered], measure: Measure) -> list[float]:
    """One score per question, in order."""
    return [measure(answer) for answer in answers]


def summary(answers: Sequence[Answered], measures: dict[str, Measure]) -> dict[str, float]:
    """The mean of each measure over the questions, with their number as `questions`; only the number where there are none."""
    means = {name: fmean(scores(answers, measure)) for name, measure in measures.items()} if answers else {}
    return {"questions": len(answers), **means}


def by_category(answers: Sequence[Answered], measures: dict[str, Measure]) -> dict[str, dict[str, float]]:
    """The summary of each category, by name."""
    names = sorted({answer.question.category for answer in answers})
    return {name: summary([answer for answer in answers if answer.question.category == name], measures) for name in names}


def updates(answers: Sequence[Answered]) -> list[Answered]:
    """The answers to questions whose evidence has an older, stale part."""
    return [answer for answer in answers if answer.question.stale]


def _current(answer: Answered) -> frozenset[str]:
    return answer.question.evidence - answer.question.stale
