"""The cross-encoder: it orders the best hits in its time or not at all, on a fixed scale, with nothing open meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lean_memory import Memory
from lean_memory.domain import NO_CROSS_ENCODER, WEAK_RELEVANCE, SearchHit, Visibility
from lean_memory.errors import ModelError
from lean_memory.models.ports import Reranker
from lean_memory.retrieval import pipeline, recipes
from lean_memory.retrieval.space import SearchModels
from lean_memory.store.codes import CodeTable
from lean_memory.store.connection import open_connection
from support.embedding import RotatedEmbedder, WordEmbedder, WordReranker
from support.statements import day, open_store, record

TOLD = (
    "Ana keeps the harbour logs in a green folder.",
    "The harbour logs, the harbour maps and the harbour keys are old.",
    "Green is a colour.",
    "Pablo has a folder.",
)
QUERY = "in a green folder Ana keeps the harbour logs"


class Fixed(WordReranker):
    """Gives marks by a word in the text."""

    def __init__(self, marks: dict[str, float]) -> None:
        super().__init__()
        self.marks = marks

    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> NDArray[np.float32]:
        self.read.append(tuple(texts))
        return np.array([max([0.0, *(mark for word, mark in self.marks.items() if word in text)]) for text in texts], np.float32)


def opened(root: Path, reranker: Reranker | None) -> Memory:
    memory = Memory(root=root, embedder=WordEmbedder(), reranker=reranker)
    memory.add_many("ana", [{"text": text, "t_ref": day(number)} for number, text in enumerate(TOLD)])
    return memory


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[list[SearchHit]]:
    with opened(tmp_path / "plain", None) as memory:
        yield memory.search("ana", QUERY, now=day(9))


def texts(hits: Sequence[SearchHit]) -> list[str]:
    return [hit.fact.fact_text for hit in hits]


def test_its_marks_decide_among_the_best_hits(root: Path, plain: list[SearchHit]) -> None:
    with opened(root, Fixed({"Pablo": 1.0})) as memory:
        hits = memory.search("ana", QUERY, now=day(9))
    assert texts(plain)[0] == TOLD[0]
    assert texts(hits)[0] == TOLD[3]
    assert sorted(texts(hits)) == sorted(texts(plain))
    assert {hit.degraded for hit in hits} == {()}


def test_relevance_stays_on_its_scale_whatever_else_is_there(root: Path, plain: list[SearchHit]) -> None:
    known = {hit.fact.fact_text: hit.relevance for hit in plain}
    for low, high in ((0.0, 0.0), (1.0, 1.0), (0.2, 0.9)):
        with opened(root / str(high), Fixed({"": low, "Pablo": high})) as memory:
            for hit in memory.search("ana", QUERY, now=day(9)):
                mark = high if "Pablo" in hit.fact.fact_text else low
                assert hit.relevance == pytest.approx(0.5 * known[hit.fact.fact_text] + 0.5 * mark, abs=1e-6)
    with opened(root / "none", Fixed({})) as memory:
        assert all(hit.relevance < WEAK_RELEVANCE for hit in memory.search("ana", "the price of tin", now=day(9)))


def test_too_slow_or_broken_it_changes_nothing_and_is_said_to_be_missing(root: Path, plain: list[SearchHit]) -> None:
    class Broken(WordReranker):
        def score(self, query: str, texts: Sequence[str], *, seconds: float) -> NDArray[np.float32]:
            raise ModelError("It gave half an answer.")

    slow = recipes.RERANKED.rerank_seconds + 0.1
    for number, reranker in enumerate((WordReranker(needs=slow), Broken())):
        with opened(root / str(number), reranker) as memory:
            hits = memory.search("ana", QUERY, now=day(9))
        assert [(hit.fact.fact_text, hit.final_score) for hit in hits] == [(hit.fact.fact_text, hit.final_score) for hit in plain]
        assert {hit.degraded for hit in hits} == {(NO_CROSS_ENCODER,)}


def test_it_reads_no_more_than_the_recipe_says_and_what_it_did_not_read_stays_behind(root: Path) -> None:
    reranker = Fixed({"": 0.1})
    with Memory(root=root, embedder=WordEmbedder(), reranker=reranker) as memory:
        memory.add_many("ana", [f"Locker {number} holds badge {number * 7}." for number in range(60)])
        plain = texts(memory.search("ana", "which locker holds badge 21", 50, recipe="builtin"))
        hits = texts(memory.search("ana", "which locker holds badge 21", 50))
    assert [len(read) for read in reranker.read] == [recipes.RERANKED.rerank]
    assert set(hits[: recipes.RERANKED.rerank]) == set(reranker.read[0])
    assert len(hits) == len(plain) == 50


def test_the_newer_of_two_accounts_stays_before_the_older_whatever_the_marks(root: Path) -> None:
    others = (
        "The ramen place near the harbour closes on Mondays.",
        "Ramen broth is better with kombu, I think.",
        "A colleague of mine brought ramen to the office.",
        "There is a ramen museum in Yokohama.",
        "I like my ramen with a soft egg.",
    )
    older, newer = "In Leith I know three ramen places well.", "By the way, in Leith I know six ramen places well by now."
    store = open_store(root)
    for number, text in enumerate((*others, older, newer)):
        record(store, text, day(10 * number))
    models, asked = SearchModels(embedder=None, reranker=Fixed({"three": 1.0})), Visibility(now=day(900))
    hits = pipeline.search(store, CodeTable(), models, "How many ramen places do I know in Leith?", k=10, visibility=asked)
    found = [hit.source for hit in hits]
    store.close()
    assert found[0] == newer
    assert found.index(older) == 5


def test_nothing_of_the_file_is_held_while_a_model_is_asked(root: Path) -> None:
    held: list[tuple[object, ...]] = []

    def look() -> None:
        """Whoever reads at the moment before this write, or writes, would keep the log from being emptied."""
        [path] = root.glob("*.db")
        with closing(open_connection(path, busy_timeout_ms=0)) as con:
            con.execute("INSERT OR REPLACE INTO setting (key, value) VALUES ('looked', 1)")
            held.append(con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or ())

    class Reads(WordReranker):
        def score(self, query: str, texts: Sequence[str], *, seconds: float) -> NDArray[np.float32]:
            look()
            return super().score(query, texts, seconds=seconds)

    class Asked(RotatedEmbedder):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            look()
            return super().embed_query(text)

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            look()
            return super().embed(texts)

    with Memory(root=root, embedder=WordEmbedder(), second=Asked(), reranker=Reads()) as memory:
        memory.add("ana", "I play the oboe.")
        memory.catch_up_vectors("ana")
        assert memory.search("ana", "oboe")[0].degraded == ()
    assert [row[:2] for row in held] == [(0, 0)] * 3


def test_every_tier_has_its_recipe() -> None:
    assert recipes.default(in_second=False, reranks=False) is recipes.BUILTIN
    assert recipes.default(in_second=False, reranks=True) is recipes.RERANKED
    assert recipes.default(in_second=True, reranks=True) is recipes.STANDARD
    assert recipes.default(in_second=True, reranks=False) == replace(recipes.STANDARD, rerank=0)
    assert recipes.BUILTIN.rerank == recipes.CLASSIC.rerank == 0
