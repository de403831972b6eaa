"""The measures, checked against values worked out by hand; no data and no engine needed."""

from __future__ import annotations

from math import log2

import pytest

from bench import metrics
from bench.asof import ORDERS, YEAR, Statement, read_probes
from bench.baselines import FullText
from bench.consolidation import read_statements, slot
from bench.dates import read_iso, read_locomo, read_longmemeval
from bench.locomo import read_evidence
from bench.pairs import Pair, duplicates_offered
from bench.report import Figure, Row
from bench.retrieval import UPDATE_MEASURES, answer_all, answer_each, summary
from bench.stats import paired_bootstrap
from bench.values import Answered, Corpus, Found, Question, Turn
from lean_memory.domain import Instant

RANKED = ("a", "x", "b", "b", "c")


def question(*evidence: str, stale: tuple[str, ...] = (), text: str = "?") -> Question:
    return Question(id="q", text=text, evidence=frozenset(evidence), stale=frozenset(stale), category="one", asked_at=Instant(0))


def answered(asked: Question, *turns: str) -> Answered:
    return Answered(question=asked, found=[Found(turn=turn, text="") for turn in turns])


def turn(name: str, text: str, session: str = "s") -> Turn:
    return Turn(id=name, text=text, said_at=Instant(0), session=session)


def test_recall_is_the_fraction_of_the_evidence_within_the_cut() -> None:
    assert metrics.recall_at(RANKED, {"a", "c"}, 1) == 0.5
    assert metrics.recall_at(RANKED, {"a", "c"}, 5) == 1.0
    assert metrics.recall_at(RANKED, {"z"}, 5) == 0.0


def test_a_turn_found_twice_counts_once_and_spends_two_places() -> None:
    assert metrics.recall_at(RANKED, {"b", "c"}, 4) == 0.5
    assert metrics.distinct(RANKED, 4) == ("a", "x", "b", "c")
    assert metrics.recall_at(metrics.distinct(RANKED, 4), {"b", "c"}, 4) == 1.0


def test_any_and_all_ask_for_one_and_for_every_piece_of_evidence() -> None:
    assert metrics.any_at(RANKED, {"b", "z"}, 3) == 1.0
    assert metrics.any_at(RANKED, {"b"}, 2) == 0.0
    assert metrics.all_at(RANKED, {"a", "b"}, 3) == 1.0
    assert metrics.all_at(RANKED, {"a", "c"}, 4) == 0.0


def test_the_reciprocal_rank_is_that_of_the_first_evidence() -> None:
    assert metrics.reciprocal_rank(RANKED, {"b", "c"}) == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank(RANKED, {"z"}) == 0.0


def test_ndcg_discounts_by_rank_and_divides_by_the_best_possible() -> None:
    gain = 1 / log2(4) + 1 / log2(6)
    assert metrics.ndcg_at(RANKED, {"b", "c"}, 10) == pytest.approx(gain / (1 + 1 / log2(3)))
    assert metrics.ndcg_at(("b", "c"), {"b", "c"}, 10) == 1.0
    assert metrics.ndcg_at(("b", "b"), {"b", "c"}, 10) == pytest.approx(1 / (1 + 1 / log2(3)))


def test_a_token_budget_ends_at_the_first_hit_that_does_not_fit() -> None:
    found = [Found(turn="a", text="x" * 40), Found(turn="b", text="x" * 42), Found(turn="c", text="x")]
    assert metrics.recall_within(found, {"a", "b"}, 10) == 0.5
    assert metrics.recall_within(found, {"a", "b"}, 20) == 0.5
    assert metrics.recall_within(found, {"a", "b"}, 21) == 1.0
    assert metrics.recall_within(found, {"c"}, 21) == 0.0


def test_a_percentile_is_a_value_of_the_sample() -> None:
    sample = [float(number) for number in range(1, 21)]
    assert metrics.percentile(sample, 0.5) == 10
    assert metrics.percentile(sample, 0.95) == 19
    assert metrics.percentile([7.0], 0.95) == 7.0


def test_the_bootstrap_of_a_constant_gain_is_that_gain() -> None:
    gain = paired_bootstrap([1.0, 0.5, 0.75], [0.5, 0.0, 0.25])
    assert (gain.mean, gain.low, gain.high, gain.counts) == (0.5, 0.5, 0.5, True)


def test_the_bootstrap_interval_spans_zero_where_gains_and_losses_balance_and_is_the_same_every_time() -> None:
    ours, theirs = [1.0, 0.0] * 20, [0.0, 1.0] * 20
    gain = paired_bootstrap(ours, theirs)
    assert gain.mean == 0
    assert gain.low < 0 < gain.high
    assert not gain.counts
    assert gain == paired_bootstrap(ours, theirs)


def test_the_bootstrap_interval_agrees_with_the_normal_approximation() -> None:
    gain = paired_bootstrap([1.0] * 60 + [0.0] * 40, [0.0] * 100)
    half = 1.96 * (0.6 * 0.4 / 100) ** 0.5
    assert gain.low == pytest.approx(0.6 - half, abs=0.02)
    assert gain.high == pytest.approx(0.6 + half, abs=0.02)


def test_the_bootstrap_refuses_scores_of_different_questions() -> None:
    with pytest.raises(ValueError, match="paired scores"):
        paired_bootstrap([1.0], [])


def test_an_update_is_clean_only_with_the_current_turn_in_and_the_stale_ones_out() -> None:
    asked = question("new", "old", stale=("old",))
    means = {name: measure(answered(asked, "x", "new", "y")) for name, measure in UPDATE_MEASURES.items()}
    assert means == {"current@1": 0, "current@5": 1, "stale@5": 0, "clean@5": 1, "current before stale": 1}
    means = {name: measure(answered(asked, "new", "old")) for name, measure in UPDATE_MEASURES.items()}
    assert means == {"current@1": 1, "current@5": 1, "stale@5": 1, "clean@5": 0, "current before stale": 1}


def test_full_text_alone_misses_what_only_the_neighbouring_turn_says() -> None:
    turns = [turn("1", "Did you see the glacier?"), turn("2", "Yes, last May."), turn("3", "No glass.", session="other")]
    corpus = Corpus(name="c", turns=turns, questions=[question("2", text="When did they see the glacier?")])
    assert [list(each.ranked) for each in answer_all(FullText(), [corpus])] == [["1"]]
    assert [list(each.ranked) for each in answer_all(FullText(0.4), [corpus])] == [["1", "2"]]


def test_several_ways_of_asking_share_one_store_that_the_first_of_them_loads_and_drops() -> None:
    turns = [turn("1", "Did you see the glacier?"), turn("2", "Yes, last May.")]
    corpus = Corpus(name="c", turns=turns, questions=[question("2", text="When did they see the glacier?")])
    store = FullText(0.4)
    first, second = answer_each([store, store], [corpus])
    assert first == second == answer_all(FullText(0.4), [corpus])
    with pytest.raises(KeyError):
        store.search(corpus, corpus.questions[0], 1)


def test_equal_scores_go_to_the_newer_turn() -> None:
    turns = [turn("old", "I like tea."), turn("new", "I like tea."), turn("other", "Hello there.")]
    corpus = Corpus(name="c", turns=turns, questions=[question("new", text="tea")])
    answers = answer_all(FullText(), [corpus])
    assert list(answers[0].ranked) == ["new", "old"]
    assert summary(answers, {}) == {"questions": 1}


def test_the_dates_of_the_files_are_read_as_utc() -> None:
    assert read_iso("1970-01-02") == 86_400_000
    assert read_iso("1970-02") == 31 * 86_400_000
    assert read_locomo("1:56 pm on 8 May, 2023") == read_iso("2023-05-08T13:56:00")
    assert read_longmemeval("2022/03/02 (Wed) 04:59") == read_iso("2022-03-02T04:59:00")


def test_evidence_is_read_in_every_way_the_file_writes_it() -> None:
    assert read_evidence(["D8:6; D9:17", "D:11:26", "D30:05", "D"]) == {"D8:6", "D9:17", "D11:26", "D30:5"}


def test_a_statement_without_its_value_names_its_slot() -> None:
    numbered = list(read_statements("Here they are:\n0. The capital of Peru is Lima.\n1. The capital of Peru is Cusco.\n"))
    assert [each.number for each in numbered] == [0, 1]
    assert slot(numbered[1].text, (" Cusco.",)) == "The capital of Peru is "


def test_shuffling_keeps_every_statement_and_is_the_same_every_time() -> None:
    statements = [Statement(timeline="t", text=str(n), said_at=Instant(n), value=None) for n in range(20)]
    shuffled = ORDERS["shuffled"](statements)
    assert shuffled == ORDERS["shuffled"](statements)
    assert shuffled != statements
    assert ORDERS["in order"](shuffled) == statements
    assert ORDERS["reversed"](shuffled) == statements[::-1]


def test_a_timeline_is_asked_about_inside_its_intervals_between_them_and_outside() -> None:
    spans = [("2000-01", "2002-01", "A"), ("2002-01", "2004-01", "B"), ("2006-01", "2008-01", "C")]
    intervals = [{"start": start, "end": end, "value": value} for start, end, value in spans]
    probes = list(read_probes({"id": "t", "question": "?", "intervals": intervals}))
    assert [probe.value for probe in probes if probe.kind == "midpoint"] == ["A", "B", "C"]
    assert [probe.at for probe in probes if probe.kind == "gap"] == [(read_iso("2004-01") + read_iso("2006-01")) // 2]
    assert [probe.at for probe in probes if probe.kind == "outside"] == [read_iso("2000-01") - YEAR, read_iso("2008-01") + YEAR]


def test_offers_are_counted_by_label() -> None:
    pairs = [Pair(label="same", a="a", b="a"), Pair(label="same", a="a", b="b"), Pair(label="conflict", a="a", b="c")]
    assert duplicates_offered(pairs, lambda given: [pair.a == pair.b for pair in given]) == {"same": 0.5, "conflict": 0.0}


def test_a_row_must_reach_the_better_of_the_figure_and_the_baseline() -> None:
    above_the_figure_only = Figure(name="R@10", measured=0.78, must=0.77, baseline=0.79)
    assert above_the_figure_only.required == 0.79
    assert above_the_figure_only.reached is False
    fast = Figure(name="p50", measured=9.0, must=20.0, goal=8.0, unit="ms", more_is_better=False)
    assert fast.reached is True
    assert Row(number="8", measure="search", figures=[fast]).verdict == "reached"
    assert Row(number="1", measure="turns", figures=[above_the_figure_only, fast]).verdict == "below"
