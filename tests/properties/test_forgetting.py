"""What was forgotten stands nowhere and is not learned again, whatever stands around it and however it is written."""

from __future__ import annotations

import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from lean_memory import Memory
from support.embedding import WordEmbedder
from support.moments import day

SECRET = "My password hint is Zorgblaté"
CANARIES = (b"zorgbla", b"\xef\xbd\x9a\xef\xbd\x8f\xef\xbd\x92\xef\xbd\x87")
"""How the name begins, in small letters: plain, and in full-width ones."""

LONG = "We talked about the weather in the north, and about boats. " * 12
WRITTEN = {
    "as it was": lambda s: s,
    "in capitals": str.upper,
    "decomposed": lambda s: unicodedata.normalize("NFD", s),
    "in full width": lambda s: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in s),
    "over two lines": lambda s: s.replace(" hint", "\nhint"),
    "with wide spaces": lambda s: s.replace(" ", " \t "),
    "with a comma": lambda s: s.replace(" is", ", is"),
}
AROUND = {
    "with a point": "{}.",
    "with no point": "{}",
    "asked": "{}?",
    "shouted": "{}!!",
    "with a full-width point": "{}。",
    "in quotation marks": "“{}”, I said.",
    "in straight ones": 'Then I said: "{}." It rained.',
    "in single ones": "He wrote ‘{}’ on the wall.",
    "in guillemets": "Elle a dit : « {} » !",
    "in corner brackets": "「{}」と言った。",
    "before a comma": "I told Bob: {}, remember?",
    "before a semicolon": "Yes, {}; that is all.",
    "in a list": "- I like tea\n- {}\n- I like rice",
    "in bold": "Note: **{}**",
    "late in a long text": LONG + "Then I said: {}. " + LONG,
    "across two passages": "Boats, " * 70 + "{}. " + LONG,
}


def traces(root: Path) -> set[str]:
    """Files of the data root that hold a canary, in any case."""
    return {file.name for file in root.rglob("*") if file.is_file() for canary in CANARIES if canary in file.read_bytes().lower()}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.sampled_from(list(WRITTEN)), st.sampled_from(list(AROUND))), min_size=1, max_size=6),
    st.tuples(st.sampled_from(list(WRITTEN)), st.sampled_from(list(AROUND))),
)
def test_a_forgotten_sentence_stands_nowhere_and_is_not_learned_again(told: list[tuple[str, str]], again: tuple[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder, Memory(root=folder, embedder=WordEmbedder()) as memory:
        root = Path(folder)
        [fact] = memory.add("ana", f"{SECRET}.")
        memory.add("ana", "I like tea.")
        for written, around in told:
            memory.add("ana", AROUND[around].format(WRITTEN[written](SECRET)))
        assert traces(root)
        memory.forget("ana", fact_id=fact)
        assert traces(root) == set()
        said = AROUND[again[1]].format(WRITTEN[again[0]](SECRET))
        assert memory.add("ana", said).withheld >= 1
        assert traces(root) == set()
        assert memory.check("ana") == []
        assert "tea" in {f.object for f in memory.facts("ana", predicate="likes")}
        memory.add("ana", said, relearn=True)
        assert traces(root) != set()
        assert memory.check("ana") == []


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("around", AROUND)
def test_every_writing_in_every_surrounding_goes(root: Path, written: str, around: str) -> None:
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        [fact] = memory.add("ana", f"{SECRET}.")
        memory.add("ana", AROUND[around].format(WRITTEN[written](SECRET)), source="assistant")
        memory.forget("ana", fact_id=fact)
        assert traces(root) == set()
        assert memory.add("ana", AROUND[around].format(WRITTEN[written](SECRET))).withheld == 1
        assert traces(root) == set()


TOLD = (
    "I live in Porto.",
    "I live in Porto now.",
    "I live in Braga.",
    "I live in Zqxville.",
    "I live in Porto near Zqxville.",
    "I work at Zqxville and live in Porto.",
    "I also live in Braga.",
    "Sorry, I meant Porto.",
    "Hello there. I live in Porto.",
    "I no longer live in Porto.",
    "I like tea.",
    "I dislike tea.",
    "I like tea and I dislike milk.",
    "It rains. Bob likes tea.",
    "Bob likes tea with milk.",
)
stories = st.lists(st.tuples(st.sampled_from(TOLD), st.integers(0, 300), st.sampled_from(["user", "doc"])), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stories, st.data())
def test_what_goes_is_what_was_shown_beforehand_and_every_promise_holds_after_it(
    told: list[tuple[str, int, str]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder, Memory(root=folder, embedder=WordEmbedder()) as memory:
        episodes = [memory.add("ana", text, t_ref=day(when), source=source).episode_id for text, when, source in told]
        facts = memory.facts("ana", include_history=True)
        targets = [{"fact_id": f.id} for f in facts] + [{"episode_id": e} for e in episodes if e]
        targets += [{"entity": name} for name in ("Bob", "Zqxville") if any(name in text for text, _, _ in told)]
        target = data.draw(st.sampled_from(targets))
        assert memory.check("ana") == []
        before = findable(memory)
        shown = memory.would_forget("ana", **target)
        memory.forget("ana", **target)
        after = findable(memory)
        assert memory.check("ana") == []
        assert not [text for text in shown if not any(text in lost for _, lost in before - after)]
        lost = {text for _, text in before} - {text for _, text in after}
        assert not [text for text in lost if not any(text in gone or gone.rstrip(".") in text for gone in shown)]


def findable(memory: Memory) -> set[tuple[str, str]]:
    """Every text that a person can come upon, with the id of what says it."""
    found: set[tuple[str, str]] = {(f.id, f.fact_text) for f in memory.facts("ana", include_history=True, include_cold=True)}
    for question in ("live in Porto", "tea", "work", "Bob", "hello", "Sorry, I meant"):
        hits = memory.search("ana", question, k=100, is_latest_only=False, include_cold=True)
        found |= {(hit.fact.id, hit.fact.fact_text) for hit in hits}
        found |= {(hit.fact.episode_id or "", hit.source) for hit in hits}
    return found
