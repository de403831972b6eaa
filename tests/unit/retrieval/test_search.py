"""A search through the store: what is found, in which order, with which scores, and what never happens while searching."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lean_memory.domain import (
    NO_EMBEDDER,
    NO_VECTORS,
    WEAK_RELEVANCE,
    Act,
    Candidate,
    Fact,
    Instant,
    Modality,
    ModelIdentity,
    RecordKind,
    SearchHit,
    Source,
    Span,
    Visibility,
)
from lean_memory.errors import InvalidInputError
from lean_memory.retrieval import pipeline, recipes
from lean_memory.retrieval.recipes import Recipe
from lean_memory.retrieval.space import SearchModels
from lean_memory.store import search_index
from lean_memory.store.codes import CodeTable
from lean_memory.store.namespace_store import NamespaceStore, NewEpisode
from support.embedding import WordEmbedder
from support.statements import MODEL, day, likes, open_store, record, say, vector, within, works_at


class SpokenVectors:
    """Knows the vectors that `support.statements` gives to texts, and finds a question near the text it quotes."""

    def __init__(self) -> None:
        self.identity: ModelIdentity = MODEL
        self.thresholds = WordEmbedder().thresholds

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([vector(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return vector(text)


@pytest.fixture
def store(root: Path) -> Iterator[NamespaceStore]:
    opened = open_store(root)
    yield opened
    assert opened.check() == []
    opened.close()


def search(
    store: NamespaceStore,
    query: str,
    *,
    k: int = 10,
    visibility: Visibility | None = None,
    recipe: Recipe | None = None,
    embedder: SpokenVectors | None = None,
) -> list[SearchHit]:
    models = SearchModels(embedder=embedder)
    return pipeline.search(store, CodeTable(), models, query, k=k, visibility=visibility or Visibility(now=day(2000)), recipe=recipe)


def texts(hits: list[SearchHit]) -> list[str]:
    return [hit.fact.fact_text for hit in hits]


def as_of(moment: Instant) -> Visibility:
    return Visibility(now=day(2000), as_of=moment, latest_only=False, include_cold=True)


# What is visible


def test_only_the_current_value_is_found_and_the_earlier_one_at_its_date(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(1))
    say(store, works_at("Globex", "I now work at Globex."), at=day(10))
    assert texts(search(store, "where does the user work?")) == ["I now work at Globex."]
    assert texts(search(store, "where does the user work?", visibility=as_of(day(5)))) == ["I work at Acme."]
    assert texts(search(store, "where does the user work?", visibility=as_of(day(0)))) == []
    both = search(store, "where does the user work?", visibility=Visibility(now=day(2000), latest_only=False))
    assert texts(both) == ["I now work at Globex.", "I work at Acme."]


def test_an_old_fact_is_found_at_its_date_behind_thousands_of_newer_nearer_ones(store: NamespaceStore) -> None:
    embedder = SpokenVectors()
    say(store, works_at("Acme"), at=day(1))
    say(store, works_at("Globex"), at=day(2))
    with store.write() as tx:
        query = vector("where does the user work?")
        for i in range(5000):
            row = search_index.insert_row(
                tx.connection,
                fact_id=None,
                passage_id=1,
                text=f"the user work {i}",
                visibility=search_index.RowVisibility(valid_at=day(10), valid_to=None, recorded_at=day(10), latest=True),
            )
            search_index.set_vectors(tx.connection, MODEL, {row: query})
    hits = search(store, "where does the user work?", visibility=as_of(day(1.5)), embedder=embedder)
    assert texts(hits) == ["I work at Acme."]
    with store.write() as tx:
        for row in range(3, 5003):
            text = f"the user work {row - 3}"
            search_index.delete_row(tx.connection, row, text)


def test_a_past_pair_gives_the_same_answer_whatever_is_said_later(store: NamespaceStore) -> None:
    moments: list[Instant] = []
    answers: list[tuple[Visibility, list[tuple[str, RecordKind]]]] = []
    said: list[tuple[str, list[str]]] = [
        ("So: I work at Acme. I like tea.", ["works", "likes"]),
        ("Later: I work at Globex.", ["globex"]),
        ("I work at Acme, indeed.", ["early"]),
        ("Nothing of note?", []),
    ]
    for number, (text, what) in enumerate(said):
        at = day(5) if what == ["early"] else day(1 + 10 * number)
        made: dict[str, Callable[[str], Candidate]] = {
            "works": lambda t: within(t, works_at("Acme")),
            "likes": lambda t: within(t, likes("tea")),
            "globex": lambda t: within(t, works_at("Globex")),
            "early": lambda t: works_at("Initech", t),
        }
        if what:
            say(store, *(made[name](text) for name in what), at=at, text=text)
        else:
            record(store, text, at)
        with store.read() as tx:
            moments.append(Instant(tx.connection.execute("SELECT max(recorded_at) FROM index_row").get))
        for known_at in moments[-1:]:
            for when in (None, day(3), day(6), day(15)):
                asked = Visibility(now=day(2000), as_of=when, known_at=known_at, latest_only=when is None, include_cold=when is not None)
                answers.append((asked, found(store, asked)))
    assert any(answer for _, answer in answers)
    assert [found(store, asked) for asked, _ in answers] == [answer for _, answer in answers]


def found(store: NamespaceStore, visibility: Visibility) -> list[tuple[str, RecordKind]]:
    hits = search(store, "work at Acme Globex Initech tea note", visibility=visibility)
    return sorted((hit.fact.fact_text, hit.fact.record_kind) for hit in hits)


# Passages and facts


def test_a_fact_and_its_passage_are_one_hit_and_two_sentences_are_two(store: NamespaceStore) -> None:
    text = "Well, I work at Acme. Also, I like working."
    say(store, within(text, works_at("Acme", "I work at Acme.")), within(text, likes("working", "I like working.")), at=day(1), text=text)
    hits = search(store, "who works at Acme")
    assert sorted(texts(hits)) == ["I like working.", "I work at Acme."]
    assert all(hit.source == text for hit in hits)


def test_a_passage_that_also_says_what_is_over_is_shown_by_what_still_holds(store: NamespaceStore) -> None:
    text = "I work at Acme, you know. I like tea."
    say(store, within(text, works_at("Acme", "I work at Acme, you know.")), within(text, likes("tea")), at=day(1), text=text)
    say(store, works_at("Globex"), at=day(5))
    assert texts(search(store, "work at Acme"))[0] == "I work at Globex."
    assert set(texts(search(store, "work at Acme"))) == {"I work at Globex.", "I like tea."}
    assert texts(search(store, "work at Acme", visibility=as_of(day(2))))[0] == "I work at Acme, you know."


def test_several_facts_of_one_sentence_are_one_hit(store: NamespaceStore) -> None:
    text = "I like tea and coffee."
    say(store, likes("tea", text), likes("coffee", text), at=day(1), text=text)
    assert texts(search(store, "tea or coffee?")) == [text]


def test_what_no_fact_was_made_of_is_found_as_a_passage(store: NamespaceStore) -> None:
    record(store, "What a view from the lighthouse!", day(1))
    [hit] = search(store, "lighthouse")
    assert (hit.fact.record_kind, hit.fact.fact_text) == (RecordKind.PASSAGE, "What a view from the lighthouse!")


def test_a_long_source_is_shortened(store: NamespaceStore) -> None:
    record(store, "lighthouse " * 100, day(1))
    [hit] = search(store, "lighthouse")
    assert len(hit.source) == 400
    assert hit.source.endswith("…")


# Ranking


def test_of_equal_rows_the_newer_comes_first(store: NamespaceStore) -> None:
    for number in range(1, 6):
        record(store, f"The lighthouse was lit. {number}", day(10 * number))
    assert texts(search(store, "lighthouse", k=3)) == [f"The lighthouse was lit. {number}" for number in (5, 4, 3)]


def test_asking_for_more_hits_changes_nothing_in_the_first_ones(store: NamespaceStore) -> None:
    for number in range(30):
        say(store, likes(f"thing {number % 7} of {number}"), at=day(number))
    many = search(store, "which things of 3", k=20)
    assert [search(store, "which things of 3", k=k) for k in (1, 5, 10)] == [many[:k] for k in (1, 5, 10)]


def test_what_is_past_or_planned_ranks_below_what_is_asserted(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(1))
    say(store, works_at("Globex", "I worked at Globex.", modality=Modality.PAST), at=day(2))
    say(store, works_at("Initech", "I plan to work at Initech.", modality=Modality.PLANNED), at=day(3))
    hits = search(store, "where does the user work")
    assert hits[0].fact.object == "Acme"
    assert {hit.fact.modality for hit in hits[1:]} == {Modality.PAST, Modality.PLANNED}


def test_an_answer_is_found_by_the_words_of_the_question_it_answers(store: NamespaceStore) -> None:
    record(store, "What did you think of the lighthouse?", day(1))
    record(store, "It was wonderful and I would love to go there again next year.", Instant(day(1) + 1000))
    record(store, "I baked bread in the morning and went to bed quite early.", day(50))
    assert texts(search(store, "opinion on the lighthouse"))[0].startswith("It was wonderful")


def test_what_was_said_long_before_is_no_context(store: NamespaceStore) -> None:
    record(store, "What did you think of the lighthouse?", day(1))
    record(store, "It was wonderful and I would love to go there again.", day(2))
    assert texts(search(store, "lighthouse")) == ["What did you think of the lighthouse?"]


def test_a_persons_words_come_before_an_assistants(store: NamespaceStore) -> None:
    whole = [Span(start=0, end=27)]
    for source in (Source.USER, Source.ASSISTANT):
        store.record_episode(
            NewEpisode(text="The lighthouse is in Cádiz.", source=source, client=None, t_ref=day(1), tz="UTC", passages=whole)
        )
    assert [hit.fact.subject for hit in search(store, "lighthouse")] == ["user", "assistant"]


@pytest.mark.parametrize("query", ["employer", "where does the user work", "雇主是谁"])
def test_the_slot_that_is_asked_for_comes_first_in_other_words_too(store: NamespaceStore, query: str) -> None:
    say(store, likes("companies", "I like the company of cats."), at=day(1))
    say(store, works_at("Globex", "I have been with Globex for years."), at=day(2))
    assert search(store, query)[0].fact.object == "Globex"


def test_recency_counts_from_valid_at_and_importance_from_salience(store: NamespaceStore) -> None:
    say(store, works_at("Acme", salience=8.0), at=day(1))
    half_life = recipes.CLASSIC.half_life_days
    [hit] = search(store, "Acme", visibility=Visibility(now=day(1 + half_life)), recipe=recipes.CLASSIC)
    assert (hit.recency, hit.importance) == (pytest.approx(0.5), pytest.approx(0.8))
    assert hit.final_score == pytest.approx(0.6 * hit.relevance + 0.2 * hit.recency + 0.2 * hit.importance)


def test_hits_carry_the_ranks_that_produced_them(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(1))
    [hit] = search(store, "I work at Acme.", embedder=SpokenVectors())
    assert (hit.dense_rank, hit.sparse_rank) == (1, 1)
    assert hit.rrf_score == pytest.approx(2 / 61)
    assert hit.relevance == pytest.approx(1.0, abs=0.05)


def test_relevance_is_the_same_whatever_else_is_known(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(1))
    alone = search(store, "completely unrelated topic", embedder=SpokenVectors())
    say(store, likes("tea"), at=day(2))
    beside = search(store, "completely unrelated topic", embedder=SpokenVectors())
    assert all(hit.relevance < WEAK_RELEVANCE for hit in [*alone, *beside])
    relevance = {hit.fact.fact_text: hit.relevance for hit in beside}
    assert relevance["I work at Acme."] == pytest.approx(alone[0].relevance)


def test_a_thousand_identical_searches_give_one_ranking_and_write_nothing(store: NamespaceStore) -> None:
    for number in range(20):
        say(store, likes(f"thing {number}"), at=day(number))
    codes, models = CodeTable(), SearchModels(embedder=SpokenVectors())
    asked = Visibility(now=day(2000))

    def ranking() -> list[tuple[str, float]]:
        hits = pipeline.search(store, codes, models, "which things", k=10, visibility=asked)
        return [(hit.fact.id, hit.final_score) for hit in hits]

    before = store.path.read_bytes(), store.path.with_name(store.path.name + "-wal").read_bytes()
    first = ranking()
    assert all(ranking() == first for _ in range(1000))
    assert (store.path.read_bytes(), store.path.with_name(store.path.name + "-wal").read_bytes()) == before


# Questions of any kind


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "-",
        "*",
        "AND",
        "NOT OR",
        "NEAR(a b)",
        "a:b",
        "^x",
        "{",
        "'; DROP TABLE fact; --",
        "?" * 50,
        "🙂",
        "w0 " * 5000,
        " ".join(map(str, range(3000))),
    ],
)
def test_query_syntax_typed_by_people_never_raises(store: NamespaceStore, query: str) -> None:
    say(store, works_at("Acme"), at=day(1))
    search(store, query)
    search(store, f"{query} Acme {query}")


@pytest.mark.parametrize(
    ("said", "query"), [("我有一只猫", "猫"), ("我住在贵阳。", "贵阳"), ("用 iPhone15 手机", "iphone15"), ("ผมชอบกาแฟ", "กาแฟ")]
)
def test_words_of_scripts_without_spaces_are_found(store: NamespaceStore, said: str, query: str) -> None:
    record(store, "别的什么 something else", day(1))
    record(store, said, day(2))
    assert texts(search(store, query))[:1] == [said]


def test_common_words_are_weighed_like_rare_ones(store: NamespaceStore) -> None:
    record(store, "Ana paints ships.", day(1))
    record(store, "Bea paints ships.", day(10))
    record(store, "Ana sleeps.", day(20))
    [rare, *_] = search(store, "Does Ana paint ships?")
    [common, *_] = search(store, "Does Ana paint ships?", recipe=Recipe(name="common", postings=0))
    assert rare == common
    assert rare.fact.fact_text == "Ana paints ships."


# What is missing is said


def test_without_an_embedder_words_answer_and_it_is_said(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(1))
    [hit] = search(store, "Acme")
    assert (hit.degraded, hit.dense_rank) == ((NO_EMBEDDER,), None)


def test_rows_without_vectors_are_found_by_their_words_and_it_is_said(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(1))
    assert search(store, "Acme", embedder=SpokenVectors())[0].degraded == ()
    record(store, "The lighthouse was lit.", day(2))
    hits = search(store, "lighthouse", embedder=SpokenVectors())
    assert hits[0].fact.fact_text == "The lighthouse was lit."
    assert {hit.degraded for hit in hits} == {(NO_VECTORS,)}


def test_an_unknown_recipe_is_refused_with_the_names_of_the_known_ones() -> None:
    assert recipes.named(None) is None
    assert recipes.named("classic") is recipes.CLASSIC
    with pytest.raises(InvalidInputError, match="builtin, classic"):
        recipes.named("secret")


def test_hits_are_facts_of_the_namespace(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(1))
    [hit] = search(store, "Acme")
    assert isinstance(hit.fact, Fact)
    assert hit.fact.namespace == store.name


def test_what_only_takes_something_back_ranks_below_what_was_so(store: NamespaceStore) -> None:
    say(store, works_at("Acme", "The employer is Acme."), at=day(1))
    said = "Acme is no longer the employer, not at all the employer."
    say(store, works_at("Acme", said, act=Act.RETRACT), at=day(5))
    say(store, works_at("Globex", "The employer is Globex."), at=day(9))
    assert texts(search(store, "employer"))[:2] == ["The employer is Globex.", said]
    assert texts(search(store, "employer", visibility=as_of(day(3)))) == ["The employer is Acme."]
