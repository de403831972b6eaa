"""Whatever was said, forgotten and tidied: a bundle brought into an empty memory answers every question as the memory it came from."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings, strategies as st

from lean_memory import Memory
from lean_memory.custody import Fate
from support.embedding import WordEmbedder
from support.statements import day

SAID = (
    "I work at Acme Corp.",
    "I now work at Globex.",
    "I left Globex.",
    "Sorry, I meant Initech.",
    "I like pears. My cat is called Tom.",
    "I no longer like pears.",
    "I also speak Dutch.",
    "Ana is my sister. She lives in Porto.",
    "Next year I move to Oslo.",
    "What a day!",
    "My api key is sk-test-not-a-key and I live in Lisbon.",
    "I live in Lisbon.",
)
DOINGS = st.lists(
    st.one_of(st.tuples(st.sampled_from(SAID), st.integers(1, 9)), st.just("forget"), st.just("tidy")), min_size=1, max_size=9
)


def _do(memory: Memory, doings: list[tuple[str, int] | str]) -> None:
    for doing in doings:
        if isinstance(doing, tuple):
            memory.add("ana", doing[0], t_ref=day(doing[1]))
        elif doing == "tidy" and "ana" in memory.namespaces():
            memory.maintain("ana", apply=True, force=True)
        else:
            for fact in memory.facts("ana")[:1]:
                memory.forget("ana", fact_id=fact.id)


def _answers(memory: Memory) -> list[object]:
    every = memory.facts("ana", include_history=True, include_cold=True)
    recorded = sorted({fact.recorded_at for fact in every})
    told: list[object] = [every, memory.facts("ana"), [memory.history("ana", fact.id) for fact in every]]
    told += [memory.facts("ana", as_of=day(when)) for when in (1, 2.5, 4, 9, 400)]
    told += [memory.facts("ana", known_at=when + shift, include_history=True) for when in recorded for shift in (-1, 0, 1)]
    told += [memory.explain("ana", fact.id) for fact in every]
    return told


@given(doings=DOINGS)
@settings(max_examples=4, deadline=None)
def test_a_bundle_answers_as_what_it_was_taken_from(doings: list[tuple[str, int] | str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "ana.leanmem"
        with (
            Memory(root=Path(folder) / "one", embedder=WordEmbedder()) as one,
            Memory(root=Path(folder) / "two", embedder=WordEmbedder()) as two,
        ):
            one.add("ana", "I live in Faro.", t_ref=day(1))
            _do(one, doings)
            one.export("ana", bundle)
            assert two.import_(bundle).is_applied is False
            assert two.namespaces() == []
            two.import_(bundle, apply=True)
            assert _answers(two) == _answers(one)
            assert two.check("ana") == []
            again = two.import_(bundle, apply=True)
            assert (again.episodes, again.parts, again.kept_aside) == (0, (), None)
            two.export("ana", bundle)
            back = one.import_(bundle, apply=True)
            assert (back.episodes, back.parts) == (0, ())


@given(before=DOINGS, here=DOINGS, there=DOINGS)
@settings(max_examples=3, deadline=None)
def test_of_two_that_went_on_apart_nothing_here_is_lost_and_each_difference_is_told(
    before: list[tuple[str, int] | str], here: list[tuple[str, int] | str], there: list[tuple[str, int] | str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "ana.leanmem"
        with (
            Memory(root=Path(folder) / "one", embedder=WordEmbedder()) as one,
            Memory(root=Path(folder) / "two", embedder=WordEmbedder()) as two,
        ):
            one.add("ana", "I live in Faro.", t_ref=day(1))
            _do(one, before)
            one.export("ana", bundle)
            two.import_(bundle, apply=True)
            _do(one, here)
            _do(two, there)
            two.export("ana", bundle)
            mine = {fact.id: fact for fact in one.facts("ana", include_history=True, include_cold=True)}
            planned = one.import_(bundle)
            assert {fact.id: fact for fact in one.facts("ana", include_history=True, include_cold=True)} == mine
            done = one.import_(bundle, apply=True)
            assert done.parts == planned.parts
            assert one.check("ana") == []
            after = {fact.id: fact for fact in one.facts("ana", include_history=True, include_cold=True)}
            untouched = {
                fact.id
                for fact in mine.values()
                if (fact.subject, fact.predicate) not in {(p.subject, p.predicate) for p in done.of(Fate.CHANGE)}
            }
            assert mine.keys() <= after.keys()
            assert all(after[uid] == mine[uid] for uid in untouched)
            again = one.import_(bundle, apply=True)
            assert all(part.fate is Fate.CONFLICT for part in again.parts)
            assert {fact.id: fact for fact in one.facts("ana", include_history=True, include_cold=True)} == after
