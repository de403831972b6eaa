"""Who may use the memory is kept in a file that several processes may change, and that gives nobody's token away."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pydantic import ValidationError

from lean_memory.errors import InvalidInputError, NotFoundError
from lean_memory_bridge.access_log import KEPT, AccessLog
from lean_memory_bridge.client_book import ClientBook
from lean_memory_bridge.schemas import AccessView, AddRequest


@pytest.fixture
def book(tmp_path: Path) -> ClientBook:
    return ClientBook(tmp_path)


def test_a_token_leads_to_its_client_and_is_not_in_the_file(book: ClientBook, tmp_path: Path) -> None:
    token = book.issue("Cursor")
    found = book.by_token(token)
    assert found is not None
    assert found.name == "Cursor"
    assert token not in (tmp_path / "clients.json").read_text(encoding="utf-8")
    assert (tmp_path / "clients.json").stat().st_mode & 0o077 == 0
    assert book.by_token("") is None
    assert book.by_token(found.token_hash or "") is None


def test_another_process_sees_every_change_at_once(book: ClientBook, tmp_path: Path) -> None:
    other = ClientBook(tmp_path)
    token = book.issue("cursor")
    assert other.by_token(token) is not None
    other.pause("cursor", True)
    found = book.by_token(token)
    assert found is not None
    assert found.paused
    other.send_to("cursor", "work")
    known = book.named("cursor")
    assert known is not None
    assert (known.paused, known.default_namespace) == (True, "work")
    other.revoke("cursor")
    assert book.by_token(token) is None
    other.remove("cursor")
    assert book.all() == []


def test_changes_of_many_at_once_are_all_kept(tmp_path: Path) -> None:
    start = threading.Barrier(8)

    def enter(number: int) -> None:
        book = ClientBook(tmp_path)
        start.wait()
        for step in range(5):
            book.issue(f"client {number}.{step}")

    threads = [threading.Thread(target=enter, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ClientBook(tmp_path).all()) == 40
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clients.json", "clients.lock"]


def test_introducing_a_known_client_changes_nothing(book: ClientBook) -> None:
    token = book.issue("cursor")
    book.pause("cursor", True)
    assert book.introduce("cursor").paused
    assert book.by_token(token) is not None
    assert book.introduce("new").token_hash is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"clients": 1}', b'{"clients": [{}]}', b"\xff"])
def test_a_damaged_file_lets_nobody_in_and_is_set_aside_whole(book: ClientBook, tmp_path: Path, content: bytes) -> None:
    token = book.issue("cursor")
    (tmp_path / "clients.json").write_bytes(content)
    assert book.by_token(token) is None
    (kept,) = tmp_path.glob("clients.json.damaged-*")
    assert kept.read_bytes() == content
    assert book.by_token(book.issue("cursor")) is not None


@pytest.mark.parametrize("name", ["", " a", "a ", "lean-memory", "LEAN-MEMORY", "a/b", "a\nb", "ü", "x" * 65])
def test_names_that_cannot_be_are_refused(book: ClientBook, name: str) -> None:
    for enter in (book.issue, book.introduce):
        with pytest.raises(InvalidInputError):
            enter(name)
    assert book.all() == []


def test_what_is_not_there_cannot_be_changed(book: ClientBook) -> None:
    for change in (book.revoke, book.remove, lambda name: book.pause(name, True), lambda name: book.send_to(name, "x")):
        with pytest.raises(NotFoundError):
            change("nobody")


def entry(number: int, namespace: str = "n", client: str = "cursor") -> AccessView:
    return AccessView(at=number, client=client, verb="search", namespace=namespace, facts=number, tokens=312)


def test_the_access_log_outlives_the_process_and_keeps_the_last_entries(tmp_path: Path) -> None:
    log = AccessLog(tmp_path)
    for number in range(KEPT * 2 + 10):
        log.note(entry(number))
    assert [one.at for one in log.last(3)] == [KEPT * 2 + 9, KEPT * 2 + 8, KEPT * 2 + 7]
    assert len((tmp_path / "access.jsonl").read_text(encoding="utf-8").splitlines()) <= 2 * KEPT
    with (tmp_path / "access.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"at": 1, "cli')
    assert AccessLog(tmp_path).last(2, "cursor") == log.last(2)
    assert AccessLog(tmp_path).last(2, "nobody") == ()


def test_a_line_that_was_cut_off_does_not_swallow_the_next_one(tmp_path: Path) -> None:
    AccessLog(tmp_path).note(entry(1))
    with (tmp_path / "access.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"at": 2, "cli')
    AccessLog(tmp_path).note(entry(3))
    assert [one.at for one in AccessLog(tmp_path).last(10)] == [3, 1]


def test_a_namespace_can_be_taken_out_of_the_log(tmp_path: Path) -> None:
    log = AccessLog(tmp_path)
    log.note(entry(1, "kept"))
    log.note(entry(2, "gone"))
    log.drop_namespace("gone")
    assert [one.namespace for one in AccessLog(tmp_path).last(10)] == ["kept"]


def test_an_entry_reads_as_a_sentence() -> None:
    assert entry(5).sentence == "cursor read 5 facts, 312 tokens"
    assert AccessView(at=1, client="codex", verb="add", facts=1).sentence == "codex wrote 1 fact"
    assert AccessView(at=1, client="codex", verb="search", outcome="paused").sentence == "codex: search, paused"


def test_an_error_about_a_request_does_not_repeat_what_the_person_said() -> None:
    with pytest.raises(ValidationError) as refused:
        AddRequest.model_validate({"text": 7, "namespace": "", "source": "my secret"})
    assert "secret" not in str(refused.value)


def test_what_cannot_be_written_to_the_access_log_is_written_with_a_later_entry(tmp_path: Path) -> None:
    log = AccessLog(tmp_path)
    log.note(entry(1))
    (tmp_path / "access.jsonl").rename(tmp_path / "aside")
    (tmp_path / "access.jsonl").mkdir()
    log.note(entry(2))
    assert [one.at for one in log.last(3)] == [2, 1]
    (tmp_path / "access.jsonl").rmdir()
    log.note(entry(3))
    assert [one.at for one in AccessLog(tmp_path).last(3)] == [3, 2, 1]
