"""However much a slot holds and however often a thing was said, one more statement reads, embeds and writes the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lean_memory import Memory
from lean_memory.changes import Slot
from lean_memory.domain import Act, Candidate, Cardinality, Instant
from lean_memory.resolution.reach import touched
from lean_memory.resolution.statements import statement
from lean_memory.store.namespace_store import NamespaceStore
from support.embedding import WordEmbedder
from support.statements import day, learn, likes, open_store, record, say, works_at

VALUES = 200
LIKES = Slot(subject_key="user", predicate="likes", cardinality=Cardinality.MULTI)


@pytest.fixture
def store(root: Path) -> Iterator[NamespaceStore]:
    opened = open_store(root)
    yield opened
    assert opened.check() == []
    opened.close()


def no_longer(thing: str) -> Candidate:
    return likes(thing, f"I no longer like {thing}.", act=Act.RETRACT)


def seen_by(store: NamespaceStore, said: Candidate, at: Instant) -> tuple[int, int]:
    """How many facts and how much evidence a statement has to be planned with."""
    slot = Slot(subject_key="user", predicate=said.predicate, cardinality=said.cardinality)
    window = store.change(lambda tx: touched(tx, slot, [statement(said, at)]))
    return len(window.facts), len(window.evidence)


def test_a_retraction_is_planned_with_the_values_it_can_mean(store: NamespaceStore) -> None:
    for number in range(VALUES):
        say(store, likes(f"thing{number}"), at=day(1))
    assert seen_by(store, likes("tea", act=Act.CORRECT, corrects="thing8"), day(3)) == (1, 0)
    say(store, no_longer("thing3"), at=day(2))
    assert seen_by(store, no_longer("thing7"), day(3)) == (1, 0)


def test_what_was_said_often_is_confirmed_without_a_look_at_the_other_times(store: NamespaceStore) -> None:
    for said in (likes("tea"), works_at("Acme")):
        for number in range(30):
            say(store, said, at=day(number))
        assert seen_by(store, said, day(40)) == (1, 0)


def test_a_confirmation_leaves_the_passages_of_earlier_ones_alone(store: NamespaceStore) -> None:
    say(store, likes("tea"), at=day(1))
    written: list[int] = []
    for number in range(20):
        episode = record(store, "I do like tea.", day(2 + number))
        with store.write() as tx:
            before = tx.connection.total_changes()
            learn(tx, episode, [likes("tea", "I do like tea.")])
            written.append(tx.connection.total_changes() - before)
    # Now and then a new group of vectors is begun.
    assert max(written) - min(written) <= 1


class CountingEmbedder(WordEmbedder):
    """Counts the texts it was given."""

    texts = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        return super().embed(texts)


def test_a_retraction_embeds_few_of_the_values_it_is_compared_with(root: Path) -> None:
    embedder = CountingEmbedder()
    with Memory(root=root, embedder=embedder) as memory:
        memory.add_many("ana", [f"I like thing{number}." for number in range(VALUES)])
        before = embedder.texts
        memory.add("ana", "I no longer like sushi.")
        assert embedder.texts - before <= 5
