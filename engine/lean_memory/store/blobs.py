"""Records of one size, many to a blob: written in place, in as few steps as they lie together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import apsw


def write_records(con: apsw.Connection, table: str, size: int, records: Mapping[int, bytes]) -> int:
    """Put records of one length, by row id, into their places in blobs of `size` records, made where they are not there yet.

    Gives how many of the places began with a zero byte before.
    """
    return sum(_write_blob(con, table, size, blob_id, of_blob) for blob_id, of_blob in _by_blob(size, records))


def _write_blob(con: apsw.Connection, table: str, size: int, blob_id: int, records: Mapping[int, bytes]) -> int:
    length = len(next(iter(records.values())))
    con.execute(f"INSERT OR IGNORE INTO {table} (id, rows) VALUES (?, zeroblob(?))", (blob_id, size * length))
    blob = con.blob_open("main", table, "rows", blob_id, True)
    empty = 0
    try:
        for first, stretch in _stretches(records):
            blob.seek(first * length)
            empty += blob.read(len(stretch))[::length].count(0)
            blob.seek(first * length)
            blob.write(stretch)
    finally:
        blob.close()
    return empty


def _by_blob(size: int, records: Mapping[int, bytes]) -> Iterator[tuple[int, dict[int, bytes]]]:
    """The records of each blob, by their position in it, ascending."""
    blobs: dict[int, dict[int, bytes]] = {}
    for row_id in sorted(records):
        blobs.setdefault(row_id // size, {})[row_id % size] = records[row_id]
    return iter(blobs.items())


def _stretches(records: Mapping[int, bytes]) -> Iterator[tuple[int, bytes]]:
    """Records that lie side by side as one, with the position of the first; `records` are by position, ascending."""
    first, parts = -1, list[bytes]()
    for position, record in records.items():
        if parts and position != first + len(parts):
            yield first, b"".join(parts)
            parts = []
        if not parts:
            first = position
        parts.append(record)
    yield first, b"".join(parts)
