"""What can be done inside one write transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.changes import ChangeSet, Slot, Window
from lean_memory.domain import Episode, EpisodeId, EpisodeState, FactId, Instant, ModelIdentity, Polarity, name_key, value_key
from lean_memory.store import search_index, tombstones
from lean_memory.store.apply import Applied, Embeddings, apply_changes
from lean_memory.store.episodes import episode_row, mark_done
from lean_memory.store.reading import ReadTransaction
from lean_memory.store.slots import read_window


class WriteTransaction:
    """An open write transaction of one namespace."""

    def __init__(self, connection: apsw.Connection, namespace: str, moment: Instant) -> None:
        self.connection = connection
        self.recorded_at = moment
        """The moment of what is recorded next: later than anything in the file."""
        self._namespace = namespace

    def tick(self) -> None:
        """Go on to the next moment, so that what is recorded from here on counts as later."""
        self.recorded_at = Instant(self.recorded_at + 1)

    def episode_row(self, uid: EpisodeId) -> int:
        """The row of an episode. Raises `NotFoundError`."""
        return episode_row(self.connection, uid)

    def is_done(self, uid: EpisodeId) -> bool:
        """Whether nothing is left to do for an episode: it was finished by somebody else, or erased."""
        state = self.connection.execute("SELECT state FROM episode WHERE uid = ?", (uid,)).get
        return state is None or state == EpisodeState.DONE.value

    def facts_of(self, uid: EpisodeId) -> list[FactId]:
        """Ids of the facts that came from an episode, in order."""
        rows = self.connection.execute(
            "SELECT f.uid FROM fact f JOIN episode e ON e.id = f.episode_id WHERE e.uid = ? ORDER BY f.id", (uid,)
        )
        return [FactId(row[0]) for row in cast("list[tuple[str]]", rows.fetchall())]

    def window(self, slot: Slot, values: frozenset[str] | None, since: Instant) -> Window:
        """The part of a slot that a statement about the moments from `since` on can touch; `values` are the keys that matter, or all."""
        return read_window(self.connection, slot, values, since)

    def is_tombstoned(
        self,
        sentence: str,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        value: str | None = None,
        polarity: Polarity = Polarity.POSITIVE,
    ) -> bool:
        """Whether the sentence was forgotten or, where the statement is given too, whether its fact was, in whatever words."""
        if tombstones.is_tombstoned(self.connection, sentence):
            return True
        if subject is None or predicate is None or not value:
            return False
        return tombstones.is_value_tombstoned(self.connection, name_key(subject), predicate, value_key(value), polarity)

    def lift_tombstone(
        self,
        sentence: str,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        value: str | None = None,
        polarity: Polarity = Polarity.POSITIVE,
    ) -> None:
        """The person says it after all: let the sentence and, where the statement is given too, its fact be learned again."""
        tombstones.lift_sentence(self.connection, sentence)
        if subject is not None and predicate is not None and value:
            tombstones.lift_value(self.connection, name_key(subject), predicate, value_key(value), polarity)

    def is_as_read(self, episode: Episode) -> bool:
        """Whether an episode still says what was read of it; a part may have been erased since. One that is gone says nothing."""
        text = self.connection.execute("SELECT text FROM episode WHERE uid = ?", (episode.uid,)).get
        return text is None or text == episode.text

    def note_missing_vectors(self) -> None:
        """Note that some texts wait for their vectors, so that the next start looks for them."""
        self.connection.execute("INSERT OR REPLACE INTO setting (key, value) VALUES ('lacks_vectors', 1)")

    def note_all_vectors(self) -> None:
        """Note that no text waits for its vector any more."""
        self.connection.execute("DELETE FROM setting WHERE key = 'lacks_vectors'")

    def set_vectors(self, model: ModelIdentity, texts: Mapping[int, str], vectors: Mapping[int, NDArray[np.float32]]) -> None:
        """Keep vectors that `model` made of the texts of index rows; what was changed or erased since is passed over."""
        now = ReadTransaction(connection=self.connection, namespace=self._namespace).texts(list(texts))
        search_index.set_vectors(self.connection, model, {row: vectors[row] for row, text in texts.items() if now.get(row) == text})

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
        self.finish(episode.uid)
        return applied

    def finish(self, uid: EpisodeId) -> None:
        """Note that nothing is left to do for an episode."""
        mark_done(self.connection, uid)
        self.tick()

    def rows_without_vector(self, model: ModelIdentity, limit: int) -> dict[int, str]:
        """Index rows that `model` has made no vector for, with their texts."""
        rows = search_index.rows_without_vector(self.connection, model, limit)
        return ReadTransaction(connection=self.connection, namespace=self._namespace).texts(rows)
