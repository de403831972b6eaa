"""What is forgotten is in no file of the namespace, byte for byte, and is not learned again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from lean_memory.domain import Act, EndReason, Polarity, Span, Visibility
from lean_memory.errors import BusyError, InvalidInputError, NotFoundError, StorageError
from lean_memory.settings import Settings
from lean_memory.store import purge as purging
from lean_memory.store.connection import open_connection
from lean_memory.store.namespace_store import NamespaceStore
from lean_memory.store.namespaces import path_of
from lean_memory.store.tombstones import Claim
from support.statements import MODEL, SteadyClock, current, day, learn, likes, objects, open_store, record, say, within, works_at

OPEN_FILES = Path("/proc/self/fd")
ALL = Visibility(now=day(2000), latest_only=False)


@pytest.fixture
def store(root: Path) -> Iterator[NamespaceStore]:
    opened = open_store(root)
    yield opened
    assert opened.check() == []
    opened.close()


def traces(root: Path, *words: str) -> dict[str, list[str]]:
    """Files of the data root that hold one of the words, in any case."""
    found: dict[str, list[str]] = {}
    for word in words:
        for file in root.iterdir():
            content = file.read_bytes()
            if word.encode() in content or word.casefold().encode() in content.lower():
                found.setdefault(word, []).append(file.name)
    return found


def fill(store: NamespaceStore, count: int, first: int = 0) -> None:
    """Other facts around, so that pages split and cells move."""
    for n in range(first, first + count):
        say(store, likes(f"thing {n * 7919 % 1000}", f"I like thing {n * 7919 % 1000} of number {n}."), at=day(1))


@pytest.mark.parametrize("around", [0, 400])
def test_a_fact_leaves_no_byte_in_any_file(root: Path, store: NamespaceStore, around: int) -> None:
    fill(store, around)
    say(store, works_at("Acme"), at=day(1))
    [secret] = say(store, works_at("Zyxwvelting", "I was working at Zyxwvelting with quorpled colleagues."), at=day(2)).fact_ids
    fill(store, around, first=around)
    say(store, works_at("Globex"), at=day(3))
    result = store.forget(fact_id=secret)
    assert (result.facts, result.episodes, result.passages, result.entities) == (1, 1, 1, 1)
    assert result.tombstones == 2
    # The words as said, and the forms under which the index keeps them.
    assert traces(root, "Zyxwvelting", "zyxwvelt", "zyxwv", "quorpled", "quorpl") == {}
    with store.read() as snapshot:
        held = snapshot.connection.execute("SELECT count(*) FROM index_vocabulary WHERE term GLOB 'zyx*' OR term GLOB 'quor*'").get
    assert held == 0
    with pytest.raises(NotFoundError):
        store.fact(secret)


def test_every_fact_can_be_forgotten_wherever_its_words_lie_in_the_index(root: Path, store: NamespaceStore) -> None:
    # With a letter that no id has: an id must not pass for a trace.
    ids = [say(store, likes(f"wu{n:04d}x", f"I like wu{n:04d}x."), at=day(1)).fact_ids[0] for n in range(600)]
    for n in (0, 1, 299, 300, 301, 598, 599):
        store.forget(fact_id=ids[n])
        assert traces(root, f"wu{n:04d}x") == {}
    assert len(current(store)) == 593


def test_what_came_before_a_forgotten_fact_keeps_its_interval(store: NamespaceStore) -> None:
    [acme] = say(store, works_at("Acme"), at=day(1)).fact_ids
    [globex] = say(store, works_at("Globex"), at=day(5)).fact_ids
    store.forget(fact_id=globex)
    before = store.fact(acme)
    assert (before.valid_to, before.is_latest, before.superseded_by, before.end_reason) == (day(5), False, None, EndReason.FORGOTTEN)
    assert current(store) == []
    say(store, works_at("Initech"), at=day(9))
    assert objects(store.facts(visibility=Visibility(now=day(1), as_of=day(7)), modalities=None)) == []
    assert store.fact(acme).end_reason is EndReason.FORGOTTEN


def test_what_was_closed_by_a_forgotten_episode_stays_closed(store: NamespaceStore) -> None:
    [acme] = say(store, works_at("Acme"), at=day(1)).fact_ids
    left = record(store, "I quit my job at the place.", day(4))
    with store.write() as tx:
        learn(tx, left, [works_at("", "I quit my job at the place.", act=Act.RETRACT, object_type=None)])
    store.forget(episode_id=left.uid)
    say(store, works_at("Initech"), at=day(9))
    assert (store.fact(acme).valid_to, store.fact(acme).end_reason) == (day(4), EndReason.FORGOTTEN)


@pytest.mark.parametrize("name", ["", " ", "\t\n"])
def test_an_entity_without_a_name_is_refused_and_retractions_that_name_nothing_stay(store: NamespaceStore, name: str) -> None:
    [acme] = say(store, works_at("Acme"), at=day(1)).fact_ids
    left = "I quit my job at the place."
    say(store, works_at("", left, act=Act.RETRACT, object_type=None), at=day(4))
    for use in (store.forget, store.would_forget):
        with pytest.raises(InvalidInputError, match="is empty"):
            use(entity=name)
    assert (store.fact(acme).valid_to, store.fact(acme).end_reason) == (day(4), EndReason.RETRACTED)
    with store.read() as snapshot:
        assert snapshot.connection.execute("SELECT count(*) FROM evidence").get == 1


def test_confirmations_and_retractions_of_a_forgotten_fact_go_with_their_sentences(root: Path, store: NamespaceStore) -> None:
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    say(store, works_at("ZYXWV", "As I said, I do work at ZYXWV."), at=day(2))
    text = "I run a lot. I no longer work at Zyxwv, you know. It rains."
    say(store, within(text, works_at("Zyxwv", "I no longer work at Zyxwv, you know.", act=Act.RETRACT)), at=day(3), text=text)
    result = store.forget(fact_id=fact)
    assert result.episodes == 3
    assert traces(root, "zyxwv") == {}
    with store.read() as snapshot:
        assert snapshot.connection.execute("SELECT text FROM episode").get == "I run a lot. It rains."


def test_the_same_sentence_goes_also_where_nothing_was_made_of_it(root: Path, store: NamespaceStore) -> None:
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    record(store, "They noted: i work  at zyxwv. Thanks.", day(2))
    store.forget(fact_id=fact)
    assert traces(root, "zyxwv") == {}
    [episode] = store.unfinished()
    assert episode.text == "They noted: Thanks."


def test_the_rest_of_the_episode_keeps_its_facts_and_places_and_waits_for_its_vector(root: Path, store: NamespaceStore) -> None:
    text = "I like tea. I work at Zyxwv. I like jazz."
    parts = [within(text, likes("tea")), within(text, works_at("Zyxwv")), within(text, likes("jazz"))]
    say(store, *parts, at=day(1), text=text)
    ids = {fact.object: fact.id for fact in current(store)}
    result = store.forget(fact_id=ids["Zyxwv"])
    assert (result.facts, result.episodes, result.passages) == (1, 1, 1)
    assert traces(root, "zyxwv") == {}
    assert sorted(objects(current(store))) == ["jazz", "tea"]
    assert store.history(ids["jazz"])[0].source_text == "I like jazz."
    with store.read() as tx:
        assert list(tx.texts_without_vector(MODEL, 10)[0].values()) == ["I like tea. I like jazz."]


def test_later_passages_of_the_episode_move_and_keep_their_rows(store: NamespaceStore) -> None:
    text = "I work at Zyxwv. I like jazz."
    passages = [Span(start=0, end=16), Span(start=17, end=29)]
    secret, jazz = say(
        store, within(text, works_at("Zyxwv")), within(text, likes("jazz")), at=day(1), text=text, passages=passages
    ).fact_ids
    store.forget(fact_id=secret)
    assert store.history(jazz)[0].source_text == "I like jazz."
    with store.read() as tx:
        assert tx.texts_without_vector(MODEL, 10) == ({}, None)


def test_another_fact_of_the_same_sentence_stays_if_it_does_not_show_what_was_forgotten(root: Path, store: NamespaceStore) -> None:
    text = "I work at Zyxwv and I like tea."
    both = [works_at("Zyxwv", "I work at Zyxwv"), likes("tea", "I like tea")]
    secret, tea = say(store, *(within(text, c, text) for c in both), at=day(1), text=text).fact_ids
    store.forget(fact_id=secret)
    assert traces(root, "zyxwv") == {}
    assert objects(current(store)) == ["tea"]
    assert store.history(tea)[0].fact.fact_text == "I like tea"


def test_another_fact_whose_text_shows_what_was_forgotten_goes_unless_it_was_said_elsewhere(root: Path, store: NamespaceStore) -> None:
    text = "I work at Zyxwv and I like tea."
    both = [works_at("Zyxwv", text), likes("tea", text), likes("jazz", text)]
    secret, _, jazz = say(store, *both, at=day(1), text=text).fact_ids
    say(store, likes("jazz"), at=day(2))
    result = store.forget(fact_id=secret)
    assert result.facts == 2
    assert traces(root, "zyxwv") == {}
    [kept] = current(store)
    assert (kept.id, kept.fact_text) == (jazz, "I like jazz.")
    assert store.history(jazz)[0].source_text == "I like jazz."


def test_the_opposite_of_what_was_forgotten_stays(store: NamespaceStore) -> None:
    [liked] = say(store, likes("opera"), at=day(1)).fact_ids
    text = "I dislike opera."
    dislikes = likes("opera", text, predicate="dislikes")
    say(store, dislikes, likes("opera", text, act=Act.RETRACT), at=day(2))
    store.forget(fact_id=liked)
    assert [f.predicate for f in current(store)] == ["dislikes"]


def test_an_episode_goes_whole(root: Path, store: NamespaceStore) -> None:
    text = "I work at Zyxwv. Blorptal weather today. I like quorpled tea."
    applied = say(store, within(text, works_at("Zyxwv")), within(text, likes("quorpled tea")), at=day(1), text=text)
    uid = store.fact(applied.fact_ids[0]).episode_id
    result = store.forget(episode_id=uid)
    assert (result.facts, result.episodes) == (2, 1)
    assert traces(root, "zyxwv", "blorptal", "quorpl") == {}
    assert (store.status().episodes, store.status().facts) == (0, 0)


def test_a_passage_can_be_forgotten_by_the_id_under_which_it_was_found(root: Path, store: NamespaceStore) -> None:
    text = "Blorptal weather today. I like tea."
    passages = [Span(start=0, end=23), Span(start=24, end=35)]
    say(store, within(text, likes("tea")), at=day(1), text=text, passages=passages)
    with store.read() as snapshot:
        hit = snapshot.hydrate([1])[1].fact
    store.forget(fact_id=hit.id)
    assert traces(root, "blorptal") == {}
    assert objects(current(store)) == ["tea"]


def test_an_entity_goes_with_every_statement_and_sentence_that_names_it(root: Path, store: NamespaceStore) -> None:
    say(store, works_at("Zyxwv Corp"), at=day(1))
    say(store, works_at("Globex"), at=day(2))
    text = "I walked past ZYXWV CORP yesterday. It rained."
    record(store, text, day(3))
    friend = works_at("Initech", "Zyxwv Corp owns Initech.", subject="Zyxwv Corp", predicate="owns")
    say(store, friend, at=day(4))
    result = store.forget(entity="zyxwv  corp")
    assert result.facts == 2
    assert traces(root, "zyxwv") == {}
    assert objects(current(store)) == ["Globex"]
    [episode] = store.unfinished()
    assert episode.text == "It rained."
    with store.read() as snapshot:
        assert [r[0] for r in snapshot.connection.execute("SELECT name FROM entity ORDER BY id")] == ["user", "Globex"]


def test_text_in_other_scripts_is_forgotten_too(root: Path, store: NamespaceStore) -> None:
    [fact] = say(store, works_at("秘密株式会社", "私は秘密株式会社で働いています。"), at=day(1)).fact_ids
    say(store, works_at("Ünplömeß", "Ich arbeite bei Ünplömeß in Köln."), at=day(2))
    store.forget(fact_id=fact)
    assert traces(root, "秘密", "株式") == {}
    store.forget(entity="ÜNPLÖMESS")
    assert traces(root, "Ünplömeß", "ünplömess", "unplom") == {}


def test_what_was_forgotten_is_known_by_its_digest_alone(root: Path, store: NamespaceStore) -> None:
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    said = Claim(sentence="I work at Zyxwv.")
    with store.write() as tx:
        assert not tx.is_tombstoned(said)
    store.forget(fact_id=fact)
    with store.write() as tx:
        assert tx.is_tombstoned(Claim(sentence="i work  at ZYXWV!"))
        employer = Claim(sentence="Zyxwv is my employer.", subject="User", predicate="works_at", value="zyxwv")
        assert tx.is_tombstoned(employer)
        assert not tx.is_tombstoned(replace(employer, sentence="Zyxwv is not my employer.", polarity=Polarity.NEGATIVE))
        assert not tx.is_tombstoned(replace(employer, sentence="I work at Acme.", value="Acme"))
        tx.lift_tombstone(said)
        assert not tx.is_tombstoned(said)
    other = open_store(root, "other")
    [twin] = say(other, works_at("Zyxwv"), at=day(1)).fact_ids
    other.forget(fact_id=twin)
    with other.read() as mine, store.read() as theirs:
        digests = [{r[0] for r in s.connection.execute("SELECT digest FROM tombstone")} for s in (mine, theirs)]
    assert not digests[0] & digests[1]
    other.close()


def test_maintenance_keeps_nothing_of_it(root: Path, store: NamespaceStore) -> None:
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    say(store, likes("tea"), at=day(1))
    with store.write() as tx:
        run = tx.connection.execute
        run("INSERT INTO run (uid, holder, started_at, heartbeat_at, state, report) VALUES ('r', 'h', 1, 1, 'done', 'I work at Zyxwv.')")
        for uid, evidence in (("p1", f'["{fact}"]'), ("p2", '{"text": "I work at Zyxwv."}'), ("p3", '{"text": "tea"}')):
            run(
                "INSERT INTO proposal (uid, kind, state, revision, evidence, created_at) VALUES (?, 'merge', 'pending', 1, ?, 1)",
                (uid, evidence),
            )
        run("INSERT INTO journal (at, verb, target, before) VALUES (1, 'demote', ?, 'hot'), (1, 'demote', 'x', 'hot')", (fact,))
        run("INSERT INTO access (fact_id, served, last_at) VALUES (1, 3, 1), (2, 3, 1)")
    store.forget(fact_id=fact)
    assert traces(root, "zyxwv", fact) == {}
    with store.read() as snapshot:
        count = snapshot.connection.execute(
            "SELECT (SELECT count(*) FROM proposal), (SELECT count(*) FROM journal), (SELECT count(*) FROM access)"
        )
        assert count.fetchone() == (1, 1, 1)


def test_a_summary_of_it_goes_too(root: Path, store: NamespaceStore) -> None:
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    [summary] = say(store, likes("work", "Zyxwv is where the user likes to work."), at=day(2)).fact_ids
    with store.write() as tx:
        tx.connection.execute("UPDATE fact SET record_kind = 'summary' WHERE uid = ?", (summary,))
        tx.connection.execute(
            "INSERT INTO derivation (fact_id, source_id) SELECT s.id, f.id FROM fact s, fact f WHERE s.uid = ? AND f.uid = ?",
            (summary, fact),
        )
    assert store.forget(fact_id=fact).facts == 2
    assert traces(root, "zyxwv") == {}


def test_backups_that_may_hold_it_are_named(root: Path, store: NamespaceStore) -> None:
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    backup = root / "ana.memory.db.backup-v1-20260101T000000-ab"
    backup.write_bytes(b"")
    log = root / "ana.memory.db-wal.orphan-cdef"
    log.write_bytes(b"")
    assert store.forget(fact_id=fact).backups_holding_copies == (str(backup), str(log))


def test_a_reader_that_goes_on_reading_is_waited_for_and_then_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lean_memory.store.purge._PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr("lean_memory.store.purge._ATTEMPT_WAITS_MS", 20)
    store = open_store(root)
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    with store.read():
        with pytest.raises(BusyError, match="It was erased, and no search finds it"):
            store.forget(fact_id=fact)
        assert current(store) == []
        assert "may hold copies" in store.status().problems[0]
    store.close()
    store = open_store(root)
    assert store.status().problems == ()
    assert traces(root, "zyxwv") == {}
    store.close()


def test_exactly_what_is_there_can_be_forgotten(store: NamespaceStore) -> None:
    for wrong in ({"fact_id": "nothing"}, {"episode_id": "nothing"}, {"entity": "Nobody"}, {"fact_id": "x.1"}):
        with pytest.raises(NotFoundError):
            store.forget(**wrong)
    with pytest.raises(InvalidInputError):
        store.forget()


def open_files() -> set[str]:
    """Names of the files that this process has open."""
    found: set[str] = set()
    for handle in OPEN_FILES.iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add(str(handle.readlink()))
    return found


def fail_once(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let the next emptying of the log fail."""
    works = purging._try_to_empty  # pyright: ignore[reportPrivateUsage]

    def fails(con: apsw.Connection) -> bool:
        monkeypatch.setattr(purging, "_try_to_empty", works)
        raise error

    monkeypatch.setattr(purging, "_try_to_empty", fails)


@pytest.mark.parametrize(
    ("error", "raised", "reason"),
    [
        (apsw.FullError("database or disk is full"), StorageError, "the disk is full"),
        (apsw.BusyError("database is locked"), BusyError, "another program kept it locked"),
        (apsw.IOError("disk I/O error"), StorageError, "disk I/O error"),
    ],
)
def test_what_fails_after_it_was_erased_says_that_it_was(
    root: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, raised: type[StorageError], reason: str
) -> None:
    store = open_store(root)
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    fail_once(monkeypatch, error)
    with pytest.raises(raised, match=f"It was erased, and no search finds it; .*{reason}.*when this namespace is opened again"):
        store.forget(fact_id=fact)
    assert current(store) == []
    assert "may hold copies" in store.status().problems[0]
    store.close()
    fail_once(monkeypatch, error)
    store = open_store(root)
    assert "may hold copies" in store.status().problems[0]
    store.close()
    store = open_store(root)
    assert store.status().problems == ()
    assert traces(root, "zyxwv") == {}
    store.close()


def test_what_fails_after_a_clear_says_that_it_was_erased(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(root)
    say(store, works_at("Zyxwv"), at=day(1))
    fail_once(monkeypatch, apsw.FullError("database or disk is full"))
    with pytest.raises(StorageError, match="It was erased, and no search finds it"):
        NamespaceStore.clear(root, "ana", settings=Settings(root=root), clock=SteadyClock(day(2)))
    assert current(store) == []
    store.close()


def test_a_purge_that_is_made_up_for_rewrites_the_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(root)
    fill(store, 300)
    [fact] = say(store, works_at("Zyxwvelting"), at=day(1)).fact_ids
    fail_once(monkeypatch, apsw.FullError("database or disk is full"))
    with pytest.raises(StorageError):
        store.forget(fact_id=fact)
    with store.write() as tx:
        tx.connection.execute("PRAGMA secure_delete = OFF")
        tx.connection.execute("CREATE TABLE left_over (text TEXT)")
        tx.connection.execute("INSERT INTO left_over VALUES ('Zyxwvelting stays in a page that nobody uses')")
        tx.connection.execute("DROP TABLE left_over")
    store.close()
    assert traces(root, "zyxwvelting") != {}
    store = open_store(root)
    assert traces(root, "zyxwvelting") == {}
    assert store.status().problems == ()
    assert store.check() == []
    store.close()


def test_a_file_in_which_a_trace_stays_is_not_taken_for_purged(root: Path) -> None:
    store = open_store(root)
    with store.write() as tx:
        tx.connection.execute("CREATE TABLE stranger (text TEXT)")
        tx.connection.execute("INSERT INTO stranger VALUES ('I work at Zyxwvelting.')")
    [fact] = say(store, works_at("Zyxwvelting"), at=day(1)).fact_ids
    store.forget(fact_id=fact)
    assert "may hold copies" in store.status().problems[0]
    store.close()


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="only Linux lists the files that a process has open")
@pytest.mark.parametrize(("in_memory", "files"), [(0, 1), (1 << 30, 0)])
def test_a_rewrite_puts_nothing_down_outside_the_data_root(root: Path, monkeypatch: pytest.MonkeyPatch, in_memory: int, files: int) -> None:
    monkeypatch.setattr(purging, "_REWRITTEN_IN_MEMORY", in_memory)
    store = open_store(root)
    with store.write() as tx:
        tx.connection.execute("CREATE TABLE ballast (content BLOB)")
        tx.connection.executemany("INSERT INTO ballast VALUES (randomblob(?))", [(1 << 20,)] * 24)
    store.close()
    con = open_connection(path_of(root, "ana"), busy_timeout_ms=1_000)
    before = open_files()
    opened: set[str] = set()

    def look() -> bool:
        opened.update(open_files() - before)
        return False

    con.set_progress_handler(look, 20)
    purging.purge(purging.alone(con), path_of(root, "ana"), rewrite=True)
    con.close()
    temporary = [Path(name) for name in opened if "(deleted)" in name or "etilqs" in name]
    assert len(temporary) == files
    assert {name.parent for name in temporary} <= {root}
    assert [f.name for f in root.iterdir()] == ["ana.memory.db"]
