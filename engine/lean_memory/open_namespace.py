"""One namespace of an open memory: its store, its index in memory, its ingest."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from lean_memory.clock import Clock
from lean_memory.domain import Fact, ForgetResult, Modality, ModelIdentity, NamespaceStatus, RecordKind, SearchHit, VectorsMade, Visibility
from lean_memory.errors import ClosedError, ModelError, quoted
from lean_memory.finishing import Finisher
from lean_memory.ingest import Ingest
from lean_memory.maintenance.caretaker import Caretaker
from lean_memory.maintenance.deciding import Decision
from lean_memory.maintenance.drafts import Draft, Found, Snapshot
from lean_memory.maintenance.effects import with_effects
from lean_memory.maintenance.propose import propose
from lean_memory.models.ports import Embedder
from lean_memory.passes import Passes
from lean_memory.proposals import Outcome, ProposalKind, Settled
from lean_memory.retrieval import pipeline
from lean_memory.retrieval.recipes import Recipe
from lean_memory.retrieval.space import SearchModels
from lean_memory.retrieval.standing_words import in_standing_words
from lean_memory.settings import Settings
from lean_memory.store.codes import CodeTable
from lean_memory.store.namespace_store import NamespaceStore, ReadTransaction
from lean_memory.upkeep import Upkeep
from lean_memory.vectors import EMBEDDER, SECOND, Pace, drop_old, make_missing, missing_of, spaces_of

_MOST_SERVED = 200
"""How many facts of a list count as served; nobody repeats more."""


class OpenNamespace:
    """One namespace of an open memory: its store, its index in memory, its ingest; opened when first used."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        embedder: Embedder,
        clock: Clock,
        *,
        passes: Passes | None = None,
        models: SearchModels | None = None,
    ) -> None:
        self.name, self._settings, self._embedder, self._clock = name, settings, embedder, clock
        self._models = models or SearchModels(embedder=embedder)
        self._passes = Passes() if passes is None else passes
        self._opening = threading.RLock()
        self._parts: tuple[NamespaceStore, CodeTable, Ingest] | None = None
        self._finisher: Finisher | None = None
        self._upkeep: Upkeep | None = None
        self._resumed = False
        self.is_closed = False
        self.calls: set[object] = set()
        """Which calls are at work in it, as its memory counts them."""
        self.is_left = False
        """Whether nobody else is to begin in it; whoever is the last at work in it closes it."""

    @property
    def store(self) -> NamespaceStore:
        """The open store. Raises `ClosedError` after `close()`."""
        return self._opened()[0]

    @property
    def ingest(self) -> Ingest:
        """The ingest of the open store."""
        return self._opened()[2]

    @property
    def finisher(self) -> Finisher:
        """What finishes the texts that wait for a model."""
        if self._finisher is None:
            raise ClosedError(f"The namespace “{quoted(self.name)}” is not open.")
        return self._finisher

    @property
    def upkeep(self) -> Upkeep:
        """What keeps the namespace tidy."""
        if self._upkeep is None:
            raise ClosedError(f"The namespace “{quoted(self.name)}” is not open.")
        return self._upkeep

    def open(self, *, create: bool, resume: bool) -> None:
        """Open the file, and finish what an earlier process left unfinished unless `resume` is off; both only once."""
        with self._opening:
            if self.is_closed:
                raise ClosedError(f"The namespace “{quoted(self.name)}” was closed meanwhile; try again.")
            if self._parts is None:
                store = NamespaceStore.open(self._settings.root, self.name, settings=self._settings, clock=self._clock, create=create)
                ingest = Ingest(store=store, embedder=self._embedder, passes=self._passes)
                self._parts = store, CodeTable(), ingest
                self._finisher = Finisher(ingest=ingest, passes=self._passes)
                self._upkeep = Upkeep(self._caretaker(store))
            if resume and not self._resumed:
                self._resumed = True
                if self.store.writable:
                    self.ingest.catch_up()
                    if self._settings.maint_auto:
                        self.upkeep.go_over()

    def close(self) -> None:
        """Close the file; whoever is at work in it is told."""
        with self._opening:
            self.is_closed = True
            if self._upkeep is not None:
                self._upkeep.end()
            if self._parts is not None:
                self._parts[0].close()

    def let_go(self, deadline: float) -> bool:
        """Close the file and let nobody open it until `go_on`; gives whether that was done before the deadline (see the store's)."""
        if not self._opening.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return False
        done = False
        try:
            done = self._parts is None or self._parts[0].let_go(deadline)
        finally:
            if not done:
                self._opening.release()
        return done

    def go_on(self) -> None:
        """Let the file be opened again after `let_go`."""
        if self._parts is not None:
            self._parts[0].go_on()
        self._opening.release()

    def search(self, query: str, k: int, visibility: Visibility, recipe: Recipe | None) -> list[SearchHit]:
        """Search the open store."""
        store, codes, _ = self._opened()
        hits = pipeline.search(store, codes, self._models, query, k=k, visibility=visibility, recipe=recipe)
        told = in_standing_words(store, [hit.fact for hit in hits], visibility)
        hits = [replace(hit, fact=fact) for hit, fact in zip(hits, told, strict=True)]
        self._serve([hit.fact for hit in hits])
        self.upkeep.note(hits)
        return hits

    def catch_up_vectors(self, pace: Pace) -> VectorsMade:
        """Make vectors that the models in use lack, see `make_missing`; and bring what was completed into memory for the next search."""
        store, codes, _ = self._opened()
        embedders = self._models.embedders()
        if not store.writable:
            return VectorsMade(made=0, missing=missing_of(store, embedders), reason="The file can only be read.")
        made = make_missing(store, embedders, pace)
        for embedder in embedders if made.made and not made.missing else ():
            store.look(partial(_refresh, codes=codes, model=embedder.identity))
        return made

    def drop_old_vectors(self) -> int:
        """Drop the vectors of models that this memory does not use, see `drop_old`."""
        return drop_old(self.store, self._models.embedders())

    def status(self) -> NamespaceStatus:
        """Counts and health, and how far the vectors of each model are made."""
        roles = [(EMBEDDER, self._embedder), *([(SECOND, self._models.second)] if self._models.second is not None else [])]
        return replace(self.store.status(), vectors=spaces_of(self.store, roles))

    def facts(
        self,
        *,
        subject: str | None,
        predicate: str | None,
        visibility: Visibility,
        modalities: frozenset[Modality] | None,
        limit: int | None,
    ) -> list[Fact]:
        """The facts of the open store that are asked for."""
        stored = self.store.facts(subject=subject, predicate=predicate, visibility=visibility, modalities=modalities, limit=limit)
        found = in_standing_words(self.store, stored, visibility)
        self._serve(found[:_MOST_SERVED])
        return found

    def _serve(self, facts: Sequence[Fact]) -> None:
        """Facts are given in answer: what comes back of them is no new evidence."""
        self.ingest.served.note(facts, self._clock())

    def forget(self, fact_id: str | None, episode_id: str | None, entity: str | None, call: str | None) -> ForgetResult:
        """Erase, and let nothing of it linger in this process."""
        try:
            return self.store.forget(fact_id=fact_id, episode_id=episode_id, entity=entity, call=call)
        finally:
            self.ingest.after_forgetting()

    def decide(self, proposal_id: str, decision: Decision) -> Outcome:
        """Carry out a decision; of what it erases, nothing lingers in this process."""
        erases = True
        try:
            outcome = self.upkeep.caretaker.decide(proposal_id, decision)
            erases = isinstance(outcome, Settled) and outcome.proposal.kind is ProposalKind.FORGET
            return outcome
        finally:
            # Also where only the last step of the erasure failed.
            if erases:
                self.ingest.after_forgetting()

    def _caretaker(self, store: NamespaceStore) -> Caretaker:
        return Caretaker(
            store=store,
            embedder=self._embedder,
            proposers=(self._propose,),
            shown=partial(with_effects, search=self._found),
            timezone=self._settings.timezone or "UTC",
        )

    def _propose(self, snapshot: Snapshot) -> Iterable[Draft]:
        """What a run may propose; where the typing model cannot be had, summaries are made without it."""
        try:
            typing = self._passes.typing_model()
        except ModelError:
            typing = None
        return propose(snapshot, typing)

    def _found(self, question: str, limit: int) -> list[Found]:
        """What a search finds now; it counts as asked by nobody."""
        store, codes, _ = self._opened()
        visibility = Visibility(now=store.clock())
        hits = pipeline.search(store, codes, self._models, question, k=limit, visibility=visibility, recipe=None)
        return [Found(fact_id=None if hit.fact.record_kind is RecordKind.PASSAGE else hit.fact.id, text=hit.fact.fact_text) for hit in hits]

    def _opened(self) -> tuple[NamespaceStore, CodeTable, Ingest]:
        if self._parts is None:
            raise ClosedError(f"The namespace “{quoted(self.name)}” is not open.")
        return self._parts


def _refresh(tx: ReadTransaction, *, codes: CodeTable, model: ModelIdentity) -> None:
    codes.refresh(tx.connection, model)
