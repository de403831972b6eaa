"""Fetching models from a hub that does everything a hub, its storage and a network can do."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lean_memory.errors import InvalidInputError, ModelFetchError
from lean_memory.models.library import Cancelled, ModelLibrary, Pulled, PullState
from lean_memory.models.manifest import read_manifest
from lean_memory.models.provision.hub import Patience
from lean_memory.models.provision.lock import alone
from support.fake_hub import FakeHub, serving
from support.model_desk import BIG, HASTE, Desk
from support.model_manifest import EMBEDDER, tiny_repositories, weights


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with serving(tiny_repositories()) as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, hub: FakeHub) -> Desk:
    return Desk(tmp_path, hub)


def test_a_tier_comes_whole_checked_for_its_owner_alone_and_is_not_fetched_twice(desk: Desk) -> None:
    done = desk.pull()
    assert isinstance(done, Pulled)
    assert len(done.fetched) == 5
    assert desk.is_right()
    if os.name == "posix":
        assert stat.S_IMODE(desk.path().stat().st_mode) == 0o600
        folders = [desk.path().parent, desk.path("1_Pooling/config.json").parent, desk.root / "models", desk.root]
        assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == 4 * [0o700]
    requests = len(desk.hub.log)
    again = desk.pull()
    assert isinstance(again, Pulled)
    assert again.fetched == ()
    assert len(desk.hub.log) == requests


def test_nothing_is_asked_of_the_network_before_a_pull(desk: Desk) -> None:
    assert not desk.library.is_here("standard")
    assert desk.library.standing("standard")[0].here == 0
    assert desk.library.last_pull is None
    assert desk.library.origin() == desk.hub.endpoint
    assert desk.hub.log == []
    assert not desk.root.exists()


def test_progress_counts_every_byte_and_ends_at_the_total(desk: Desk) -> None:
    desk.hub.faults.rate = 400_000
    desk.pull()
    last = desk.library.last_pull
    assert last is not None
    assert (last.state, last.done, last.total) == (PullState.DONE, *(2 * [sum(map(len, everything(desk.hub)))]))
    done = [each.done for each in desk.seen]
    assert done == sorted(done)


def test_a_slow_line_is_followed_with_its_speed_and_the_time_left(desk: Desk) -> None:
    desk.hub.faults.rate = 64_000
    assert isinstance(desk.pull(), Pulled)
    speeds = [each for each in desk.seen if each.path == BIG and each.speed and each.done < 90_000]
    assert speeds
    assert 40_000 < speeds[-1].speed < 110_000
    assert speeds[-1].seconds_left is not None
    assert speeds[-1].seconds_left == pytest.approx((speeds[-1].total - speeds[-1].done) / speeds[-1].speed, rel=0.01)
    assert desk.is_right()


def test_a_connection_that_is_cut_goes_on_where_it_was(desk: Desk) -> None:
    desk.hub.faults.cut_after = 32_768
    desk.pull()
    assert desk.is_right()
    answers = desk.hub.asked_for(BIG)
    assert [asked.begin for asked in answers if asked.headers][:4] == [None, 32_768, 65_536, 98_304]
    assert sum(asked.sent for asked in answers) == sum(len(files[BIG]) for files in desk.hub.repositories.values())


def test_a_server_that_cannot_begin_in_the_middle_is_read_from_the_start_and_what_came_is_kept(desk: Desk) -> None:
    desk.hub.faults.ignores_ranges = True
    desk.hub.faults.cut_after = 49_152
    said = desk.refusal()
    assert "stopped coming from 127.0.0.1" in said
    assert "What came is kept" in said
    assert desk.path(BIG + ".part").stat().st_size >= 49_152
    desk.hub.faults.cut_after = None
    desk.pull()
    assert desk.is_right()


def test_a_stalled_connection_is_made_anew(desk: Desk) -> None:
    desk.hub.faults.stalls_after = 32_768
    desk.pull()
    assert desk.is_right()
    assert [asked.begin for asked in desk.hub.asked_for(BIG)][:4] == [None, 32_768, 65_536, 98_304]


def test_one_that_brings_nothing_any_more_is_given_up_with_a_sentence(desk: Desk) -> None:
    desk.hub.faults.stalls_after = 0
    said = desk.refusal()
    assert "config.json of org/tiny-embedder stopped coming from 127.0.0.1" in said
    assert "(it does not answer in time). What came is kept" in said


def test_a_server_that_is_busy_for_a_while_is_asked_again_after_the_time_that_it_names(desk: Desk) -> None:
    desk.hub.faults.status, desk.hub.faults.times, desk.hub.faults.retry_after = {BIG: 503}, 2, 1
    desk.pull()
    assert desk.is_right()
    assert [asked.status for asked in desk.hub.log if asked.path == BIG][:2] == [503, 503]
    assert {each.trouble for each in desk.seen} == {"", "it answers 503"}
    assert desk.seen[-1].trouble == ""


def test_a_pointer_within_the_hub_is_followed(desk: Desk) -> None:
    desk.hub.faults.relays = True
    desk.pull()
    assert desk.is_right()


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, ["does not have config.json of org/tiny-embedder at revision 0123456789ab (404)", "mirror"]),
        (403, ["refuses config.json of org/tiny-embedder (403)", "--from FOLDER"]),
        (401, ["refuses", "(401)"]),
        (407, ["proxy", "(407)", "HTTPS_PROXY"]),
        (418, ["answers 418", "LM_MODELS_ENDPOINT"]),
        (500, ["stopped coming", "it answers 500"]),
    ],
)
def test_every_refusal_says_what_happened_what_was_kept_and_what_to_do(desk: Desk, status: int, words: Sequence[str]) -> None:
    desk.hub.faults.status = {"": status}
    said = desk.refusal()
    assert all(word in said for word in [*words, "kept"]), said
    note = desk.library.last_pull
    assert note is not None
    assert (note.state, note.sentence) == (PullState.FAILED, said)
    assert not desk.library.is_here("standard")


def test_an_optional_file_that_the_repository_lacks_is_done_without_and_not_asked_for_again(tmp_path: Path, hub: FakeHub) -> None:
    desk = Desk(tmp_path, hub, unpublished=["1_Pooling/config.json"], optional=["1_Pooling/config.json"])
    del hub.repositories[EMBEDDER]["1_Pooling/config.json"]
    desk.pull()
    assert desk.is_right()
    requests = len(hub.log)
    desk.pull()
    assert len(hub.log) == requests


def test_no_network_ends_with_a_sentence(tmp_path: Path, hub: FakeHub) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    desk = Desk(tmp_path, hub)
    desk.library = ModelLibrary(desk.root, manifest=desk.manifest, endpoint=f"http://127.0.0.1:{port}", patience=HASTE)
    said = desk.refusal()
    assert f"127.0.0.1:{port} cannot be reached (nothing listens there)" in said
    assert "--from FOLDER" in said
    desk.library = ModelLibrary(desk.root, manifest=desk.manifest, endpoint="http://no-such-hub.invalid", patience=HASTE)
    assert "no-such-hub.invalid cannot be reached" in desk.refusal()


@pytest.mark.parametrize("endpoint", ["huggingface.co", "ftp://hub.test", "file:///etc", "http://", "http://hub.test?x=1"])
def test_what_is_no_address_is_refused_before_anything_is_asked(desk: Desk, endpoint: str) -> None:
    library = ModelLibrary(desk.root, manifest=desk.manifest, endpoint=endpoint)
    with pytest.raises(InvalidInputError, match="no address that models can be fetched from"):
        library.pull("standard", report=desk.seen.append)


def test_a_file_that_comes_corrupted_is_fetched_once_more_and_then_named(desk: Desk) -> None:
    desk.hub.faults.corrupt = frozenset([BIG])
    said = desk.refusal()
    assert "model.safetensors of org/tiny-embedder came damaged from 127.0.0.1" in said
    assert "every other file is kept" in said
    assert not desk.path().exists()
    assert not desk.path(BIG + ".part").exists()
    assert len(desk.hub.asked_for(BIG)) == 2
    assert desk.path("config.json").exists()
    desk.hub.faults.corrupt = frozenset()
    desk.pull()
    assert desk.is_right()
    assert len(desk.hub.asked_for("config.json")) == 2  # one of each model


@pytest.mark.parametrize("harm", ["one byte", "cut short", "gone", "emptied", "longer"])
def test_a_file_that_was_harmed_on_the_disk_is_found_named_and_fetched_again(desk: Desk, harm: str) -> None:
    desk.pull()
    path, content = desk.path(), desk.content()
    match harm:
        case "one byte":
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        case "cut short":
            path.write_bytes(content[:40_000])
        case "emptied":
            path.write_bytes(b"")
        case "longer":
            path.write_bytes(content + b"x")
        case _:
            path.unlink()
    assert desk.library.is_here("standard") is (harm == "one byte")
    before = len(desk.hub.log)
    done = desk.pull()
    assert isinstance(done, Pulled)
    assert done.fetched == ("model.safetensors of org/tiny-embedder",)
    assert done.damaged == (() if harm == "gone" else done.fetched)
    assert {asked.path for asked in desk.hub.log[before:]} == {BIG}
    assert desk.is_right()


@pytest.mark.parametrize("harm", ["gone", "cut short", "nonsense"])
def test_a_lost_record_is_written_anew_and_nothing_that_can_be_checked_is_fetched_again(desk: Desk, harm: str) -> None:
    desk.pull()
    record = desk.path("x").parent.with_suffix(".json")
    match harm:
        case "gone":
            record.unlink()
        case "cut short":
            record.write_bytes(record.read_bytes()[:100])
        case _:
            record.write_text('{"files": [1], "completed_at": true}')
    assert not desk.library.is_here("standard")
    requests = len(desk.hub.log)
    desk.pull()
    assert desk.is_right()
    assert len(desk.hub.log) == requests


def test_a_beginning_that_is_not_of_this_file_is_thrown_away(desk: Desk) -> None:
    desk.path().parent.mkdir(parents=True)
    desk.path(BIG + ".part").write_bytes(b"something else" * 3000)
    desk.pull()
    assert desk.is_right()


def test_a_beginning_that_is_all_of_the_file_needs_no_more_of_it(desk: Desk) -> None:
    desk.path().parent.mkdir(parents=True)
    desk.path(BIG + ".part").write_bytes(desk.content())
    desk.pull()
    assert desk.is_right()
    assert [asked.path for asked in desk.hub.log].count(BIG) == 1  # that of the other model


def test_a_mirror_with_another_file_is_refused_before_the_file_comes(desk: Desk) -> None:
    desk.hub.repositories[EMBEDDER][BIG] = weights(100_000, seed=9)
    assert "has another model.safetensors of org/tiny-embedder" in desk.refusal()
    desk.hub.faults.names_content = False
    desk.hub.repositories[EMBEDDER][BIG] = weights(99_999, seed=9)
    assert "is 99,999 bytes long at 127.0.0.1" in desk.refusal()
    assert desk.path(BIG + ".part").stat().st_size == 0


def test_another_revision_than_the_pinned_one_is_refused(desk: Desk) -> None:
    desk.hub.faults.revision = "f" * 40
    assert "answers with revision ffffffffffff instead" in desk.refusal()


def test_the_page_of_a_network_that_wants_a_login_is_no_model(tmp_path: Path, hub: FakeHub) -> None:
    hub.faults.web_page = True
    desk = Desk(tmp_path, hub, unpublished=["config.json"])
    assert "web page in place of config.json" in desk.refusal()


def test_the_disk_is_looked_at_before_anything_is_asked(tmp_path: Path, hub: FakeHub) -> None:
    desk = Desk(tmp_path, hub)
    huge = (tmp_path / "models.toml").read_text().replace("size = 100000", f"size = {10**15}")
    (tmp_path / "models.toml").write_text(huge)
    library = ModelLibrary(desk.root, manifest=read_manifest(tmp_path / "models.toml"), endpoint=hub.endpoint)
    with pytest.raises(ModelFetchError, match=r"1000000 GB more are needed in .* Nothing was fetched\. Free .* GB"):
        library.pull("standard", report=desk.seen.append)
    assert hub.log == []


def test_a_disk_that_fills_up_on_the_way_ends_with_a_sentence_and_what_came_is_kept(tmp_path: Path, hub: FakeHub) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=104m", "tmpfs", str(folder)], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("this user may not make a file system of its own, and only a small one runs full")
    ballast = tmp_path / "small" / "ballast"

    def fill(path: str, sent: int) -> None:
        if path == BIG and not ballast.exists():
            with ballast.open("wb") as file:
                room = os.statvfs(folder)
                os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize - 40_960)

    try:
        hub.on_sent = fill
        hub.faults.rate = 2_000_000
        desk = Desk(folder, hub)
        said = desk.refusal()
        assert "The disk is full" in said
        assert "What came is kept" in said
        ballast.unlink()
        hub.on_sent = lambda path, sent: None
        assert desk.path(BIG + ".part").stat().st_size > 0
        before = len(hub.asked_for(BIG))
        desk.pull()
        assert desk.is_right()
        assert hub.asked_for(BIG)[before].begin
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_cancelling_stops_at_once_keeps_what_came_and_says_how_much(desk: Desk) -> None:
    stop = threading.Event()
    desk.hub.faults.rate = 200_000
    desk.hub.on_sent = lambda path, sent: stop.set() if sent > 40_000 else None
    left = desk.pull(cancel=stop)
    assert isinstance(left, Cancelled)
    assert 20_000 < left.here < 80_000
    note = desk.library.last_pull
    assert note is not None
    assert note.state is PullState.CANCELLED
    desk.hub.faults.rate = None
    desk.pull()
    assert desk.is_right()


def test_cancelling_does_not_wait_for_the_next_attempt(desk: Desk) -> None:
    desk.hub.faults.status = {"": 503}
    patience = Patience(pause=60, longest_pause=60)
    library = ModelLibrary(desk.root, manifest=desk.manifest, endpoint=desk.hub.endpoint, patience=patience)
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    assert isinstance(library.pull("standard", report=desk.seen.append, cancel=stop), Cancelled)
    timer.join()


def test_two_pulls_do_not_fight(desk: Desk) -> None:
    with alone(desk.root / "models" / ".lock") as ours:
        assert ours
        assert "Another command or the service is fetching" in desk.refusal()
        with pytest.raises(ModelFetchError, match="Another command"):
            desk.library.remove("standard")
    desk.pull()
    assert desk.is_right()


def test_a_pull_whose_process_is_gone_is_told_as_cut_off(desk: Desk) -> None:
    desk.pull()
    note = desk.root / "models" / "pull.json"
    note.write_text(json.dumps({**json.loads(note.read_text()), "state": "running"}))
    told = desk.library.last_pull
    assert told is not None
    assert told.state is PullState.CUT_OFF
    assert "goes on from there" in told.sentence


@pytest.mark.parametrize(
    "written",
    [
        b"[" * 100_000,
        b"[1]",
        b"{}",
        b'{"state": "done", "tier": "t", "origin": "o", "done": "much"}',
        b'{"state": "x", "tier": "t", "origin": "o"}',
    ],
)
def test_a_note_of_a_pull_that_is_none_is_passed_over(desk: Desk, written: bytes) -> None:
    note = desk.root / "models" / "pull.json"
    note.parent.mkdir(parents=True)
    note.write_bytes(written)
    assert desk.library.last_pull is None


def test_a_choice_that_cannot_be_written_is_told_of(desk: Desk) -> None:
    (desk.root / "models.json").mkdir(parents=True)
    with pytest.raises(ModelFetchError, match="cannot be written"):
        desk.library.use("builtin")


def test_the_proxy_of_the_environment_is_asked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", desk.hub.endpoint)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    # The name is nowhere known: only the proxy can have answered.
    desk.hub.faults.storage = "http://storage.invalid/storage"
    desk.library = ModelLibrary(desk.root, manifest=desk.manifest, endpoint="http://hub.invalid", patience=HASTE)
    desk.pull()
    assert desk.is_right()
    assert {asked.headers["Host"] for asked in desk.hub.asked_for(BIG)} == {"storage.invalid"}
    desk.hub.faults.proxy_wants_password = True
    desk.path().unlink()
    assert "wants to know who asks (407)" in desk.refusal()


def everything(hub: FakeHub) -> list[bytes]:
    return [content for files in hub.repositories.values() for content in files.values()]
