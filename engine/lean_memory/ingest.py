"""From what was said to what is known: Episode -> extract -> resolve -> ChangeSet -> apply.

Transaction 1 stores the episode, so that nothing said is lost whatever dies next. Extraction and embedding run with no
transaction open. Transaction 2 reads the slots touched, plans and writes; an episode left between the two is finished
at the next start, exactly once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lean_memory.changes import ChangeSet, Slot
from lean_memory.domain import (
    USER,
    Act,
    AddResult,
    Candidate,
    Cardinality,
    Episode,
    EpisodeId,
    Instant,
    Modality,
    ModelIdentity,
    Polarity,
    Source,
    Visibility,
    name_key,
    value_key,
)
from lean_memory.extraction import vocabulary
from lean_memory.extraction.pipeline import Recent, extract
from lean_memory.extraction.sentences import passages, sentences
from lean_memory.models.ports import Embedder
from lean_memory.resolution.contradiction import by_cosine, by_words
from lean_memory.resolution.plan import plan
from lean_memory.resolution.statements import Statement, statement
from lean_memory.store.namespace_store import NamespaceStore, NewEpisode, WriteTransaction

RECENT_EPISODES = 3
"""How many earlier episodes a pronoun or a follow-up may refer to."""

_REMEMBERED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """One thing to add: a text, when it was said (`t_ref`), in which time zone, by whom."""

    text: str
    t_ref: Instant
    tz: str
    source: Source = Source.USER
    client: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """An episode with everything that models had to say about it."""

    episode: Episode
    statements: tuple[Statement, ...]
    vectors: Mapping[str, NDArray[np.float32]]
    model: ModelIdentity


@dataclass(slots=True, kw_only=True)
class Ingest:
    """The ingest of one namespace. Its only state is a cache of what the last episodes gave."""

    store: NamespaceStore
    embedder: Embedder
    _candidates: OrderedDict[EpisodeId, tuple[Candidate, ...]] = field(default_factory=OrderedDict[EpisodeId, "tuple[Candidate, ...]"])

    def add(self, additions: Sequence[Addition]) -> list[AddResult]:
        """Store and learn `additions` in order; each is durable when this returns."""
        kept = [self._without_forgotten(a) for a in additions]
        said = [a for a, _ in kept if a is not None]
        learned = iter(self.finish(self.store.record_episodes([_new_episode(a) for a in said])))
        return [_withheld(None if a is None else next(learned), cut) for a, cut in kept]

    def resume(self) -> int:
        """Finish what an earlier process left between the two transactions; gives how many episodes that were."""
        waiting = self.store.unfinished()
        self.finish(waiting)
        return len(waiting)

    def finish(self, episodes: Sequence[Episode]) -> list[AddResult]:
        """Extract, embed and write; an episode that somebody else finished meanwhile is answered from the store."""
        extracted = [(episode, self._extract(episode)) for episode in episodes]
        vectors = self._embed(extracted)
        prepared = [
            _Prepared(episode=episode, statements=self._statements(episode, candidates), vectors=vectors, model=self.embedder.identity)
            for episode, candidates in extracted
        ]
        if not prepared:
            return []
        with self.store.write() as tx:
            return [_write(tx, each) for each in prepared]

    def forget_context(self) -> None:
        """Let go of what the last episodes gave, after something was erased."""
        self._candidates.clear()

    def _without_forgotten(self, addition: Addition) -> tuple[Addition | None, int]:
        """What is left of a text without the sentences that the person had erased, and how many those are."""
        gone = self.store.forgotten(said.text for said in sentences(addition.text))
        if not any(gone):
            return addition, 0
        cut = [said.span for said, forgotten in zip(sentences(addition.text), gone, strict=True) if forgotten]
        text = addition.text
        for span in reversed(cut):
            text = text[: span.start] + text[span.end :]
        return (replace(addition, text=text) if text.strip() else None), len(cut)

    def _extract(self, episode: Episode) -> tuple[Candidate, ...]:
        found = extract(episode.text, t_ref=episode.t_ref, tz=episode.tz, source=episode.source, recent=self._recent(episode))
        candidates = tuple(sorted(found.candidates, key=lambda c: c.span.start))
        self._remember(episode.uid, candidates)
        return candidates

    def _recent(self, episode: Episode) -> Recent:
        before = self.store.recent_episodes(episode.uid, client=episode.client, limit=RECENT_EPISODES)
        return Recent(
            texts=tuple(e.text for e in before),
            candidates=tuple(c for e in before for c in self._given_by(e)),
        )

    def _given_by(self, episode: Episode) -> tuple[Candidate, ...]:
        known = self._candidates.get(episode.uid)
        if known is not None:
            return known
        found = extract(episode.text, t_ref=episode.t_ref, tz=episode.tz, source=episode.source)
        self._remember(episode.uid, found.candidates)
        return found.candidates

    def _remember(self, uid: EpisodeId, candidates: tuple[Candidate, ...]) -> None:
        self._candidates[uid] = candidates
        while len(self._candidates) > _REMEMBERED:
            self._candidates.popitem(last=False)

    def _embed(self, extracted: Iterable[tuple[Episode, tuple[Candidate, ...]]]) -> dict[str, NDArray[np.float32]]:
        texts: dict[str, None] = {}
        for episode, candidates in extracted:
            texts.update(dict.fromkeys(c.fact_text for c in candidates if c.act is not Act.RETRACT))
            texts.update(dict.fromkeys(episode.text[p.start : p.end] for p in passages(episode.text)))
        ordered = list(texts)
        return dict(zip(ordered, self.embedder.embed(ordered), strict=True)) if ordered else {}

    def _statements(self, episode: Episode, candidates: Sequence[Candidate]) -> tuple[Statement, ...]:
        placed: list[Statement] = []
        for candidate in candidates:
            said = statement(candidate, episode.t_ref)
            placed.append(self._named(said) if candidate.act is Act.RETRACT else said)
            placed.extend(self._opposite(said))
        return tuple(placed)

    def _opposite(self, said: Statement) -> Iterable[Statement]:
        """An asserted `dislikes X` also says that `likes X` is over."""
        c = said.candidate
        opposite = vocabulary.opposite(c.predicate)
        asserts = c.act is Act.ASSERT and c.polarity is Polarity.POSITIVE and c.modality is Modality.ASSERTED
        if opposite is None or not asserts:
            return
        over = replace(c, predicate=opposite, act=Act.RETRACT, cardinality=vocabulary.cardinality(opposite))
        yield self._named(replace(said, candidate=over))

    def _named(self, said: Statement) -> Statement:
        """The retraction with the key of the stored value it means, where words or cosine find one."""
        c = said.candidate
        if c.cardinality is Cardinality.FUNCTIONAL or not said.object_key:
            return said
        stored = self._open_values(c)
        match = by_words(said.object_key, stored)
        if match is None and stored:
            vectors = self.embedder.embed([said.object_key, *stored])
            match = by_cosine(said.object_key, vectors[0], stored, vectors[1:], threshold=self.embedder.thresholds.object_match)
        return replace(said, object_key=match.key) if match is not None else said

    def _open_values(self, c: Candidate) -> list[str]:
        visible = Visibility(now=self.store.clock(), include_cold=True)
        facts = self.store.facts(subject=c.subject, predicate=c.predicate, visibility=visible, modalities=None)
        return list(dict.fromkeys(value_key(f.object or f.fact_text) for f in facts))


def _new_episode(a: Addition) -> NewEpisode:
    return NewEpisode(text=a.text, source=a.source, client=a.client, t_ref=a.t_ref, tz=a.tz, passages=passages(a.text))


def _withheld(result: AddResult | None, cut: int) -> AddResult:
    """The result with the sentences that were not even stored; of a text that had no other, there is no episode."""
    if result is None:
        return AddResult(episode_id=EpisodeId(""), withheld=cut)
    return replace(result, withheld=result.withheld + cut) if cut else result


def _write(tx: WriteTransaction, prepared: _Prepared) -> AddResult:
    episode = prepared.episode
    if tx.is_done(episode.uid):
        return AddResult(episode_id=episode.uid, fact_ids=tuple(tx.facts_of(episode.uid)))
    kept = [s for s in prepared.statements if not _is_forgotten(tx, s.candidate)]
    applied = tx.apply(resolve(tx, kept, episode.recorded_at), episode=episode, embeddings=prepared.vectors, model=prepared.model)
    return AddResult(
        episode_id=episode.uid,
        fact_ids=applied.fact_ids,
        existing=applied.existing,
        superseded=applied.superseded,
        withheld=len(prepared.statements) - len(kept),
    )


def _is_forgotten(tx: WriteTransaction, c: Candidate) -> bool:
    return tx.is_tombstoned(sentence=c.fact_text, subject=c.subject, predicate=c.predicate, value=c.object, polarity=c.polarity)


def resolve(tx: WriteTransaction, statements: Sequence[Statement], recorded_at: Instant) -> ChangeSet:
    """Everything to write for the statements of one episode, recorded at `recorded_at`, as the slots stand in this transaction."""
    total = ChangeSet()
    for slot, said in _by_slot(statements).items():
        whole = slot.cardinality is Cardinality.FUNCTIONAL or any(s.candidate.act is not Act.ASSERT for s in said)
        values = None if whole else frozenset(s.object_key for s in said)
        window = tx.window(slot, values, min(s.valid_at for s in said))
        planned = plan(window, said, recorded_at=recorded_at, first_new=len(total.facts))
        total = _joined(total, planned)
    return total


def _by_slot(statements: Sequence[Statement]) -> dict[Slot, list[Statement]]:
    slots: dict[Slot, list[Statement]] = {}
    for said in statements:
        c = said.candidate
        slot = Slot(subject_key=name_key(c.subject or USER), predicate=c.predicate, cardinality=c.cardinality)
        slots.setdefault(slot, []).append(said)
    return slots


def _joined(one: ChangeSet, other: ChangeSet) -> ChangeSet:
    return ChangeSet(
        facts=one.facts + other.facts,
        changes=one.changes + other.changes,
        evidence=one.evidence + other.evidence,
        relinks=one.relinks + other.relinks,
        existing=one.existing + other.existing,
        revived=one.revived + other.revived,
    )
