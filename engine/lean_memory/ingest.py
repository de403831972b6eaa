"""From what was said to what is known: Episode -> extract -> resolve -> ChangeSet -> apply.

Transaction 1 stores the episode, so that nothing said is lost whatever dies next. Extraction and embedding run with no
transaction open. Transaction 2 reads the slots touched, plans and writes; an episode left between the two is finished
at the next start, exactly once.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lean_memory.changes import ChangeSet, Slot, joined
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
from lean_memory.errors import BusyError, ModelError, NotFoundError
from lean_memory.extraction import vocabulary
from lean_memory.extraction.pipeline import Recent, extract
from lean_memory.extraction.sentences import passages, sentences
from lean_memory.models.ports import Embedder
from lean_memory.resolution.contradiction import by_cosine, by_words
from lean_memory.resolution.plan import plan
from lean_memory.resolution.statements import Statement, statement
from lean_memory.store.namespace_store import NamespaceStore, NewEpisode, WriteTransaction

log = logging.getLogger(__name__)

RECENT_EPISODES = 3
"""How many earlier episodes a pronoun or a follow-up may refer to."""

_REMEMBERED = 64
_TRIES = 3
_AT_ONCE = 64
_COMPARED = 100
"""Open values, newest first, that a retraction is compared with by cosine; each has to be embedded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """One thing to add: a text, when it was said (`t_ref`), in which time zone, by whom."""

    text: str
    t_ref: Instant
    tz: str
    source: Source = Source.USER
    client: str | None = None
    relearn: bool = False
    """Learn it even where the person had it erased before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """An episode with everything that models had to say about it."""

    episode: Episode
    statements: tuple[Statement, ...] | None
    """`None` where the text could not be understood; it then waits, and is found by its words."""
    vectors: Mapping[str, NDArray[np.float32]]
    model: ModelIdentity


@dataclass(slots=True, kw_only=True)
class Ingest:
    """The ingest of one namespace. Its only state is a cache of what the last episodes gave."""

    store: NamespaceStore
    embedder: Embedder
    _candidates: OrderedDict[_Said, tuple[Candidate, ...]] = field(default_factory=OrderedDict["_Said", "tuple[Candidate, ...]"])

    def add(self, additions: Sequence[Addition]) -> list[AddResult]:
        """Store and learn `additions` in order; each is durable when this returns."""
        self._lift([said.text for a in additions if a.relearn for said in sentences(a.text)])
        kept = [self._without_forgotten(a) for a in additions]
        said = [a for a, _ in kept if a is not None]
        episodes = self.store.record_episodes([_new_episode(a) for a in said])
        again = frozenset(e.uid for e, a in zip(episodes, said, strict=True) if a.relearn)
        learned = iter(self.finish(episodes, again))
        return [_withheld(None if a is None else next(learned), cut) for a, cut in kept]

    def resume(self) -> int:
        """Finish what an earlier process left between the two transactions; gives how many episodes that were."""
        waiting = self.store.unfinished()
        for start in range(0, len(waiting), _AT_ONCE):
            self.finish(waiting[start : start + _AT_ONCE])
        self._complete_vectors()
        return len(waiting)

    def finish(self, episodes: Sequence[Episode], again: frozenset[EpisodeId] = frozenset()) -> list[AddResult]:
        """Extract, embed and write; an episode that somebody else finished meanwhile is answered from the store.

        What was cut out of an episode while it was being read is not learned: the rest is read once more. Raises `BusyError` if
        that happens three times. `again` are episodes that may say what was erased before.
        """
        for _ in range(_TRIES if episodes else 0):
            prepared = self._prepared(episodes)
            with self.store.write() as tx:
                if all(tx.is_as_read(each.episode) for each in prepared):
                    return [_write(tx, each, again=each.episode.uid in again) for each in prepared]
            episodes = [self._as_stored(episode) for episode in episodes]
        if not episodes:
            return []
        raise BusyError("What was said is stored, but parts of it kept being erased while it was read; it is learned at the next start.")

    def after_forgetting(self) -> None:
        """Let go of what the last episodes gave, and give what is left of cut passages their vectors."""
        self._candidates.clear()
        self._complete_vectors()

    def _complete_vectors(self) -> None:
        """Give the texts that wait for one their vectors, a batch at a time."""
        model = self.embedder.identity
        while self.store.lacks_vectors():
            texts = self.store.rows_without_vector(model, _AT_ONCE)
            try:
                vectors = dict(zip(texts, self.embedder.embed(list(texts.values())), strict=True))
            except ModelError:
                return
            with self.store.write() as tx:
                tx.set_vectors(model, texts, vectors)
                if len(texts) < _AT_ONCE:
                    tx.note_all_vectors()

    def _prepared(self, episodes: Sequence[Episode]) -> list[_Prepared]:
        read = [(episode, self._extract(episode)) for episode in episodes]
        vectors = self._embed(read)
        return [
            _Prepared(
                episode=episode,
                statements=None if candidates is None else self._statements(episode, candidates),
                vectors=vectors,
                model=self.embedder.identity,
            )
            for episode, candidates in read
        ]

    def _as_stored(self, episode: Episode) -> Episode:
        try:
            return self.store.episode(episode.uid)
        except NotFoundError:
            return episode

    def _lift(self, forgotten: Sequence[str]) -> None:
        if forgotten and any(self.store.forgotten(forgotten)):
            with self.store.write() as tx:
                for sentence in forgotten:
                    tx.lift_tombstone(sentence)

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

    def _extract(self, episode: Episode) -> tuple[Candidate, ...] | None:
        found = _understood(episode, self._recent(episode))
        if found is not None:
            self._remember(episode, found)
        return found

    def _recent(self, episode: Episode) -> Recent:
        before = self.store.recent_episodes(episode.uid, client=episode.client, limit=RECENT_EPISODES)
        return Recent(
            texts=tuple(e.text for e in before),
            candidates=tuple(c for e in before for c in self._given_by(e)),
        )

    def _given_by(self, episode: Episode) -> tuple[Candidate, ...]:
        known = self._candidates.get((episode.uid, episode.text))
        if known is not None:
            return known
        found = _understood(episode, Recent()) or ()
        self._remember(episode, found)
        return found

    def _remember(self, episode: Episode, candidates: tuple[Candidate, ...]) -> None:
        # With the text, since another process may cut something out of it.
        self._candidates[episode.uid, episode.text] = candidates
        while len(self._candidates) > _REMEMBERED:
            self._candidates.popitem(last=False)

    def _embed(self, read: Iterable[tuple[Episode, tuple[Candidate, ...] | None]]) -> dict[str, NDArray[np.float32]]:
        """Vectors by text; none where the model cannot be had: the texts are then found by their words."""
        texts: dict[str, None] = {}
        for episode, candidates in read:
            texts.update(dict.fromkeys(c.fact_text for c in candidates or () if c.act is not Act.RETRACT))
            texts.update(dict.fromkeys(episode.text[p.start : p.end] for p in passages(episode.text)))
        ordered = list(texts)
        try:
            return dict(zip(ordered, self.embedder.embed(ordered), strict=True)) if ordered else {}
        except ModelError as error:
            log.warning("No vectors for %d texts: %s", len(ordered), error)
            return {}

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
        """The retraction with the key of the stored value it means, where no words tell and cosine finds one."""
        c = said.candidate
        if c.cardinality is Cardinality.FUNCTIONAL or not said.object_key:
            return said
        stored = self._open_values(c)
        if not stored or by_words(said.object_key, stored):
            return said
        nearest = self._nearest(said.object_key, stored[:_COMPARED])
        return said if nearest is None else replace(said, object_key=nearest)

    def _nearest(self, key: str, stored: Sequence[str]) -> str | None:
        try:
            vectors = self.embedder.embed([key, *stored])
        except ModelError:
            return None
        return by_cosine(key, vectors[0], stored, vectors[1:], threshold=self.embedder.thresholds.object_match)

    def _open_values(self, c: Candidate) -> list[str]:
        visible = Visibility(now=self.store.clock(), include_cold=True)
        facts = self.store.facts(subject=c.subject, predicate=c.predicate, visibility=visible, modalities=None)
        return list(dict.fromkeys(value_key(f.object or f.fact_text) for f in facts))


_Said = tuple[EpisodeId, str]


def _understood(episode: Episode, recent: Recent) -> tuple[Candidate, ...] | None:
    """What a text says, in its order; `None` where reading it fails."""
    try:
        found = extract(episode.text, t_ref=episode.t_ref, tz=episode.tz, source=episode.source, recent=recent)
    except Exception as error:  # noqa: BLE001 - whatever one text does to the rules, it must not lock the memory it is in
        log.error("Episode %s could not be read (%s); it is kept and found by its words.", episode.uid, type(error).__name__)
        return None
    return tuple(sorted(found.candidates, key=lambda c: c.span.start))


def _new_episode(a: Addition) -> NewEpisode:
    return NewEpisode(text=a.text, source=a.source, client=a.client, t_ref=a.t_ref, tz=a.tz, passages=passages(a.text))


def _withheld(result: AddResult | None, cut: int) -> AddResult:
    """The result with the sentences that were not even stored; of a text that had no other, there is no episode."""
    if result is None:
        return AddResult(episode_id=None, withheld=cut)
    return replace(result, withheld=result.withheld + cut) if cut else result


def _write(tx: WriteTransaction, prepared: _Prepared, *, again: bool) -> AddResult:
    episode = prepared.episode
    if prepared.statements is None:
        return AddResult(episode_id=episode.uid, queued=True)
    if tx.is_done(episode.uid):
        return AddResult(episode_id=episode.uid, fact_ids=tuple(tx.facts_of(episode.uid)))
    if again:
        for said in prepared.statements:
            _lift_statement(tx, said.candidate)
    if not prepared.vectors:
        tx.note_missing_vectors()
    kept = [s for s in prepared.statements if not _is_forgotten(tx, s.candidate)]
    applied = tx.apply(resolve(tx, kept, episode.recorded_at), episode=episode, embeddings=prepared.vectors, model=prepared.model)
    return AddResult(
        episode_id=episode.uid,
        fact_ids=applied.fact_ids,
        existing=applied.existing,
        superseded=applied.superseded,
        queued=not prepared.vectors,
        withheld=len(prepared.statements) - len(kept),
    )


def _is_forgotten(tx: WriteTransaction, c: Candidate) -> bool:
    return tx.is_tombstoned(sentence=c.fact_text, subject=c.subject, predicate=c.predicate, value=c.object, polarity=c.polarity)


def _lift_statement(tx: WriteTransaction, c: Candidate) -> None:
    tx.lift_tombstone(c.fact_text, subject=c.subject, predicate=c.predicate, value=c.object, polarity=c.polarity)


def resolve(tx: WriteTransaction, statements: Sequence[Statement], recorded_at: Instant) -> ChangeSet:
    """Everything to write for the statements of one episode, recorded at `recorded_at`, as the slots stand in this transaction."""
    planned: list[ChangeSet] = []
    new = 0
    for slot, said in _by_slot(statements).items():
        whole = slot.cardinality is Cardinality.FUNCTIONAL or any(s.candidate.act is not Act.ASSERT for s in said)
        values = None if whole else frozenset(s.object_key for s in said)
        window = tx.window(slot, values, min(s.valid_at for s in said))
        planned.append(plan(window, said, recorded_at=recorded_at, first_new=new))
        new += len(planned[-1].facts)
    return joined(planned)


def _by_slot(statements: Sequence[Statement]) -> dict[Slot, list[Statement]]:
    slots: dict[Slot, list[Statement]] = {}
    for said in statements:
        c = said.candidate
        slot = Slot(subject_key=name_key(c.subject or USER), predicate=c.predicate, cardinality=c.cardinality)
        slots.setdefault(slot, []).append(said)
    return slots
