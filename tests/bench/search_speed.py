"""How long searching takes without a cross-encoder, in a process of its own, and whether it finds what was planted.

The current statements of FactConsolidation are the gold; the rest of the store are other sentences (see `bench.sentences`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from bench import bulk, locomo
from bench.coarse import coarse_recall
from bench.gold import Gold, read_gold
from bench.metrics import percentile
from bench.processes import ask_child, running_writer
from bench.report import Figure, Row, SuiteResult
from bench.simple_search import simple_search
from bench.suites import Setting

OTHER_QUERIES = 100
WARM_UP = "Which city is the office in?"


def run_search(setting: Setting) -> SuiteResult:
    """Rows 8 and 9 where their scales are asked for; every scale's figures with recall, memory and the first search beside them."""
    gold = read_gold(setting.data)
    asked = [*gold.answers, *_other_queries(setting.data)]
    details: dict[str, Any] = {}
    for scale in setting.scales:
        with bulk.filled_store(setting, scale) as filled:
            said = _ask(filled.root, asked, setting.cache / "queries.json")
            simple = simple_search(filled, asked)
            details[f"{scale:,} facts"] = _figures(said, gold, asked) | simple | coarse_recall(filled, list(gold.answers))
    return SuiteResult(suite="search", rows=[_row(scale, details[f"{scale:,} facts"]) for scale in setting.scales], details=details)


def run_writers(setting: Setting) -> SuiteResult:
    """The same searches alone, and while another process adds to the same namespace without a pause."""
    gold = read_gold(setting.data)
    asked = [*gold.answers]
    details: dict[str, Any] = {}
    with bulk.filled_store(setting, min(setting.scales), own_copy=True) as filled:
        queries = setting.cache / "queries.json"
        details["alone"] = _figures(_ask(filled.root, asked, queries), gold, asked)
        with running_writer(filled.root, bulk.NAMESPACE) as writer:
            details["while another process adds"] = _figures(_ask(filled.root, asked, queries), gold, asked)
        details["statements added meanwhile"] = writer["added"]
    names = ("alone", "while another process adds")
    figures = [
        Figure(name=f"{name} {share}", measured=details[name][f"{share} ms"], unit="ms", more_is_better=False)
        for name in names
        for share in ("p50", "p95")
    ]
    row = Row(number="-", measure=f"Search at {min(setting.scales):,} facts", figures=figures)
    return SuiteResult(suite="writers", rows=[row], details=details)


def _ask(root: Path, asked: Sequence[str], queries: Path) -> dict[str, Any]:
    queries.parent.mkdir(parents=True, exist_ok=True)
    queries.write_text(json.dumps({"warm_up": WARM_UP, "queries": list(asked)}), encoding="utf-8")
    return ask_child("search", root, bulk.NAMESPACE, queries)


def _figures(said: dict[str, Any], gold: Gold, asked: Sequence[str]) -> dict[str, float]:
    found = [gold.answers[query] in answers for query, answers in zip(asked, said["answers"], strict=True) if query in gold.answers]
    return {
        "queries": float(len(asked)),
        "first search ms": said["first_ms"],
        "p50 ms": percentile(said["ms"], 0.5),
        "p95 ms": percentile(said["ms"], 0.95),
        "max ms": max(said["ms"]),
        "work p50 ms": percentile(said["cpu_ms"], 0.5),
        "work p95 ms": percentile(said["cpu_ms"], 0.95),
        "gold in the first 10": fmean(found),
        "resident MB": said["rss_mb"],
        "peak MB": said["peak_mb"],
    }


REQUIRED = {100_000: ("8", (20.0, 40.0), (8.0, 20.0), (26.0, 46.0)), 1_000_000: ("9", (150.0, 300.0), (30.0, 80.0), (262.0, 532.0))}
"""By scale: the row, then p50 and p95 in milliseconds of what must be, what we go for, and the floor (FTS5 + brute force)."""


def _row(scale: int, figures: dict[str, float]) -> Row:
    number, must, goal, floor = REQUIRED.get(scale, ("-", (None, None), (None, None), (None, None)))
    timed = [
        Figure(name=share, measured=figures[f"{share} ms"], must=m, goal=g, floor=f, unit="ms", more_is_better=False)
        for share, m, g, f in zip(("p50", "p95"), must, goal, floor, strict=True)
    ]
    found = Figure(name="gold in the first 10", measured=figures["gold in the first 10"])
    return Row(number=number, measure=f"Search, no cross-encoder, {scale:,} facts", figures=[*timed, found])


def _other_queries(data: Path) -> list[str]:
    return [question.text for corpus in locomo.read_corpora(data) for question in corpus.questions][:OTHER_QUERIES]
