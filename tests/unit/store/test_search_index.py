"""The search index: what is written to it is found by its words, its vector and its time, and what is deleted is gone to the last byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from lean_memory.domain import Instant, ModelIdentity, Visibility
from lean_memory.store import lexical_text, search_index
from lean_memory.store.codes import CodeTable, IndexView
from lean_memory.store.connection import immediate, open_connection, snapshot
from lean_memory.store.old_vectors import check_vectors, drop_some, kept_models, put_aside
from lean_memory.store.search_index import BLOCK, RowVisibility
from support.statements import day, open_store

MODEL = ModelIdentity(model_id="test", revision="1", dims=96)
NOW = Visibility(now=day(2000))


@pytest.fixture
def path(root: Path) -> Path:
    with_schema = open_store(root)
    with_schema.close()
    return with_schema.path


@pytest.fixture
def con(path: Path) -> Iterator[apsw.Connection]:
    opened = open_connection(path, busy_timeout_ms=1000)
    yield opened
    opened.close()


def visible(start: float = 0, end: float | None = None, *, latest: bool = True, cold: bool = False, struck: bool = False) -> RowVisibility:
    return RowVisibility(
        valid_at=day(start), valid_to=None if end is None else day(end), recorded_at=day(start), latest=latest, cold=cold, struck=struck
    )


def insert(con: apsw.Connection, text: str, visibility: RowVisibility | None = None) -> int:
    with immediate(con):
        return search_index.insert_row(con, fact_id=None, passage_id=1, text=text, visibility=visibility or visible())


def found(con: apsw.Connection, word: str) -> list[int]:
    [asked] = lexical_text.question_words(con, word)
    return rows_of(con, asked)


def rows_of(con: apsw.Connection, word: lexical_text.QuestionWord) -> list[int]:
    """The rows of a word, by both ways of looking it up."""
    rare = search_index.rare_postings(con, word)
    assert rare is not None
    assert rare.rows.tolist() == search_index.postings(con, word).rows.tolist()
    return rare.rows.tolist()


def unit(seed: int, dims: int = MODEL.dims) -> NDArray[np.float32]:
    made = np.random.default_rng(seed).standard_normal(dims).astype(np.float32)
    return (made / np.linalg.norm(made)).astype(np.float32)


def view_of(table: CodeTable, con: apsw.Connection, model: ModelIdentity | None = MODEL) -> IndexView:
    with snapshot(con):
        return table.refresh(con, model)


def seen(view: IndexView, con: apsw.Connection, visibility: Visibility) -> list[int]:
    return np.flatnonzero(view.visible(con, visibility)).tolist()


# Words


def test_a_row_is_found_by_the_stem_of_its_words_whatever_their_case_and_width(con: apsw.Connection) -> None:
    row = insert(con, "Ｍelanie was RUNNING in the Café.")
    assert found(con, "melanie") == found(con, "runs") == found(con, "cafe") == [row]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("我以前住在长沙市。", "长沙"),
        ("我有一只猫", "猫"),
        ("猫が好きです。", "猫"),
        ("東京タワーへ行きました", "タワー"),
        ("저는 서울에서 일합니다", "서울"),
        ("ผมทำงานที่กรุงเทพ", "กรุงเทพ"),
        ("I use iPhone15手机 daily", "手机"),
        ("I use iPhone15手机 daily", "iphone15"),
        ("मैं दिल्ली में रहता हूँ", "दिल्ली"),
    ],
)
def test_words_of_scripts_without_spaces_are_found_inside_longer_runs(con: apsw.Connection, text: str, asked: str) -> None:
    row = insert(con, text)
    insert(con, "Something else altogether, 别的东西。")
    words = lexical_text.question_words(con, asked)
    assert [rows_of(con, word) for word in words] == [[row]] * len(words)


def test_how_often_a_word_stands_in_a_row_is_known(con: apsw.Connection) -> None:
    insert(con, "nothing here")
    row = insert(con, "tea and tea and more tea")
    [word] = lexical_text.question_words(con, "tea")
    postings = search_index.rare_postings(con, word)
    assert postings is not None
    assert (postings.rows.tolist(), postings.counts.tolist()) == ([row], [3])


def test_a_common_word_is_looked_up_beside_a_rarer_one_by_what_was_typed(con: apsw.Connection) -> None:
    both = insert(con, "Ana does exercises")
    insert(con, "Ana sleeps")
    insert(con, "exercise is good")
    exercise, ana = lexical_text.question_words(con, "exercising Ana")
    assert search_index.postings(con, ana, [exercise]).rows.tolist() == [both]


def test_a_word_that_stands_too_often_to_be_counted_is_judged_by_the_newest_rows(con: apsw.Connection) -> None:
    with immediate(con):
        for i in range(3000):
            search_index.insert_row(con, fact_id=None, passage_id=1, text="tea" if i % 4 else "coffee", visibility=visible())
    tea, coffee = lexical_text.question_words(con, "tea coffee")
    assert search_index.rare_postings(con, tea) is None
    assert search_index.estimated_frequency(con, tea, 3000) == search_index.postings(con, tea).rows.shape[0] == 2250
    rare = search_index.rare_postings(con, coffee)
    assert rare is not None
    assert rare.rows.shape[0] == 750


@pytest.mark.parametrize("text", ["", "\ud800", "\x00\x01", "'\" OR *", "AND", "NEAR(", "🙂🙂", "a" * 100_000, "\u202eabc\u202c"])
def test_any_text_can_be_indexed_asked_for_and_deleted(con: apsw.Connection, text: str) -> None:
    row = insert(con, text)
    for word in lexical_text.question_words(con, text):
        assert row in rows_of(con, word)
    with immediate(con):
        search_index.delete_row(con, row, text)
    assert con.execute("SELECT count(*) FROM index_posting").get == 0


def test_the_share_of_a_text_that_asks_is_counted_in_characters() -> None:
    assert lexical_text.asking_share("I moved. Really?") == pytest.approx(7 / 15)
    assert lexical_text.asking_share("你好吗？") == 1.0
    assert lexical_text.asking_share("No question.") == 0.0


# Erasing


def test_nothing_of_a_deleted_row_is_left_in_the_file(con: apsw.Connection, path: Path) -> None:
    for i in range(300):
        insert(con, f"an everyday sentence number {i} of some words")
    vector = unit(7)
    row = insert(con, "the secretword zebraquux 密码本子")
    with immediate(con):
        search_index.set_vectors(con, MODEL, {row: vector})
    for i in range(300):
        insert(con, f"another sentence number {i} of other words")
    with immediate(con):
        search_index.delete_row(con, row, "the secretword zebraquux 密码本子")
    for _ in con.execute("PRAGMA wal_checkpoint(TRUNCATE)"):
        pass
    left = path.read_bytes()
    code = search_index.sign_code(MODEL, vector).tobytes()
    assert not any(piece in left for piece in (b"secretw", b"zebraq", "密码".encode(), vector.tobytes(), code))
    con.execute("INSERT INTO index_text (index_text) VALUES ('integrity-check')")


# In memory


def test_latest_as_of_and_history_each_see_their_rows(con: apsw.Connection) -> None:
    old = insert(con, "old", visible(1, 5, latest=False))
    new = insert(con, "new", visible(5))
    cold = insert(con, "cold", visible(2, cold=True))
    ended = insert(con, "ended", visible(3, 9))
    struck = insert(con, "struck", visible(1, struck=True))
    view = view_of(CodeTable(), con, None)
    assert seen(view, con, NOW) == [new]
    assert seen(view, con, Visibility(now=day(2000), include_cold=True)) == [new, cold]
    assert seen(view, con, Visibility(now=day(8))) == [new, ended]
    assert seen(view, con, Visibility(now=day(2000), latest_only=False)) == [old, new, cold, ended, struck]
    assert seen(view, con, Visibility(now=day(2000), as_of=day(4.9), latest_only=False)) == [old, cold, ended]
    assert seen(view, con, Visibility(now=day(2000), as_of=day(5), latest_only=False)) == [new, cold, ended]


def test_a_view_stays_as_it_was_while_rows_change_and_the_next_one_follows(con: apsw.Connection) -> None:
    table = CodeTable()
    rows = [insert(con, f"row {i}") for i in range(3)]
    before = view_of(table, con)
    with immediate(con):
        search_index.set_visibility(con, rows[0], visible(0, 1, latest=False))
        search_index.delete_row(con, rows[1], "row 1")
    rows.append(insert(con, "row 3"))
    after = view_of(table, con)
    assert seen(before, con, NOW) == rows[:3]
    assert seen(after, con, NOW) == rows[2:]
    assert view_of(table, con) is after


def test_a_snapshot_from_before_a_change_gets_the_index_as_it_was_then(con: apsw.Connection, path: Path) -> None:
    table = CodeTable()
    first = insert(con, "first")
    earlier = open_connection(path, busy_timeout_ms=1000, readonly=True)
    with snapshot(earlier):
        earlier.execute("SELECT count(*) FROM index_row").fetchall()
        second = insert(con, "second")
        with immediate(con):
            search_index.set_visibility(con, first, visible(0, 1, latest=False))
            search_index.set_vectors(con, MODEL, {second: unit(1)})
        assert seen(view_of(table, con), con, NOW) == [second]
        assert seen(table.refresh(earlier, MODEL), earlier, NOW) == [first]
    assert seen(view_of(table, con), con, NOW) == [second]
    earlier.close()


def test_a_file_that_took_the_place_of_another_is_read_anew(root: Path, path: Path, con: apsw.Connection) -> None:
    table = CodeTable()
    rows = [insert(con, f"row {i}") for i in range(3)]
    assert seen(view_of(table, con), con, NOW) == rows
    other = open_store(root, "bob")
    other.close()
    there = open_connection(other.path, busy_timeout_ms=1000)
    only = [insert(there, "one", visible(0, 1, latest=False)), insert(there, "two"), insert(there, "three", visible(0, 1, latest=False))]
    assert seen(view_of(table, there), there, NOW) == [only[1]]
    there.close()


def test_the_nearest_rows_are_found_among_the_visible_ones_in_every_block(con: apsw.Connection) -> None:
    count = 2 * BLOCK + 10
    vectors = np.stack([unit(i) for i in range(count)])
    with immediate(con):
        rows = [
            search_index.insert_row(
                con, fact_id=None, passage_id=1, text="x", visibility=visible(0, None if i % 3 else 1, latest=i % 3 > 0)
            )
            for i in range(count)
        ]
        search_index.set_vectors(con, MODEL, dict(zip(rows, vectors, strict=True)))
    view = view_of(CodeTable(), con, MODEL)
    query = unit(-1 % 10_000)
    mask = view.visible(con, NOW)
    near = view.nearest(search_index.sign_code(MODEL, query), mask, 200)
    cosines = dict(search_index.exact(con, MODEL, near.tolist(), query))
    allowed = [row for i, row in enumerate(rows) if i % 3]
    truth = sorted(allowed, key=lambda row: -float(vectors[rows.index(row)] @ query))[:5]
    assert sorted(cosines, key=lambda row: -cosines[row])[:5] == truth
    assert cosines[truth[0]] == pytest.approx(float(vectors[rows.index(truth[0])] @ query), abs=1e-5)
    assert set(near.tolist()) <= set(allowed)


def test_one_visible_row_is_found_behind_five_thousand_nearer_hidden_ones(con: apsw.Connection) -> None:
    query = unit(0)
    with immediate(con):
        far = search_index.insert_row(con, fact_id=None, passage_id=1, text="old", visibility=visible(0, 5, latest=False))
        search_index.set_vectors(con, MODEL, {far: -query})
        for _ in range(5000):
            row = search_index.insert_row(con, fact_id=None, passage_id=1, text="new", visibility=visible(10))
            search_index.set_vectors(con, MODEL, {row: query})
    view = view_of(CodeTable(), con, MODEL)
    mask = view.visible(con, Visibility(now=day(2000), as_of=day(3), latest_only=False))
    assert view.nearest(search_index.sign_code(MODEL, query), mask, 400).tolist() == [far]


# Vectors of several models


def test_vectors_of_another_revision_are_kept_apart(con: apsw.Connection) -> None:
    other = ModelIdentity(model_id="test", revision="2", dims=96)
    rows = [insert(con, f"row {i}") for i in range(3)]
    with immediate(con):
        search_index.set_vectors(con, MODEL, {row: unit(row) for row in rows})
        search_index.set_vectors(con, other, {rows[0]: unit(99)})
    assert search_index.rows_without_vector(con, other, 10) == [rows[2], rows[1]]
    assert search_index.rows_without_vector(con, other, 1, before=rows[2]) == [rows[1]]
    assert (search_index.lacking(con, other), search_index.is_complete(con, other), search_index.is_complete(con, MODEL)) == (
        2,
        False,
        True,
    )
    assert search_index.rows_without_vector(con, MODEL, 10) == []
    view = view_of(CodeTable(), con, other)
    mask = view.visible(con, NOW)
    assert view.nearest(search_index.sign_code(other, unit(99)), mask, 10).tolist() == [rows[0]]
    assert view.lacks_vectors(mask)
    assert [model for _, model in search_index.models(con)] == [MODEL, other]


def test_the_code_of_a_matryoshka_model_is_made_from_its_prefix(con: apsw.Connection) -> None:
    model = ModelIdentity(model_id="nested", revision="1", dims=96, prefix=64)
    near, far = unit(1), unit(1)
    far[:64] *= -1
    rows = [insert(con, "near"), insert(con, "far")]
    with immediate(con):
        search_index.set_vectors(con, model, {rows[0]: near, rows[1]: far})
    view = view_of(CodeTable(), con, model)
    assert search_index.sign_code(model, near).shape == (8,)
    assert view.nearest(search_index.sign_code(model, near), view.visible(con, NOW), 1).tolist() == [rows[0]]
    assert dict(search_index.exact(con, model, rows, near))[rows[1]] == pytest.approx(float(far @ near), abs=1e-5)
    assert [known for _, known in search_index.models(con)] == [model]


def test_what_stands_for_a_vector_is_cut_and_of_unit_length_for_a_matryoshka_model_and_whole_for_any_other() -> None:
    whole = unit(1)
    nested = ModelIdentity(model_id="nested", revision="1", dims=96, prefix=64)
    cut = search_index.leading(nested, whole)
    assert cut.shape == (64,)
    assert float(np.linalg.norm(cut)) == pytest.approx(1.0, abs=1e-6)
    assert np.allclose(cut * np.linalg.norm(whole[:64]), whole[:64], atol=1e-6)
    assert search_index.leading(MODEL, whole) is whole
    assert not search_index.leading(nested, np.zeros(96, np.float32)).any()


def test_what_a_model_lacks_is_counted_as_rows_and_vectors_come_and_go(con: apsw.Connection) -> None:
    other = ModelIdentity(model_id="other", revision="1", dims=32)
    rows = [insert(con, f"row {i}") for i in range(3)]
    assert search_index.lacking(con, MODEL) == 3
    with immediate(con):
        assert search_index.set_vectors(con, MODEL, {row: unit(row) for row in rows[:2]}) == 2
        assert search_index.set_vectors(con, MODEL, {rows[1]: unit(5), rows[2]: unit(6)}) == 1
        search_index.set_vectors(con, other, {rows[2]: unit(7, 32)})
    rows.append(insert(con, "row 3"))
    assert (search_index.lacking(con, MODEL), search_index.lacking(con, other)) == (1, 3)
    with immediate(con):
        search_index.delete_row(con, rows[2], "row 2")
        search_index.delete_row(con, rows[0], "row 0")
    assert (search_index.lacking(con, MODEL), search_index.lacking(con, other)) == (1, 2)
    for number, model in search_index.models(con):
        assert search_index.count_lacking(con, number, model) == search_index.lacking(con, model)
    assert check_vectors(con) == []
    with immediate(con):
        search_index.delete_all(con)
    assert (search_index.is_complete(con, MODEL), search_index.is_complete(con, other)) == (True, True)


def test_a_file_from_before_counting_is_counted_when_it_is_opened(root: Path, con: apsw.Connection) -> None:
    rows = [insert(con, f"row {i}") for i in range(3)]
    with immediate(con):
        search_index.set_vectors(con, MODEL, {rows[0]: unit(0)})
        con.execute("DELETE FROM setting WHERE key LIKE 'lacking%'")
    assert search_index.lacking(con, MODEL) == 2
    open_store(root).close()
    insert(con, "row 3")
    assert con.execute("SELECT value FROM setting WHERE key = 'lacking_1'").get == 3


def test_vectors_that_are_being_dropped_are_still_reached_by_erasing_and_go_in_the_end(con: apsw.Connection) -> None:
    wide = ModelIdentity(model_id="wide", revision="1", dims=4096)
    rows = [insert(con, f"row {i}") for i in range(200)]
    with immediate(con):
        search_index.set_vectors(con, MODEL, {row: unit(row) for row in rows})
        search_index.set_vectors(con, wide, {row: unit(row, 4096) for row in rows})
        assert put_aside(con, [MODEL]) == 1
    assert kept_models(con) == [MODEL]
    steps = 0
    more = True
    while more:
        with immediate(con):
            more = drop_some(con)
            steps += 1
            search_index.delete_row(con, rows[-steps], f"row {200 - steps}")
    assert steps > 2
    assert [model for _, model in search_index.models(con)] == [MODEL]
    assert con.execute("SELECT count(*) FROM sqlite_schema WHERE name IN ('embedding_2', 'code_2')").get == 0
    assert check_vectors(con) == []


def test_a_moment_before_everything_shows_nothing(con: apsw.Connection) -> None:
    insert(con, "row", visible(10))
    view = view_of(CodeTable(), con, None)
    assert seen(view, con, Visibility(now=day(2000), as_of=Instant(day(1)), latest_only=False)) == []
    assert seen(view, con, Visibility(now=day(2000), known_at=day(1))) == []
