"""From what was said to what is known: Episode -> extract -> resolve -> ChangeSet -> apply.

Transaction 1 stores the episode, so that nothing said is lost whatever dies next. Extraction and embedding run with no
transaction open. Transaction 2 reads the slots touched, plans and writes; an episode left between the two is finished
at the next start, exactly once.
"""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lean_memory.changes import Slot
from lean_memory.domain import (
    INSTRUCTION_LIKE,
    Act,
    AddResult,
    Candidate,
    Cardinality,
    Episode,
    EpisodeId,
    Instant,
)
from lean_memory.embedding import Embedding
from lean_memory.errors import BusyError, ModelError, NotFoundError, StorageError, StorageFullError
from lean_memory.extraction import vocabulary
from lean_memory.extraction.echo import Ledger
from lean_memory.extraction.instructions import steers
from lean_memory.extraction.pipeline import Recent, extract
from lean_memory.extraction.secrets import Redacted, redact
from lean_memory.extraction.sentences import passages
from lean_memory.keeping import Addition, Said, keep
from lean_memory.learning import Prepared, write_all, write_more
from lean_memory.models.ports import Embedder
from lean_memory.passes import Passes
from lean_memory.resolution.contradiction import buckets, by_cosine, by_words
from lean_memory.resolution.statements import Statement, statement
from lean_memory.rivals import rivalries
from lean_memory.store.namespace_store import NamespaceStore
from lean_memory.vectors import make_few

log = logging.getLogger(__name__)

RECENT_EPISODES = 3
"""How many earlier episodes a pronoun or a follow-up may refer to."""

_REMEMBERED = 64
_TRIES = 3
_AT_ONCE = 64
_ONE_TALK_MS = 3_600_000
"""Between two messages of one talk."""
_FEW = 256
"""Texts whose vectors are made while somebody waits: in about a second."""
_FOR_NOW = (BusyError, StorageFullError)
_COMPARED = 3
"""Open values that a retraction is compared with by cosine, each of which has to be embedded. Among 1,000 values, whatever reached
the threshold was the nearest by its sentence too."""
_SENTENCE_SHARE = 0.5
"""A value that reaches the threshold is part of a sentence that reaches this share of it; the least that was measured is .54."""


@dataclass(slots=True, kw_only=True)
class Ingest:
    """The ingest of one namespace. Its only state is a cache of what the last episodes gave, what was served, and whether something waits."""

    store: NamespaceStore
    embedder: Embedder
    passes: Passes = field(default_factory=Passes)
    served: Ledger = field(default_factory=Ledger)
    """What was given in answer lately."""
    _candidates: OrderedDict[_Key, tuple[Candidate, ...]] = field(default_factory=OrderedDict["_Key", "tuple[Candidate, ...]"])
    _behind: bool = False
    """Whether something that was said here is stored and waits to be learned."""

    def add(self, additions: Sequence[Addition]) -> list[AddResult]:
        """Store and learn `additions` in order; each is durable when this returns. Secrets are taken out of them first.

        What is stored and cannot be learned for now, because the disk is full or another program keeps the file locked, is answered
        as `queued`: the next addition that is learned takes it along, and so does the next opening. Raises only where nothing was stored.
        """
        clean = [redact(a.text) for a in additions]
        said = [Said(replace(a, text=c.text)) for a, c in zip(additions, clean, strict=True)]
        if self.store.has_tombstones():
            for each in said:
                each.split()
        kept = self.store.change(lambda tx: [keep(tx, each) for each in said])
        episodes = [episode for episode, _ in kept if episode is not None]
        again = frozenset(e.uid for (e, _), a in zip(kept, additions, strict=True) if e is not None and a.relearn)
        learned = iter(self._learn(episodes, again))
        results = [_withheld(None if episode is None else next(learned), cut) for episode, cut in kept]
        return [_noted(result, c) for result, c in zip(results, clean, strict=True)]

    def catch_up(self) -> None:
        """Learn what is stored and not learned yet, as far as the disk and other programs allow it; the next addition tries again."""
        try:
            self._behind = False
            self.resume()
        except _FOR_NOW as error:
            self._fall_behind(error)
        except BaseException:
            self._behind = True
            raise

    def resume(self) -> int:
        """Finish what was left between the two transactions; gives how many episodes that were."""
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
        if not episodes:
            return []
        for _ in range(_TRIES):
            prepared = self._prepared(episodes)
            results = self.store.change(partial(write_all, prepared=prepared, again=again, served=self.served))
            if results is not None:
                return results
            episodes = [self._as_stored(episode) for episode in episodes]
        raise BusyError("What was said is stored, but parts of it kept being erased while it was read; it is learned at the next start.")

    def rules_of(self, episode: Episode) -> tuple[tuple[Candidate, ...], Recent]:
        """What the rules make of an episode, and what was said before it."""
        recent = self._recent(episode)
        return self._extract(episode, recent) or (), recent

    def add_to(self, episode: Episode, candidates: Sequence[Candidate]) -> AddResult:
        """Write what models found in an episode that waits for them, and finish it; it may wait on, see `write_more`."""
        with Embedding(self.embedder) as embedding:
            embedding.ask(_passages(episode))
            embedding.ask(_sentences(candidates))
            prepared = self._ready(episode, candidates, _made(embedding))
        return self.store.change(partial(write_more, prepared=prepared, served=self.served))

    def after_forgetting(self) -> None:
        """Let go of what the last episodes gave, and give what is left of cut passages their vectors."""
        self._candidates.clear()
        self.served.clear()
        try:
            self._complete_vectors()
        except _FOR_NOW as error:
            self._fall_behind(error)

    def _learn(self, episodes: Sequence[Episode], again: frozenset[EpisodeId]) -> list[AddResult]:
        try:
            results = self.finish(episodes, again)
        except _FOR_NOW as error:
            self._fall_behind(error)
            return [AddResult(episode_id=episode.uid, queued=True) for episode in episodes]
        except BaseException:
            self._behind = True
            raise
        if self._behind:
            self.catch_up()
        return results

    def _fall_behind(self, error: StorageError) -> None:
        if not self._behind:
            log.warning("What is said is kept and found by its words; more is made of it later (%s).", type(error).__name__)
        self._behind = True

    def _complete_vectors(self) -> None:
        """Give the texts that wait for one their vectors, if they are few; many are made beside what else is done, see `vectors`."""
        try:
            make_few(self.store, self.embedder, _FEW)
        except ModelError as error:
            log.warning("Some texts wait for their vectors on: %s", error)

    def _prepared(self, episodes: Sequence[Episode]) -> list[Prepared]:
        read: list[tuple[Episode, tuple[Candidate, ...] | None]] = []
        with Embedding(self.embedder) as embedding:
            embedding.ask(passage for episode in episodes for passage in _passages(episode))
            for episode in episodes:
                read.append((episode, self._extract(episode, self._recent(episode))))
                embedding.ask(_sentences(read[-1][1] or ()))
            vectors = _made(embedding)
        return [replace(self._ready(episode, found, vectors), waits=self._waits(episode, found)) for episode, found in read]

    def _ready(self, episode: Episode, candidates: Sequence[Candidate] | None, vectors: Mapping[str, NDArray[np.float32]]) -> Prepared:
        said = None if candidates is None else self._statements(episode, candidates)
        return Prepared(episode=episode, statements=said, vectors=vectors, model=self.embedder.identity)

    def _waits(self, episode: Episode, candidates: Sequence[Candidate] | None) -> bool:
        if candidates is None or not self.passes.are_on:
            return False
        contested = rivalries(self.store, self.embedder, candidates) if self.passes.can_adjudicate else []
        return self.passes.want(episode, candidates, [each.candidate for each in contested])

    def _as_stored(self, episode: Episode) -> Episode:
        try:
            return self.store.episode(episode.uid)
        except NotFoundError:
            return episode

    def _extract(self, episode: Episode, recent: Recent) -> tuple[Candidate, ...] | None:
        found = _understood(episode, recent)
        if found is not None:
            self._remember(episode, found)
        return found

    def _recent(self, episode: Episode) -> Recent:
        before = self.store.recent_episodes(episode.uid, client=episode.client, limit=RECENT_EPISODES)
        return Recent(
            texts=tuple(e.text for e in before),
            candidates=tuple(c for e in before for c in self._given_by(e)),
            just_said=bool(before) and 0 <= episode.t_ref - before[-1].t_ref <= _ONE_TALK_MS,
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
        if opposite is None or not c.asserts:
            return
        over = replace(c, predicate=opposite, act=Act.RETRACT, cardinality=vocabulary.cardinality(opposite))
        yield self._named(replace(said, candidate=over))

    def _named(self, said: Statement) -> Statement:
        """The retraction with the key of the stored value it means, where no words tell and cosine finds one."""
        slot, key, now = Slot.of(said.candidate), said.object_key, self.store.clock()
        if slot.cardinality is Cardinality.FUNCTIONAL or not key:
            return said
        if by_words(key, self.store.look(lambda tx: tx.open_values(slot, now, buckets(key)))):
            return said
        kind = self._of_a_kind(slot, key, now)
        if kind is not None:
            return replace(said, object_key=kind)
        nearest = self._nearest(slot, key, now) if self.store.look(lambda tx: tx.has_open_values(slot, now)) else None
        return said if nearest is None else replace(said, object_key=nearest)

    def _of_a_kind(self, slot: Slot, key: str, now: Instant) -> str | None:
        """The one open value that was told as one of these: "dog" means Rex where "I have a dog named Rex" was said, and of two dogs neither."""
        if vocabulary.object_type(slot.predicate) not in {"person", "animal"}:
            return None
        told = self.store.look(lambda tx: tx.open_values_told(slot, now))
        meant = {value for value, sentence in told if _is_called(key, value, sentence.casefold())}
        return meant.pop() if len(meant) == 1 else None

    def _nearest(self, slot: Slot, key: str, now: Instant) -> str | None:
        """The open value nearest to `key`; the stored vectors of whole sentences tell which few values are worth a look."""
        threshold = self.embedder.thresholds.object_match
        try:
            [vector] = self.embedder.embed([key])
            values = self.store.look(
                lambda tx: tx.nearest_values(slot, now, self.embedder.identity, vector, floor=_SENTENCE_SHARE * threshold)
            )[:_COMPARED]
            return by_cosine(key, vector, values, self.embedder.embed(values), threshold=threshold)
        except ModelError:
            return None


_Key = tuple[EpisodeId, str]


def _is_called(key: str, value: str, sentence: str) -> bool:
    """Whether a value stands right beside what it is: "my dog Rex", "a dog named Rex", "Rex is our dog", 一只狗叫旺财; not "Max works with Paul"."""
    kind, name = re.escape(key), re.escape(value)
    after = rf"{kind}(?:\W+(?:is|was|named|called|name|whose|s))*\W+{name}|{kind}(?:名?叫|名字是|是)?{name}"
    before = rf"{name}\W+(?:(?:is|was)\W+)?(?:my|our|a|an|the)\W+{kind}"
    return re.search(rf"(?<!\w)(?:{before})(?!\w)|{after}", sentence) is not None


def _understood(episode: Episode, recent: Recent) -> tuple[Candidate, ...] | None:
    """What a text says, in its order; `None` where reading it fails."""
    try:
        found = extract(episode.text, t_ref=episode.t_ref, tz=episode.tz, source=episode.source, recent=recent)
    except Exception as error:  # noqa: BLE001 - whatever one text does to the rules, it must not lock the memory it is in
        log.error("Episode %s could not be read (%s); it is kept and found by its words.", episode.uid, type(error).__name__)
        return None
    return tuple(sorted(found.candidates, key=lambda c: c.span.start))


def _passages(episode: Episode) -> Iterable[str]:
    return (episode.text[passage.start : passage.end] for passage in passages(episode.text))


def _sentences(candidates: Iterable[Candidate]) -> Iterable[str]:
    """The sentences of what is to be stored; a retraction is not."""
    return (candidate.fact_text for candidate in candidates if candidate.act is not Act.RETRACT)


def _made(embedding: Embedding) -> Mapping[str, NDArray[np.float32]]:
    """Vectors by text; none where the model cannot be had: the texts are then found by their words."""
    try:
        return embedding.vectors()
    except ModelError as error:
        log.warning("No vectors for what was said: %s", error)
        return {}


def _noted(result: AddResult, clean: Redacted) -> AddResult:
    """The result with what was seen in the text itself."""
    steered = steers(clean.text)
    if not clean.kinds and not steered:
        return result
    return replace(result, redacted=clean.kinds, flags=(INSTRUCTION_LIKE,) if steered else ())


def _withheld(result: AddResult | None, cut: int) -> AddResult:
    """The result with the sentences that were not even stored; of a text that had no other, there is no episode."""
    if result is None:
        return AddResult(episode_id=None, withheld=cut)
    return replace(result, withheld=result.withheld + cut) if cut else result
