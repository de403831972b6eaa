"""Forgetting through the library: nothing of it is left, and it is not learned again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lean_memory import Memory
from lean_memory.domain import EndReason
from lean_memory.errors import NotFoundError
from support.embedding import WordEmbedder
from support.moments import day

CANARY = "zanzibarite"


def bytes_of(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()).lower()


@pytest.mark.parametrize("verb", ["fact_id", "episode_id", "entity"])
def test_what_is_forgotten_leaves_no_byte_and_is_not_learned_again(memory: Memory, verb: str) -> None:
    memory.add("ana", "I like tea.")
    result = memory.add("ana", f"{CANARY.title()} is my colleague.")
    assert CANARY in bytes_of(memory.root).decode("utf-8", "replace")
    chosen = {"fact_id": result[0], "episode_id": result.episode_id, "entity": CANARY.title()}[verb]
    erased = memory.forget("ana", **{verb: chosen})
    assert erased.facts >= 1
    assert CANARY.encode() not in bytes_of(memory.root)
    again = memory.add("ana", f"{CANARY.title()} is my colleague. I like rice.")
    assert again.withheld >= 1
    assert CANARY.encode() not in bytes_of(memory.root)
    assert CANARY not in " ".join(h.fact.fact_text.casefold() for h in memory.search("ana", CANARY))
    assert {f.object for f in memory.facts("ana", predicate="likes")} == {"tea", "rice"}
    assert memory.check("ana") == []


def test_a_text_of_nothing_but_forgotten_sentences_is_not_stored(memory: Memory) -> None:
    [fact] = memory.add("ana", "My locker number is 4711.")
    memory.forget("ana", fact_id=fact)
    again = memory.add("ana", "My locker number is 4711.")
    assert (again.episode_id, list(again), again.withheld) == (None, [], 1)
    assert b"4711" not in bytes_of(memory.root)


def test_the_person_can_say_it_again_after_all(memory: Memory) -> None:
    [fact] = memory.add("ana", "My locker number is 4711.")
    memory.forget("ana", fact_id=fact)
    again = memory.add("ana", "My locker number is 4711.", relearn=True)
    assert again.withheld == 0
    assert [f.object for f in memory.facts("ana")] == ["4711"]
    assert memory.search("ana", "locker number")[0].fact.object == "4711"


def test_a_cut_passage_is_still_found_by_meaning(memory: Memory) -> None:
    memory.add("ana", "I like tea from Ceylon. My locker number is 4711. I play the oboe on Sundays.")
    [locker] = memory.facts("ana", predicate="locker_number")
    memory.forget("ana", fact_id=locker.id)
    hits = memory.search("ana", "oboe on Sundays", k=10)
    assert hits
    assert all(hit.degraded == () for hit in hits)


def test_a_forgetting_while_an_add_is_under_way_is_not_undone_by_it(root: Path) -> None:
    """Another program erases a person between the two transactions of an add that speaks of her."""

    class Meddling(WordEmbedder):
        meddle = True

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if self.meddle:
                self.meddle = False
                with Memory(root=root, embedder=WordEmbedder()) as other:
                    other.forget("ana", entity="Zelda")
            return super().embed(texts)

    with Memory(root=root, embedder=WordEmbedder()) as before:
        before.add("ana", "Zelda works at Acme.")
    with Memory(root=root, embedder=Meddling()) as memory:
        memory.add("ana", "I like tea. Zelda lives in Oslo. I like rice.")
        assert b"zelda" not in bytes_of(root)
        assert {f.object for f in memory.facts("ana")} == {"tea", "rice"}
        assert memory.check("ana") == []


def test_what_another_program_had_forgotten_lends_no_name_to_a_pronoun(root: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder()) as one, Memory(root=root, embedder=WordEmbedder()) as other:
        one.add("ana", "Quixote is my brother.")
        other.forget("ana", entity="Quixote")
        one.add("ana", "He lives in Lyon.")
        assert b"quixote" not in bytes_of(root)


def test_clearing_removes_the_file(memory: Memory) -> None:
    memory.add("ana", "I like tea.")
    assert memory.clear("ana")
    assert not memory.clear("ana")
    assert memory.namespaces() == []
    memory.add("ana", "I like rice.")
    assert [f.object for f in memory.facts("ana")] == ["rice"]


def test_erasing_what_alone_set_two_values_side_by_side_leaves_the_later_one(memory: Memory) -> None:
    memory.add("ana", "I live in Porto now.", t_ref=day(1), source="doc")
    confirmed = memory.add("ana", "I live in Porto.", t_ref=day(2))
    memory.add("ana", "I live in Braga.", t_ref=day(3), source="doc")
    assert {f.object for f in memory.facts("ana")} == {"Porto", "Braga"}
    memory.forget("ana", episode_id=confirmed.episode_id)
    assert memory.check("ana") == []
    assert [f.object for f in memory.facts("ana")] == ["Braga"]
    assert [f.object for f in memory.facts("ana", as_of=day(2))] == ["Porto"]


def test_a_fact_that_stays_in_other_words_does_not_wait_for_a_successor_that_went(memory: Memory) -> None:
    memory.add("ana", "I live in Porto near Zqxville.", t_ref=day(2), source="doc")
    memory.add("ana", "I work at Zqxville and live in Porto.", t_ref=day(25))
    memory.add("ana", "I live in Zqxville.", t_ref=day(242))
    memory.forget("ana", entity="Zqxville")
    assert memory.check("ana") == []
    [porto] = memory.facts("ana", include_history=True)
    assert (porto.fact_text, porto.end_reason, porto.superseded_by) == ("I live in Porto.", EndReason.FORGOTTEN, None)


@pytest.mark.parametrize("opinion", ["I like tea.", "I dislike tea."])
def test_the_opposite_of_what_is_forgotten_is_not_said_to_go(memory: Memory, opinion: str) -> None:
    said = {text: memory.add("ana", text) for text in ("I like tea.", "I dislike tea.")}
    for target in ({"fact_id": said[opinion][0]}, {"episode_id": said[opinion].episode_id}):
        assert memory.would_forget("ana", **target) == [opinion]
    memory.forget("ana", fact_id=said[opinion][0])
    assert [f.fact_text for f in memory.facts("ana", include_history=True)] == [text for text in said if text != opinion]


def test_what_was_corrected_is_shown_in_the_history_and_can_be_forgotten_after_its_correction(memory: Memory, root: Path) -> None:
    memory.add("ana", "I live in Zqxville.", t_ref=day(1))
    [right] = memory.add("ana", "Sorry, I meant Porto.", t_ref=day(2))
    for _ in range(2):
        [wrong] = [f for f in memory.facts("ana", include_history=True) if f.object == "Zqxville"]
        assert (wrong.is_latest, wrong.end_reason) == (False, EndReason.CORRECTED)
        assert wrong.id in {hit.fact.id for hit in memory.search("ana", "live in Zqxville", is_latest_only=False)}
        assert wrong.id not in {f.id for f in (*memory.facts("ana"), *memory.facts("ana", as_of=day(1), include_history=True))}
        for moment in (None, day(1)):
            assert wrong.id not in {hit.fact.id for hit in memory.search("ana", "live in Zqxville", as_of=moment)}
        if memory.facts("ana"):
            memory.forget("ana", fact_id=right)
            assert memory.check("ana") == []
    memory.forget("ana", fact_id=wrong.id)
    assert b"zqxville" not in bytes_of(root)


def test_a_call_that_erased_is_known_by_its_name_and_by_no_other(memory: Memory) -> None:
    [fact] = memory.add("ana", "My locker number is 4711.")
    assert not memory.has_forgotten("ana", "zanzibar call")
    memory.forget("ana", fact_id=fact, call="zanzibar call")
    assert memory.has_forgotten("ana", "zanzibar call")
    assert not memory.has_forgotten("ana", "another call")
    assert b"zanzibar" not in bytes_of(memory.root)
    with pytest.raises(NotFoundError):
        memory.forget("ana", fact_id="nothing", call="a call in vain")
    assert not memory.has_forgotten("ana", "a call in vain")


@pytest.mark.parametrize("accent", ["\u00b4", "\u00a8", "\u00af", "\u0301"])
def test_an_accent_on_its_own_is_in_nobodys_way(memory: Memory, accent: str) -> None:
    memory.add("ana", "I like tea.")
    [fact] = memory.add("ana", f"My locker number is {accent} 4711.")
    with pytest.raises(NotFoundError):
        memory.would_forget("ana", entity=accent)
    assert memory.search("ana", f"locker {accent}")[0].fact.id == fact
    memory.forget("ana", fact_id=fact)
    assert b"4711" not in bytes_of(memory.root)
    assert [f.object for f in memory.facts("ana")] == ["tea"]
