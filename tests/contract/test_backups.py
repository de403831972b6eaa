"""Backups: of one moment, whole or refused, and restored without what was forgotten since."""

from __future__ import annotations

import json
import random
from pathlib import Path

import apsw
import pytest

from lean_memory import Memory
from lean_memory.domain import Instant, Source, Span
from lean_memory.errors import DamagedFileError, InvalidInputError, NotFoundError, StorageError
from lean_memory.settings import Settings
from lean_memory.store.migrate import builtin_migrations
from lean_memory.store.namespace_store import NamespaceStore, NewEpisode
from support.embedding import WordEmbedder
from support.statements import day


def told(memory: Memory, namespace: str = "ana") -> list[str]:
    return sorted(fact.fact_text for fact in memory.facts(namespace))


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.add("ana", "I work at Acme Corp.", t_ref=day(1))
    memory.add("ana", "I now work at Globex.", t_ref=day(2))
    memory.add("ana", "I like pears. My cat is called Zebulon.", t_ref=day(3))
    memory.add("bob", "I live in Porto.", t_ref=day(3))
    return memory


def test_a_backup_holds_every_namespace_and_says_so(filled: Memory) -> None:
    backup = filled.backup()
    assert [(one.name, one.episodes) for one in backup.namespaces] == [("ana", 3), ("bob", 1)]
    assert backup.path.parent == filled.root / "backups"
    assert filled.backups() == [backup]
    assert all((backup.path / one.file).stat().st_mode & 0o077 == 0 for one in backup.namespaces)


@pytest.mark.parametrize("damage", ["cut", "emptied", "overwritten at its beginning"])
def test_a_memory_that_cannot_be_read_is_named_and_not_passed_over(filled: Memory, damage: str) -> None:
    before = told(filled)
    good, path = filled.backup(), filled.root / "ana.memory.db"
    filled.close()
    whole = path.read_bytes()
    path.write_bytes({"cut": whole[: len(whole) // 2], "emptied": b""}.get(damage, b"x" * 200 + whole[200:]))
    with Memory(root=filled.root) as memory:
        backup = memory.backup()
        assert ([one.name for one in backup.namespaces], len(backup.left_out)) == (["bob"], 1)
        assert backup.left_out[0].startswith("ana: ")
        assert backup.left_out == tuple(f"{one.name}: {' '.join(one.problems)}" for one in memory.status() if one.problems)
        assert memory.backups()[0].left_out == backup.left_out
        memory.clear("bob")
        with pytest.raises(StorageError, match=r"No backup was made\. ana: "):
            memory.backup()
        memory.restore(good.path, namespace="ana")
        assert told(memory) == before


def test_what_was_said_and_changed_since_is_undone_and_kept_aside(filled: Memory) -> None:
    before = filled.facts("ana", include_history=True)
    backup = filled.backup()
    filled.add("ana", "I now work at Initech.", t_ref=day(4))
    filled.add("bob", "I live in Lisbon.", t_ref=day(4))
    since = told(filled)
    (restored,) = filled.restore(backup.path, namespace="ana")
    assert filled.facts("ana", include_history=True) == before
    assert filled.check("ana") == []
    assert told(filled, "bob") == ["I live in Lisbon."]
    assert restored.kept_aside is not None
    filled.restore(restored.kept_aside)
    assert told(filled) == since


def test_a_restored_memory_goes_on_and_searches_what_it_holds(filled: Memory) -> None:
    backup = filled.backup()
    for number in range(30):
        filled.add("ana", f"Locker {number} holds badge {number * 7}.", t_ref=day(4))
    assert filled.search("ana", "locker 21")
    filled.restore(backup.path.name)
    assert not any("Locker" in hit.fact.fact_text for hit in filled.search("ana", "locker 21", k=20))
    for number in range(30):
        filled.add("ana", f"Drawer {number} holds badge {number * 7}.", t_ref=day(5))
    assert filled.search("ana", "drawer 21 badge 147")[0].fact.fact_text == "Drawer 21 holds badge 147."
    assert filled.check("ana") == []


def test_another_memory_that_has_the_file_open_sees_what_was_restored(filled: Memory) -> None:
    backup = filled.backup()
    before = told(filled)
    with Memory(root=filled.root, embedder=WordEmbedder()) as other:
        other.add("ana", "I now work at Initech.", t_ref=day(4))
        filled.restore(backup.path)
        assert told(other) == before
        other.add("ana", "I now work at Hooli.", t_ref=day(5))
        assert told(filled) == told(other)
        assert "I now work at Hooli." in told(filled)


def test_a_namespace_that_is_gone_comes_back(filled: Memory) -> None:
    before = told(filled)
    backup = filled.backup()
    filled.clear("ana")
    (restored, _) = filled.restore(backup.path)
    assert told(filled) == before
    assert restored.kept_aside is None


def test_what_was_forgotten_since_does_not_come_back(filled: Memory) -> None:
    filled.add("ana", "Is the zebrafish safe?", t_ref=day(3))
    question = filled.add("ana", "Where did the quokka go?", t_ref=day(3)).episode_id
    backup = filled.backup()
    filled.forget("ana", fact_id=next(fact.id for fact in filled.facts("ana") if "pears" in fact.fact_text))
    filled.forget("ana", episode_id=question)
    filled.forget("ana", fact_id=next(hit.fact.id for hit in filled.search("ana", "zebrafish") if "zebrafish" in hit.source))
    assert any(str(backup.path) in name for name in filled.forget("ana", entity="Zebulon").backups_holding_copies)
    (restored,) = filled.restore(backup.path, namespace="ana")
    assert restored.scrubbed >= 2
    assert told(filled) == ["I now work at Globex."]
    assert filled.add("ana", "I like pears.", t_ref=day(6)).withheld == 1
    assert filled.check("ana") == []
    filled.close()
    stored = (filled.root / "ana.memory.db").read_bytes()
    assert not any(word in stored.lower() for word in (b"pears", b"zebrafish", b"quokka", b"zebulon"))


def test_what_was_forgotten_can_be_taken_out_of_the_backups_too(filled: Memory) -> None:
    first, second = filled.backup(), filled.backup()
    filled.forget("ana", fact_id=next(fact.id for fact in filled.facts("ana") if "pears" in fact.fact_text))
    clean = filled.backup()
    done = filled.scrub_backups("ana")
    assert (len(done.backups), done.left, done.holding_copies) == (2, (), ())
    assert not any(backup.path.exists() for backup in (first, second))
    assert [backup.problem for backup in filled.backups()] == ["", "", ""]
    assert clean.path in [backup.path for backup in filled.backups()]
    assert not any(b"pears" in path.read_bytes() for path in (filled.root / "backups").rglob("*.db"))
    assert {one.name for one in filled.restore(done.backups[0])} == {"ana", "bob"}
    assert filled.scrub_backups("ana").backups == ()


def test_what_other_backups_know_of_forgetting_counts_where_the_file_is_ruined(filled: Memory) -> None:
    backup = filled.backup()
    filled.forget("ana", fact_id=next(fact.id for fact in filled.facts("ana") if "pears" in fact.fact_text))
    filled.backup()
    filled.close()
    (filled.root / "ana.memory.db").write_bytes(b"not a database any more" * 1000)
    with Memory(root=filled.root, embedder=WordEmbedder()) as memory:
        (restored,) = memory.restore(backup.path, namespace="ana")
        assert "I like pears." not in told(memory)
        assert "I now work at Globex." in told(memory)
        assert len(restored.notes) == 2
        assert restored.kept_aside is not None
        assert (restored.kept_aside / "ana.memory.db").read_bytes().startswith(b"not a database")


@pytest.mark.parametrize("cut", [0, 50, 4096, -4096, -1])
def test_a_copy_that_was_cut_off_is_refused_with_a_sentence(filled: Memory, cut: int) -> None:
    backup = filled.backup()
    file = backup.path / backup.namespaces[0].file
    whole = file.read_bytes()
    file.write_bytes(whole[:cut] if cut >= 0 else whole[: len(whole) + cut])
    before = told(filled)
    for given in (backup.path, file):
        with pytest.raises(StorageError, match=r"not whole|not a file of Lean Memory|damaged"):
            filled.restore(given)
    assert told(filled) == before
    assert filled.namespaces() == ["ana", "bob"]


def test_one_changed_bit_anywhere_is_noticed(filled: Memory) -> None:
    backup = filled.backup()
    chance = random.Random(10)
    before = told(filled)
    for _ in range(25):
        file = backup.path / chance.choice([*(one.file for one in backup.namespaces), "manifest.json"])
        whole = bytearray(file.read_bytes())
        at = chance.randrange(len(whole))
        whole[at] ^= 1 << chance.randrange(8)
        if file.name == "manifest.json" and _is_same(whole, file.read_bytes()):
            continue
        kept = file.read_bytes()
        file.write_bytes(whole)
        with pytest.raises(DamagedFileError, match=r"damaged|lacks"):
            filled.restore(backup.path)
        file.write_bytes(kept)
    assert told(filled) == before
    assert len(filled.restore(backup.path)) == 2


def _is_same(one: bytes | bytearray, other: bytes) -> bool:
    """A bit of white space between two values of a manifest tells nothing."""
    try:
        return json.loads(one) == json.loads(other)
    except ValueError:
        return False


def test_what_is_no_backup_is_refused_and_nothing_is_made(filled: Memory, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.db"
    con = apsw.Connection(str(foreign))
    con.execute("CREATE TABLE other (x)")
    con.close()
    with pytest.raises(StorageError, match="not a file of Lean Memory"):
        filled.restore(foreign)
    with pytest.raises(NotFoundError, match="no backup"):
        filled.restore(tmp_path / "nowhere")
    with pytest.raises(InvalidInputError, match="the memory itself"):
        filled.restore(filled.root / "ana.memory.db")
    with pytest.raises(StorageError, match="not an empty folder"):
        filled.backup(filled.root)
    with Memory(root=tmp_path / "empty") as empty, pytest.raises(NotFoundError, match="no namespace"):
        empty.backup()


def test_a_backup_in_a_folder_of_ones_own_comes_back_in_another_memory_whole_or_in_part(filled: Memory, tmp_path: Path) -> None:
    backup = filled.backup(tmp_path / "mine")
    assert backup.path == tmp_path / "mine"
    with Memory(root=tmp_path / "other", embedder=WordEmbedder()) as other:
        assert {one.name for one in other.restore(tmp_path / "mine")} == {"ana", "bob"}
        assert told(other) == told(filled)
        (single,) = other.restore(tmp_path / "mine" / "bob.memory.db")
        assert (single.name, single.facts) == ("bob", 1)


def test_a_copy_of_an_older_version_is_brought_up_to_date_and_stays_as_it_is(root: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    store = NamespaceStore.open(old, "ana", settings=Settings(root=old), clock=lambda: Instant(day(1)), migrations=builtin_migrations()[:1])
    text = "I live in Porto."
    store.record_episode(
        NewEpisode(text=text, source=Source.USER, t_ref=Instant(day(1)), tz="UTC", passages=[Span(start=0, end=len(text))])
    )
    store.close()
    copy = (old / "ana.memory.db").rename(tmp_path / "ana-of-then.db")
    before = copy.read_bytes()
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        memory.restore(copy)
        assert memory.status("ana")[0].schema_version == builtin_migrations()[-1].version
        assert memory.search("ana", "Porto")[0].source == text
        assert memory.check("ana") == []
    assert copy.read_bytes() == before


def test_one_file_of_a_backup_is_verified_as_it_is_restored(filled: Memory) -> None:
    backup = filled.backup()
    held = next(one for one in backup.namespaces if one.name == "bob")
    file = backup.path / held.file
    assert filled.verify_backup(file).namespaces == (held,)
    file.write_bytes(file.read_bytes()[:5_000])
    assert filled.verify_backup(file).problem
    assert "is the memory itself" in filled.verify_backup(filled.root / held.file).problem


def test_a_manifest_nested_without_end_is_damaged_and_the_other_backups_are_used(filled: Memory) -> None:
    backup = filled.backup()
    deep = filled.root / "backups" / "x"
    deep.mkdir()
    (deep / "manifest.json").write_text("[" * 200_000, encoding="utf-8")
    assert {one.path: bool(one.problem) for one in filled.backups()} == {backup.path: False, deep: True}
    assert filled.verify_backup(deep).problem
    assert filled.drop_old_backups() == []
    assert filled.scrub_backups("ana").left == ()


@pytest.mark.parametrize(
    "written",
    [
        b"nightly = 5",
        b'[nightly]\ndaily = "7"',
        b"[nightly]\ndaily = 1.5",
        b"[nightly]\ndaily = true",
        b"[nightly]\ndaily = -1",
        b"\xff\xfe",
    ],
)
def test_rules_of_keeping_that_cannot_be_understood_remove_nothing(filled: Memory, written: bytes) -> None:
    backup = filled.backup(occasion="nightly")
    (filled.root / "backups" / "keep.toml").write_bytes(written)
    with pytest.raises(StorageError, match="no backup was removed"):
        filled.drop_old_backups()
    assert filled.backups() == [backup]


def test_while_a_memory_cannot_be_read_its_old_backups_stay(root: Path) -> None:
    now = [day(1)]
    with Memory(root=root, clock=lambda: now[0]) as memory:
        memory.add("ana", "I live in Porto.")
        memory.add("bob", "I live in Rome.")
        first = memory.backup(occasion="nightly")
    (root / "backups" / "keep.toml").write_text("[nightly]\ndaily = 1\nweekly = 0\nmonthly = 0\n", encoding="utf-8")
    path = root / "ana.memory.db"
    held = path.read_bytes()
    path.write_bytes(b"")
    with Memory(root=root, clock=lambda: now[0]) as memory:
        now[0] = day(900)
        assert memory.backup(occasion="nightly").left_out
        now[0] = day(901)
        memory.backup(namespaces=["bob"])
        assert memory.drop_old_backups() == []
    path.write_bytes(held)
    with Memory(root=root, clock=lambda: now[0]) as memory:
        now[0] = day(1_800)
        memory.backup(occasion="nightly")
        assert first.path in memory.drop_old_backups()


def test_a_file_that_is_no_memory_keeps_no_old_backup(root: Path) -> None:
    now = [day(1)]
    with Memory(root=root, clock=lambda: now[0]) as memory:
        memory.add("ana", "I live in Porto.")
        (root / "photos.memory.db").write_bytes(b"something else" * 60)
        (root / "backups").mkdir(exist_ok=True)
        (root / "backups" / "keep.toml").write_text("[nightly]\ndaily = 2\nweekly = 0\nmonthly = 0\n", encoding="utf-8")
        for days in range(1, 6):
            now[0] = day(days)
            assert memory.backup(occasion="nightly").left_out
            memory.drop_old_backups()
        assert [backup.at for backup in memory.backups()] == [day(5), day(4)]
