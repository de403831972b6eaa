"""The search index: one row for a passage, a fact, or a fact that is its whole passage.

A row has its words in `index_text`, its visibility in `index_row`, and a vector for every model that made one. Visibility and
sign codes are kept a second time in blocks of `BLOCK` rows, so that a reader can bring a million rows into memory at once
(`codes.py`). All functions work inside the caller's transaction.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import Instant, ModelIdentity
from lean_memory.store import lexical_text
from lean_memory.store.blobs import write_records
from lean_memory.store.lexical_text import QuestionWord
from lean_memory.store.visibility import ASSERTED, COLD, IS_FACT, LATEST, OPEN_END, PRESENT, STRUCK

BLOCK = 1024
"""Rows in one block of visibility or of codes."""

GROUP = 8
"""Vectors kept in one blob: one alone would leave a quarter of its page empty."""

RECORD = struct.Struct("<qqqHBB")
"""A row in a block: valid_at, valid_to, recorded_at, number of tokens (at most 65,535), share of it that asks (of 255), flags."""

_ENDLESS = 1 << 62
"""Above every row."""

_RARE = 2_000
_SAMPLED = 20_000

# The first number is a random one, so that a file that takes another's place is not taken for it.
_NOTE_CHANGE = """
INSERT INTO index_change (layer, block, change)
VALUES (?1, ?2, (SELECT coalesce(max(change), abs(random() % 1000000000000)) + 1 FROM index_change WHERE layer = ?1))
ON CONFLICT (layer, block) DO UPDATE SET change = excluded.change
"""

ROWS_LAYER = 0
"""The layer of `index_block` in `index_change`; a model's codes have the model's number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowVisibility:
    """When and for whom a row may be found."""

    valid_at: Instant
    valid_to: Instant | None
    recorded_at: Instant
    latest: bool
    cold: bool = False
    struck: bool = False
    asserted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Postings:
    """The rows in which a token stands, ascending, and how often it does in each; shape (rows,)."""

    rows: NDArray[np.int64]
    counts: NDArray[np.int64]


def insert_row(con: apsw.Connection, *, fact_id: int | None, passage_id: int | None, text: str, visibility: RowVisibility) -> int:
    """Add a row with its words; its vector comes later. Returns the row's id."""
    words = lexical_text.tokens(con, text)
    asks = round(255 * lexical_text.asking_share(text))
    flags = flags_of(visibility) | (0 if fact_id is None else IS_FACT)
    con.execute(
        "INSERT INTO index_row (fact_id, passage_id, valid_at, valid_to, recorded_at, tokens, asks, flags) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (fact_id, passage_id, visibility.valid_at, visibility.valid_to, visibility.recorded_at, len(words), asks, flags),
    )
    row_id = con.last_insert_rowid()
    con.execute("INSERT INTO index_text (rowid, body) VALUES (?, ?)", (row_id, lexical_text.normalise(text)))
    con.execute("UPDATE setting SET value = value + 1 WHERE key IN (SELECT 'lacking_' || id FROM embedding_model)")
    _publish(con, row_id)
    return row_id


def set_fact(con: apsw.Connection, row_id: int, fact_id: int | None) -> None:
    """Let a passage's row stand for a fact that has the same text, or for the passage alone again."""
    con.execute(
        "UPDATE index_row SET fact_id = ?1, flags = CASE WHEN ?1 IS NULL THEN flags & ~?3 ELSE flags | ?3 END WHERE id = ?2",
        (fact_id, row_id, IS_FACT),
    )
    _publish(con, row_id)


def set_visibility(con: apsw.Connection, row_id: int, visibility: RowVisibility) -> None:
    """Replace the visibility of a row."""
    con.execute(
        "UPDATE index_row SET valid_at = ?, valid_to = ?, recorded_at = ?, flags = (flags & ?) | ? WHERE id = ?",
        (
            visibility.valid_at,
            visibility.valid_to,
            visibility.recorded_at,
            IS_FACT,
            flags_of(visibility),
            row_id,
        ),
    )
    _publish(con, row_id)


def delete_row(con: apsw.Connection, row_id: int, text: str) -> None:
    """Erase a row: its words, its vectors of every model, its visibility. `text` is the text it was inserted with.

    With `secure_delete` on, nothing of it is left in the index's pages once the transaction is committed and the log checkpointed.
    """
    con.execute("INSERT INTO index_text (index_text, rowid, body) VALUES ('delete', ?, ?)", (row_id, lexical_text.normalise(text)))
    con.execute("DELETE FROM index_row WHERE id = ?", (row_id,))
    _write_row(con, row_id, bytes(RECORD.size))
    for number, model in models(con):
        _erase_vector(con, number, model, row_id)


def set_vectors(con: apsw.Connection, model: ModelIdentity, vectors: Mapping[int, NDArray[np.float32]]) -> int:
    """Keep the unit vectors of rows, each of shape (dims,), and their sign codes under the model that made them.

    Gives how many of the rows had none of that model before.
    """
    if not vectors:
        return 0
    number = _register(con, model)
    write_records(con, f"embedding_{number:d}", GROUP, {row: _floats(vector) for row, vector in vectors.items()})
    codes = {row: b"\x01" + sign_code(model, vector).tobytes() for row, vector in vectors.items()}
    new = write_records(con, f"code_{number:d}", BLOCK, codes)
    con.executemany(_NOTE_CHANGE, [(number, block) for block in sorted({row // BLOCK for row in vectors})])
    con.execute("UPDATE setting SET value = value - ? WHERE key = ?", (new, lacking_key(number)))
    return new


def _erase_vector(con: apsw.Connection, number: int, model: ModelIdentity, row_id: int) -> None:
    """Erase a row's vector of a model; a model that made none for it lacks one fewer."""
    there = con.execute(f"SELECT 1 FROM code_{number:d} WHERE id = ?", (row_id // BLOCK,)).get is not None
    if there:
        there = write_records(con, f"code_{number:d}", BLOCK, {row_id: bytes(code_record_size(model))}) == 0
        con.execute(_NOTE_CHANGE, (number, row_id // BLOCK))
    if not there:
        con.execute("UPDATE setting SET value = value - 1 WHERE key = ?", (lacking_key(number),))
    elif con.execute(f"SELECT 1 FROM embedding_{number:d} WHERE id = ?", (row_id // GROUP,)).get is not None:
        write_records(con, f"embedding_{number:d}", GROUP, {row_id: bytes(4 * model.dims)})


def model_number(con: apsw.Connection, model: ModelIdentity) -> int | None:
    """The number under which the file keeps a model's vectors, or `None` if it has none of them."""
    return con.execute(
        "SELECT id FROM embedding_model WHERE model_id = ? AND revision = ? AND dims = ? AND coarse_dims = ?",
        (model.model_id, model.revision, model.dims, model.coarse_dims),
    ).get


def models(con: apsw.Connection) -> list[tuple[int, ModelIdentity]]:
    """The models whose vectors the file holds, with their numbers, oldest first."""
    found = con.execute("SELECT id, model_id, revision, dims, coarse_dims FROM embedding_model ORDER BY id")
    return [
        (number, ModelIdentity(model_id=model_id, revision=revision, dims=dims, prefix=coarse if coarse < dims else None))
        for number, model_id, revision, dims, coarse in found
    ]


def rows_without_vector(con: apsw.Connection, model: ModelIdentity, limit: int, *, before: int | None = None) -> list[int]:
    """Rows with an id below `before` that the model has made no vector for, newest first, at most `limit`."""
    number = model_number(con, model)
    found: list[int] = []
    below = _ENDLESS if before is None else before
    while len(found) < limit:
        rows = [row_id for (row_id,) in con.execute("SELECT id FROM index_row WHERE id < ? ORDER BY id DESC LIMIT ?", (below, BLOCK))]
        if not rows:
            break
        there = frozenset[int]() if number is None else rows_with_vector(con, number, model, rows[-1], rows[0])
        found += [row_id for row_id in rows if row_id not in there]
        below = rows[-1]
    return found[:limit]


def lacking(con: apsw.Connection, model: ModelIdentity) -> int:
    """How many rows the model has made no vector for; counted as they come and go, so that it costs nothing to ask.

    Only for a model that the file does not know are the rows counted now.
    """
    number = model_number(con, model)
    if number is None:
        return con.execute("SELECT count(*) FROM index_row").get
    known: int | None = con.execute("SELECT value FROM setting WHERE key = ?", (lacking_key(number),)).get
    return count_lacking(con, number, model) if known is None else known


def count_lacking(con: apsw.Connection, number: int, model: ModelIdentity) -> int:
    """The same, counted in the index itself."""
    rows: int = con.execute("SELECT count(*) FROM index_row").get
    size = code_record_size(model)
    blocks = cast("list[tuple[bytes]]", con.execute(f"SELECT rows FROM code_{number:d}").fetchall())
    return rows - sum(BLOCK - block[::size].count(0) for (block,) in blocks)


def begin_to_count(con: apsw.Connection) -> None:
    """Count for every model what it lacks, in a file that was written before that was kept."""
    for number, model in models(con):
        if con.execute("SELECT 1 FROM setting WHERE key = ?", (lacking_key(number),)).get is None:
            con.execute("INSERT INTO setting (key, value) VALUES (?, ?)", (lacking_key(number), count_lacking(con, number, model)))


def is_complete(con: apsw.Connection, model: ModelIdentity) -> bool:
    """Whether the model has made a vector for every row."""
    if model_number(con, model) is None:
        return con.execute("SELECT 1 FROM index_row LIMIT 1").get is None
    return lacking(con, model) == 0


def exact(con: apsw.Connection, model: ModelIdentity, row_ids: Sequence[int], query: NDArray[np.float32]) -> list[tuple[int, float]]:
    """The cosines of those of the rows that have a vector with a query, shape (dims,); in no promised order."""
    number = model_number(con, model)
    if number is None or not row_ids:
        return []
    vector = _floats(query)
    # Where a group has no vector for a row there are zeros, whose distance to anything is NULL.
    found = con.execute(
        "SELECT j.value, 1.0 - vec_distance_cosine(substr(e.rows, 1 + j.value % ?1 * ?2, ?2), ?3) "
        f"FROM json_each(?4) j JOIN embedding_{number:d} e ON e.id = j.value / ?1",
        (GROUP, len(vector), vector, _json_list(row_ids)),
    )
    return [(row_id, cosine) for row_id, cosine in found if cosine is not None]


def rare_postings(con: apsw.Connection, word: QuestionWord) -> Postings | None:
    """The rows in which a word stands, and how often; `None` where it stands more than 2,000 times. About 150 ns for every time."""
    last = f"{word.token}\U0010ffff" if word.prefix else word.token
    places = _numbers(
        con,
        "SELECT group_concat(doc) FROM (SELECT doc FROM index_posting WHERE term >= ? AND term <= ? LIMIT ?)",
        (word.token, last, _RARE + 1),
    )
    if places.shape[0] > _RARE:
        return None
    if word.prefix:
        places.sort()
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    return Postings(rows=places[starts], counts=np.diff(starts, append=places.shape[0]))


def estimated_frequency(con: apsw.Connection, word: QuestionWord, rows: int) -> int:
    """In how many of the index's `rows` a word stands that is not rare, judged by the newest 20,000 of them."""
    newest: int = con.execute("SELECT max(id) FROM index_row").get
    recent: int = con.execute(
        "SELECT count(*) FROM index_text WHERE index_text MATCH ? AND rowid > ?", (word.expression, newest - _SAMPLED)
    ).get
    return max(_RARE, round(rows * recent / min(rows, _SAMPLED)))


def postings(con: apsw.Connection, word: QuestionWord, beside: Sequence[QuestionWord] = ()) -> Postings:
    """The rows in which a word stands, together with one of `beside` if any are given; it counts once in each. About 75 ns each."""
    others = f"({' OR '.join(other.expression for other in beside)}) AND " if beside else ""
    query = "SELECT group_concat(rowid) FROM index_text WHERE index_text MATCH ?"
    rows = _numbers(con, query, (f"{others}{word.expression}",))
    return Postings(rows=rows, counts=np.ones_like(rows))


def _numbers(con: apsw.Connection, query: str, bindings: tuple[str | int, ...]) -> NDArray[np.int64]:
    """The whole numbers of a query that gives them as one text, which is several times faster than an object for every row."""
    found: str | None = con.execute(query, bindings).get
    return np.fromstring(found or "", dtype=np.int64, sep=",")


def flags_of(visibility: RowVisibility) -> int:
    """The flags of a row of that visibility; `IS_FACT` is not among them."""
    pairs = ((visibility.latest, LATEST), (visibility.cold, COLD), (visibility.struck, STRUCK), (visibility.asserted, ASSERTED))
    return PRESENT | sum(bit for on, bit in pairs if on)


def sign_code(model: ModelIdentity, vector: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The signs of what stands for a vector in the coarse stage, packed and padded to whole 64-bit words; shape (bytes,)."""
    code = np.zeros(code_record_size(model) - 1, dtype=np.uint8)
    packed = np.packbits(leading(model, vector) > 0, bitorder="little")
    code[: packed.shape[0]] = packed
    return code


def leading(model: ModelIdentity, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """What stands for a unit vector in the coarse stage, of unit length too; shape (coarse_dims,).

    Of a model that was trained for it (Matryoshka) its first components, renormalised; of any other the whole vector.
    """
    if model.prefix is None:
        return vector
    cut = vector[: model.prefix]
    length = np.linalg.norm(cut)
    return np.asarray(cut / length, np.float32) if length else cut


def code_record_size(model: ModelIdentity) -> int:
    """Bytes of one code in a block: a byte that says whether there is one, and the code in whole 64-bit words."""
    return 1 + (model.coarse_dims + 63) // 64 * 8


def _publish(con: apsw.Connection, row_id: int) -> None:
    """Copy a row's visibility into its block."""
    row = con.execute("SELECT valid_at, valid_to, recorded_at, tokens, asks, flags FROM index_row WHERE id = ?", (row_id,)).get
    valid_at, valid_to, recorded_at, words, asks, flags = row
    record = RECORD.pack(valid_at, OPEN_END if valid_to is None else valid_to, recorded_at, min(words, 65_535), asks, flags)
    _write_row(con, row_id, record)


def _write_row(con: apsw.Connection, row_id: int, record: bytes) -> None:
    """Put a row's record into its place in its block, and note that the block changed."""
    write_records(con, "index_block", BLOCK, {row_id: record})
    con.execute(_NOTE_CHANGE, (ROWS_LAYER, row_id // BLOCK))


def rows_with_vector(con: apsw.Connection, number: int, model: ModelIdentity, first: int = 0, last: int = _ENDLESS) -> frozenset[int]:
    """Which rows of a range, or of all blocks that it touches, have a vector."""
    found: list[int] = []
    blocks = (first // BLOCK, last // BLOCK)
    for block, content in con.execute(f"SELECT id, rows FROM code_{number:d} WHERE id BETWEEN ? AND ?", blocks):
        there = np.frombuffer(content, dtype=np.uint8)[:: code_record_size(model)]
        found += (block * BLOCK + np.flatnonzero(there)).tolist()
    return frozenset(found)


def _register(con: apsw.Connection, model: ModelIdentity) -> int:
    """The model's number, with its tables made when it is new to the file."""
    number = model_number(con, model)
    if number is not None:
        return number
    con.execute(
        "INSERT INTO embedding_model (model_id, revision, dims, coarse_dims) VALUES (?, ?, ?, ?)",
        (model.model_id, model.revision, model.dims, model.coarse_dims),
    )
    number = con.last_insert_rowid()
    make_tables(con, number)
    con.execute("INSERT OR REPLACE INTO setting (key, value) VALUES (?, (SELECT count(*) FROM index_row))", (lacking_key(number),))
    return number


def make_tables(con: apsw.Connection, number: int) -> None:
    """Make the tables of a model."""
    con.execute(f"CREATE TABLE embedding_{number:d} (id INTEGER PRIMARY KEY, rows BLOB NOT NULL)")
    con.execute(f"CREATE TABLE code_{number:d} (id INTEGER PRIMARY KEY, rows BLOB NOT NULL)")


def lacking_key(number: int) -> str:
    """The setting that counts the rows for which a model has made no vector."""
    return f"lacking_{number:d}"


def _floats(vector: NDArray[np.float32]) -> bytes:
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()


def _json_list(numbers: Sequence[int]) -> str:
    return f"[{','.join(str(int(number)) for number in numbers)}]"


def delete_all(con: apsw.Connection) -> None:
    """Erase every row. Readers in other processes notice: each block counts as changed."""
    con.execute("INSERT INTO index_text (index_text) VALUES ('delete-all')")
    con.execute("DELETE FROM index_row")
    tables = ["index_block"]
    for (number,) in con.execute("SELECT id FROM embedding_model").fetchall():
        con.execute(f"DELETE FROM embedding_{number:d}")
        tables.append(f"code_{number:d}")
    for table in tables:
        con.execute(f"UPDATE {table} SET rows = zeroblob(length(rows))")
    con.execute("UPDATE setting SET value = 0 WHERE key IN (SELECT 'lacking_' || id FROM embedding_model)")
    con.execute("UPDATE index_change SET change = change + (SELECT max(c.change) FROM index_change c WHERE c.layer = index_change.layer)")
