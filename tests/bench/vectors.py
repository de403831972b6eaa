"""An embedder that remembers on disk: the benchmarks embed the same turns again and again, and only the first time is work.

Never used where speed is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import ModelIdentity
from lean_memory.models.builtin import BuiltinEmbedder
from lean_memory.models.ports import CosineThresholds, Vectors

_SCHEMA = "CREATE TABLE IF NOT EXISTS vector(key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
BATCH = 256


class RememberingEmbedder:
    """Gives what `inner` gives, from a file in `folder` where it has given it before; the file is made if missing."""

    def __init__(self, inner: BuiltinEmbedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._inner = inner
        self._file = apsw.Connection(str(folder / "vectors.db"))
        self._file.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 20000; " + _SCHEMA).fetchall()

    @property
    def identity(self) -> ModelIdentity:
        return self._inner.identity

    @property
    def thresholds(self) -> CosineThresholds:
        return self._inner.thresholds

    def embed(self, texts: Sequence[str]) -> Vectors:
        keys = [self._key("text", text) for text in texts]
        known = {key: vector for key in set(keys) if (vector := self._read(key)) is not None}
        new = list({key: text for key, text in zip(keys, texts, strict=True) if key not in known}.items())
        for start in range(0, len(new), BATCH):
            batch = new[start : start + BATCH]
            vectors = self._inner.embed([text for _, text in batch])
            with self._file:
                for (key, _), vector in zip(batch, vectors, strict=True):
                    known[key] = self._write(key, vector)
        return np.stack([known[key] for key in keys]) if keys else np.empty((0, self.identity.dims), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        key = self._key("query", text)
        known = self._read(key)
        return known if known is not None else self._write(key, self._inner.embed_query(text))

    def _key(self, kind: str, text: str) -> bytes:
        identity = self.identity
        return blake2b(f"{identity.model_id}\0{identity.revision}\0{identity.dims}\0{kind}\0{text}".encode(), digest_size=16).digest()

    def _read(self, key: bytes) -> NDArray[np.float32] | None:
        row = self._file.execute("SELECT value FROM vector WHERE key = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32)

    def _write(self, key: bytes, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        self._file.execute("INSERT OR REPLACE INTO vector VALUES (?, ?)", (key, vector.astype(np.float32).tobytes()))
        return vector
