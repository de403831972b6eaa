"""The simple search that the engine's speed is read against on the same machine: FTS5 on disk, then every vector in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import apsw
import numpy as np

from bench.baselines import match_any
from bench.bulk import Filled
from bench.metrics import percentile

CUT = 50


def simple_search(filled: Filled, asked: Sequence[str]) -> dict[str, float]:
    """Milliseconds of both arms, median and 95th percentile; embedding the question is in neither."""
    texts, vectors = filled.texts(), np.asarray(filled.vectors())
    queries = {question: filled.embedder.embed_query(question) for question in asked}
    with TemporaryDirectory(prefix="lean-memory-bench-") as folder:
        index = apsw.Connection(str(Path(folder) / "simple.db"))
        index.execute("CREATE VIRTUAL TABLE turn USING fts5(text, tokenize='porter unicode61')")
        with index:
            index.executemany("INSERT INTO turn(rowid, text) VALUES (?, ?)", enumerate(texts))
        lexical = _times(asked, lambda question: _full_text(index, question))
        index.close()
    dense = _times(asked, lambda question: np.argpartition(-(vectors @ queries[question]), CUT)[:CUT])
    return {
        f"{arm} {share} ms": percentile(times, quantile)
        for arm, times in (("FTS5", lexical), ("every vector", dense))
        for share, quantile in (("p50", 0.5), ("p95", 0.95))
    }


def _full_text(index: apsw.Connection, question: str) -> object:
    return index.execute("SELECT rowid FROM turn WHERE turn MATCH ? ORDER BY rank LIMIT ?", (match_any(question), CUT)).fetchall()


def _times(asked: Sequence[str], search: Callable[[str], object]) -> list[float]:
    times: list[float] = []
    for question in asked:
        before = perf_counter()
        search(question)
        times.append((perf_counter() - before) * 1000)
    return times
