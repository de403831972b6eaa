"""The invariants are looked after: what breaks one is named in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory.store.migrate import builtin_migrations
from support.statements import MODEL, SteadyClock, day, likes, open_store, record, say, works_at

BREAKS = {
    "UPDATE fact SET row_id = 999 WHERE id = 1": "Facts without a row in the search index: {0}.",
    "UPDATE fact SET valid_to = valid_at - 1 WHERE id = 1": "Facts whose interval ends before it begins: {0}.",
    "UPDATE fact SET valid_to = NULL WHERE id = 1": "Facts of one-valued slots whose intervals overlap: {0}.",
    "UPDATE fact SET superseded_by = NULL WHERE id = 1": "Chains that break off: {0}.",
    "UPDATE fact SET end_reason = NULL WHERE id = 1": "Facts that ended without a reason: {0}.",
    "UPDATE fact SET is_latest = 1 WHERE id = 1": "Facts that are the latest and superseded, or never were so, at once: {0}.",
    "UPDATE fact SET span_end = 999 WHERE id = 1": "Facts whose source lies outside their episode: {0}.",
    "DELETE FROM fact_version": "Facts whose earlier versions do not join up: {0}.",
    "UPDATE passage SET row_id = 999 WHERE id = 1": "Passages without a row in the search index: 1.",
    "DELETE FROM index_row WHERE id = 3": "The search index holds the words of 3 texts for 2 rows; 0 rows have none.",
    "INSERT INTO index_row (valid_at, recorded_at, tokens, flags) VALUES (0, 0, 0, 1)": "Search rows that stand for nothing: 4.",
    "UPDATE setting SET value = 7 WHERE key = 'lacking_1'": "The file counts 7 texts without a vector of test, and it is otherwise.",
    "DELETE FROM index_row WHERE id = 2": "Vectors of test for rows that are gone: 2.",
    "DELETE FROM embedding_1": "Codes of test without their vectors: 1, 2, 3.",
}


@pytest.mark.parametrize("statement", BREAKS)
def test_a_broken_promise_is_named(root: Path, statement: str) -> None:
    store = open_store(root)
    first = say(store, works_at("Acme"), at=day(1)).fact_ids[0]
    say(store, works_at("Globex"), at=day(2))
    say(store, likes("tea"), at=day(2))
    assert store.check() == []
    with store.write() as tx:
        tx.connection.execute(statement)
    assert BREAKS[statement].format(first) in store.check()
    store.close()


def test_a_status_counts_what_is_there(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    say(store, works_at("Globex"), at=day(2))
    record(store, "unfinished", day(3))
    status = store.status()
    assert (status.facts, status.latest, status.episodes, status.unfinished, status.entities) == (2, 1, 3, 1, 3)
    assert (status.name, status.writable, status.problems, status.schema_version) == ("ana", True, (), builtin_migrations()[-1].version)
    assert status.bytes == sum(f.stat().st_size for f in root.iterdir())
    assert Path(status.path).parent == root
    with store.read() as tx:
        assert list(tx.texts_without_vector(MODEL, 10)[0].values()) == ["unfinished"]
    store.close()


def test_a_clock_that_was_far_ahead_is_told_of_until_its_time_has_come(root: Path) -> None:
    clock = SteadyClock(day(1))
    store = open_store(root, clock=clock)
    clock.now = day(27_000)
    record(store, "x", day(1))
    clock.now = day(2)
    record(store, "y", day(1))
    [problem] = store.status().problems
    assert "while the clock stood at 2097-10-16" in problem
    clock.now = day(26_999.5)
    assert store.status().problems == ()
    store.close()
