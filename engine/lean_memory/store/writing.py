"""What can be done inside one write transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.changes import ChangeSet, Slot, Window
from lean_memory.domain import Episode, EpisodeId, EpisodeState, FactId, Instant, ModelIdentity, Span
from lean_memory.store import old_vectors, search_index, tombstones
from lean_memory.store.apply import Applied, Embeddings, apply_changes
from lean_memory.store.clear import revive
from lean_memory.store.episodes import NewEpisode, episode_row, find_episode, insert_episode, mark
from lean_memory.store.reading import ReadTransaction
from lean_memory.store.slots import merged_values, read_values, read_window
from lean_memory.store.summaries import retire_summaries
from lean_memory.store.tombstones import Claim
from lean_memory.store.wording import Words


class WriteTransaction:
    """An open write transaction of one namespace."""

    def __init__(self, connection: apsw.Connection, namespace: str, moment: Instant) -> None:
        self.connection = connection
        self.began_at = moment
        self.recorded_at = moment
        """The moment of what is recorded next: later than anything in the file."""
        self._namespace = namespace

    def tick(self) -> None:
        """Go on to the next moment, so that what is recorded from here on counts as later."""
        self.recorded_at = Instant(self.recorded_at + 1)

    def record(self, new: NewEpisode) -> Episode:
        """Keep what was said, with its passages and their words; a file that was cleared is a namespace again with it."""
        revive(self.connection)
        episode = insert_episode(self.connection, new, self.recorded_at)
        self.tick()
        return episode

    def episode_row(self, uid: EpisodeId) -> int:
        """The row of an episode. Raises `NotFoundError`."""
        return episode_row(self.connection, uid)

    def has_episode(self, uid: EpisodeId) -> bool:
        """Whether there is an episode of this id."""
        return find_episode(self.connection, uid) is not None

    def is_done(self, uid: EpisodeId) -> bool:
        """Whether the rules' facts of an episode are stored: it was finished by somebody else, or erased."""
        state = self.connection.execute("SELECT state FROM episode WHERE uid = ?", (uid,)).get
        return state is None or state in {EpisodeState.DONE.value, EpisodeState.WAITING.value}

    def is_waiting(self, uid: EpisodeId) -> bool:
        """Whether an episode waits for a model."""
        return self.connection.execute("SELECT state FROM episode WHERE uid = ?", (uid,)).get == EpisodeState.WAITING.value

    def let_wait(self, uid: EpisodeId) -> None:
        """Note that an episode whose facts were just applied waits for a model."""
        mark(self.connection, uid, EpisodeState.WAITING)

    def standing(self, uid: FactId) -> tuple[int, bool] | None:
        """The row of a fact, and whether it is the latest word; `None` where it is gone or was never so."""
        found = self.connection.execute("SELECT id, is_latest FROM fact WHERE uid = ? AND struck = 0", (uid,)).fetchone()
        return None if found is None else (cast("int", found[0]), bool(found[1]))

    def facts_of(self, uid: EpisodeId) -> list[FactId]:
        """Ids of the facts that came from an episode, in order."""
        rows = self.connection.execute(
            "SELECT f.uid FROM fact f JOIN episode e ON e.id = f.episode_id WHERE e.uid = ? ORDER BY f.id", (uid,)
        )
        return [FactId(row[0]) for row in cast("list[tuple[str]]", rows.fetchall())]

    def window(self, slot: Slot, values: frozenset[str] | None, since: Instant) -> Window:
        """What a slot holds from `since` on; `values` are the keys that matter, or all. See `Window`."""
        return read_window(self.connection, slot, values, since)

    def values_marked(self, slot: Slot, marks: Iterable[str]) -> Sequence[str]:
        """The keys of the values that a slot ever held and in which one of the marks stands."""
        return read_values(self.connection, slot, marks)

    def values_merged(self, slot: Slot, values: Iterable[str]) -> Sequence[str]:
        """The keys of the values that hold on as duplicates of these, and of those that these are duplicates of."""
        return merged_values(self.connection, slot, values)

    def has_tombstones(self) -> bool:
        """Whether anything was ever forgotten here."""
        return tombstones.has_tombstones(self.connection)

    def forgotten_stretches(self, text: str, words: Words) -> list[Span]:
        """The stretches of a text, given with its words, that say a sentence that was forgotten, in order."""
        return tombstones.forgotten_stretches(self.connection, text, words)

    def is_tombstoned(self, claim: Claim) -> bool:
        """Whether the sentence was forgotten or, where the statement is given too, whether its fact was, in whatever words."""
        return tombstones.is_tombstoned(self.connection, claim)

    def lift_tombstone(self, claim: Claim) -> None:
        """The person says it after all: let the sentence and, where the statement is given too, its fact be learned again."""
        tombstones.lift(self.connection, claim)

    def is_as_read(self, episode: Episode) -> bool:
        """Whether an episode still says what was read of it; a part may have been erased since. One that is gone says nothing."""
        text = self.connection.execute("SELECT text FROM episode WHERE uid = ?", (episode.uid,)).get
        return text is None or text == episode.text

    def note_unreadable(self, uid: EpisodeId) -> None:
        """Note that reading an episode failed; it waits, and is found by its words."""
        mark(self.connection, uid, EpisodeState.UNREAD)

    def set_vectors(self, model: ModelIdentity, texts: Mapping[int, str], vectors: Mapping[int, NDArray[np.float32]]) -> int:
        """Keep vectors that `model` made of the texts of index rows; what was changed or erased since is passed over.

        Gives how many rows have one now that had none.
        """
        now = ReadTransaction(connection=self.connection, namespace=self._namespace).texts(list(texts))
        return search_index.set_vectors(self.connection, model, {row: vectors[row] for row, text in texts.items() if now.get(row) == text})

    def put_vectors_aside(self, used: Collection[ModelIdentity]) -> int:
        """Let nobody ask for the vectors of other models than those in use; gives how many models those are."""
        return old_vectors.put_aside(self.connection, used)

    def drop_some_vectors(self) -> bool:
        """Drop some of the vectors that were put aside; gives whether there are more."""
        return old_vectors.drop_some(self.connection)

    def apply(
        self,
        changes: ChangeSet,
        *,
        episode: Episode,
        embeddings: Mapping[str, NDArray[np.float32]] | None = None,
        model: ModelIdentity | None = None,
    ) -> Applied:
        """Write everything that came of an episode, which is finished with it.

        `embeddings` are unit vectors by text, made by `model`: those of new facts and of the episode's passages are kept.
        """
        vectors = None if model is None or embeddings is None else Embeddings(model=model, by_text=embeddings)
        applied = apply_changes(self.connection, changes, episode=episode, recorded_at=self.recorded_at, embeddings=vectors)
        if applied.ended:
            retire_summaries(self.connection, applied.ended, self.recorded_at)
        self.finish(episode.uid)
        return applied

    def finish(self, uid: EpisodeId) -> None:
        """Note that nothing is left to do for an episode."""
        mark(self.connection, uid, EpisodeState.DONE)
        self.tick()
