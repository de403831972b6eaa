"""What one search sees: a snapshot, the index as of it, and which of its rows are visible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lean_memory.domain import Instant
from lean_memory.store.codes import IndexView, Mask
from lean_memory.store.reading import ReadTransaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One snapshot and the mask that visibility makes of it, shape (rows,); positions in the mask are row ids."""

    tx: ReadTransaction
    view: IndexView
    mask: Mask
    known_at: Instant | None = None
    """The past moment whose knowledge it is; then nothing learned later may count, not even in how common a word is."""

    def visible(self, row_ids: Iterable[int]) -> list[int]:
        """Those of the rows that the search may see, in order."""
        size = self.mask.shape[0]
        return [row_id for row_id in row_ids if row_id < size and self.mask[row_id]]
