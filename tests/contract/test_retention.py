"""Rules of retention: there are none until the person sets one, they put away or ask, and erase nothing by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.errors import InvalidInputError, NotFoundError, StorageError
from support.embedding import WordEmbedder
from support.statements import SteadyClock, day


@pytest.fixture
def clock() -> SteadyClock:
    return SteadyClock(day(1))


@pytest.fixture
def memory(root: Path, clock: SteadyClock) -> Iterator[Memory]:
    with Memory(root=root, embedder=WordEmbedder(), clock=clock) as opened:
        yield opened


def texts(memory: Memory, name: str = "ana", **how: bool) -> set[str]:
    return {fact.fact_text for fact in memory.facts(name, **how)}  # type: ignore[arg-type]


def tidy(memory: Memory) -> str:
    (report,) = memory.maintain("ana", apply=True, force=True)
    assert report.run_id is not None
    return report.run_id


def test_without_a_rule_nothing_grows_old(memory: Memory, clock: SteadyClock) -> None:
    memory.add("ana", "Clara collects stamps.", client="cursor")
    clock.now = day(89)
    tidy(memory)
    assert memory.retention().rules == ()
    assert texts(memory) == {"Clara collects stamps."}


def test_what_a_client_said_is_put_away_once_it_is_old_and_comes_back_when_the_run_is_taken_back(
    memory: Memory, clock: SteadyClock
) -> None:
    memory.add("ana", "Clara collects stamps.", client="cursor")
    memory.add("ana", "Clara plays the cello.", client="zed")
    memory.add("ana", "Clara is allergic to nuts.", client="cursor")
    memory.set_retention(client="cursor", days=30)
    clock.now = day(25)
    tidy(memory)
    assert "Clara collects stamps." in texts(memory)
    clock.now = day(40)
    assert memory.would_retain(client="cursor", days=30) == [("ana", "Clara collects stamps.")]
    assert memory.maintain("ana")[0].demoted == 1
    run = tidy(memory)
    assert texts(memory) == {"Clara plays the cello.", "Clara is allergic to nuts."}
    assert "Clara collects stamps." in texts(memory, include_cold=True)
    memory.revert("ana", run)
    assert "Clara collects stamps." in texts(memory)
    clock.now = day(80)
    tidy(memory)
    assert "Clara collects stamps." in texts(memory)


def test_what_somebody_else_said_too_or_was_said_again_is_not_old(memory: Memory, clock: SteadyClock) -> None:
    memory.add("ana", "Clara collects stamps.", client="cursor")
    memory.add("ana", "Clara collects coins.", client="cursor")
    memory.set_retention(client="cursor", days=30)
    clock.now = day(20)
    memory.add("ana", "Clara collects stamps.", client="cursor")
    memory.add("ana", "Clara collects coins.", client="zed")
    clock.now = day(45)
    tidy(memory)
    assert texts(memory) == {"Clara collects stamps.", "Clara collects coins."}
    clock.now = day(60)
    tidy(memory)
    assert texts(memory) == {"Clara collects coins."}


def test_a_rule_that_asks_erases_nothing_before_the_person_says_so(memory: Memory, clock: SteadyClock) -> None:
    memory.add("ana", "Clara collects stamps.")
    memory.add("bea", "Clara collects stamps.")
    memory.set_retention(namespace="ana", days=30, act="ask")
    clock.now = day(40)
    tidy(memory)
    assert texts(memory) == {"Clara collects stamps."}
    ((proposal,),) = [group.proposals for group in memory.review_queue("ana").groups]
    assert proposal.kind == "forget"
    memory.decide("ana", proposal.id, "reject")
    clock.now = day(60)
    tidy(memory)
    assert memory.review_queue("ana").total == 0
    memory.add("ana", "Clara plays the cello.")
    clock.now = day(100)
    tidy(memory)
    ((proposal,),) = [group.proposals for group in memory.review_queue("ana").groups]
    memory.decide("ana", proposal.id, "approve")
    assert texts(memory, include_history=True, include_cold=True) == {"Clara collects stamps."}
    assert texts(memory, "bea") == {"Clara collects stamps."}


def test_a_rule_is_set_anew_removed_and_goes_with_its_namespace(memory: Memory, root: Path) -> None:
    memory.add("ana", "Clara collects stamps.")
    first = memory.set_retention(namespace="ana", days=30)
    again = memory.set_retention(namespace="ana", days=60)
    assert (again.id, memory.retention().rules) == (first.id, (again,))
    asks = memory.set_retention(namespace="ana", client="cursor", days=90, act="ask")
    assert len(memory.retention().rules) == 2
    assert memory.remove_retention(asks.id) == asks
    with pytest.raises(NotFoundError):
        memory.remove_retention(asks.id)
    memory.clear("ana")
    assert memory.retention().rules == ()
    assert [path for path in (root / "retention").iterdir() if path.stat().st_mode & 0o077] == []


@pytest.mark.parametrize(
    "given",
    [{"days": 30}, {"namespace": "ana", "days": 0}, {"namespace": "ana", "days": 10**6}, {"client": "x", "days": 3, "act": "erase"}],
)
def test_a_rule_that_cannot_be_meant_is_refused(memory: Memory, given: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        memory.set_retention(**given)  # type: ignore[arg-type]


def test_a_file_that_is_no_rule_is_named_and_does_nothing(memory: Memory, root: Path) -> None:
    memory.set_retention(client="cursor", days=30)
    (root / "retention" / "mine.json").write_text('{"days": "many"}')
    found = memory.retention()
    assert len(found.rules) == 1
    assert "mine.json" in found.problems[0]


def test_a_rule_that_cannot_be_removed_says_so(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = memory.set_retention(namespace="ana", days=30)

    def refuse(path: Path, *, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(StorageError, match="Permission denied"):
        memory.remove_retention(rule.id)


def test_a_rule_in_a_file_that_a_person_named_is_removed_where_it_is_and_set_anew_holds_once(memory: Memory, root: Path) -> None:
    memory.add("ana", "Clara collects stamps.")
    rule = memory.set_retention(namespace="ana", days=30)
    file, named = root / "retention" / f"{rule.id}.json", root / "retention" / "my-own.json"
    file.rename(named)
    assert [one.days for one in (memory.set_retention(namespace="ana", days=60), *memory.retention().rules)] == [60, 60]
    file.rename(named)
    assert memory.remove_retention(rule.id).days == 60
    assert memory.retention().rules == ()
    memory.set_retention(namespace="ana", days=30)
    file.rename(named)
    memory.clear("ana")
    assert memory.retention().rules == ()


def test_what_a_rule_would_be_about_is_nothing_where_nothing_is_and_leaves_out_what_cannot_be_used(
    memory: Memory, root: Path, clock: SteadyClock
) -> None:
    memory.add("ana", "Clara collects stamps.", client="cursor")
    clock.now = day(40)
    assert memory.would_retain(namespace="nowhere", days=30) == []
    assert memory.namespaces() == ["ana"]
    memory.add("bea", "Clara collects coins.", client="cursor")
    with Memory(root=root, embedder=WordEmbedder(), clock=clock) as other:
        file = Path(other.status("bea")[0].path)
    memory.close()
    file.write_bytes(file.read_bytes()[:5000])
    with Memory(root=root, embedder=WordEmbedder(), clock=clock) as again:
        assert again.would_retain(client="cursor", days=30) == [("ana", "Clara collects stamps.")]
        with pytest.raises(StorageError):
            again.would_retain(namespace="bea", days=30)


@pytest.mark.parametrize("written", ["[" * 200_000, '{"namespace": "ana", "client": null, "days": true, "act": "put-away"}'])
def test_a_file_that_is_no_rule_is_told_of_and_the_night_goes_on(memory: Memory, root: Path, written: str) -> None:
    memory.add("ana", "Clara collects stamps.")
    (root / "retention").mkdir()
    (root / "retention" / "a.json").write_text(written, encoding="utf-8")
    assert (memory.retention().rules, len(memory.retention().problems)) == ((), 1)
    memory.maintain(apply=True, force=True)


def test_a_memory_whose_rule_cannot_be_removed_is_gone_and_the_rule_is_named(
    memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.add("ana", "Clara collects stamps.")
    rule = memory.set_retention(namespace="ana", days=30)
    unlink = Path.unlink

    def refuse(path: Path, *, missing_ok: bool = False) -> None:
        if path.parent.name == "retention":
            raise PermissionError(13, "Permission denied")
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    cleared = memory.clear("ana")
    assert cleared.existed
    assert cleared.copies == (str(root / "retention" / f"{rule.id}.json"),)
    assert memory.namespaces() == []
