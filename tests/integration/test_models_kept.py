"""What is kept of models: who vouches for their files, and how they are carried, chosen and removed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory.errors import InvalidInputError, ModelFetchError
from lean_memory.models.installed import Voucher, installed, read_record, tier_in_use
from lean_memory.models.library import Pulled
from support.fake_hub import FakeHub, serving
from support.model_desk import BIG, Desk
from support.model_manifest import EMBEDDER, RERANKER, tiny_repositories, weights


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with serving(tiny_repositories()) as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, hub: FakeHub) -> Desk:
    return Desk(tmp_path, hub)


class TestFilesWithoutAPublishedSum:
    """Trust on first use: what came first is written down, with who vouches for it."""

    @pytest.fixture
    def desk(self, tmp_path: Path, hub: FakeHub) -> Desk:
        return Desk(tmp_path, hub, unpublished=["config.json", BIG])

    def vouchers(self, desk: Desk) -> dict[str, Voucher]:
        return {name: file.voucher for name, file in read_record(desk.path("x").parent).files.items()}

    def test_the_hub_describes_them(self, desk: Desk) -> None:
        desk.pull()
        assert desk.is_right()
        assert self.vouchers(desk) == {
            "config.json": Voucher.HUB,
            "1_Pooling/config.json": Voucher.MANIFEST,
            "model.safetensors": Voucher.HUB,
        }
        note = desk.library.last_pull
        assert note is not None
        assert note.done == note.total

    def test_what_does_not_fit_its_description_is_damaged(self, desk: Desk) -> None:
        desk.hub.faults.corrupt = frozenset(["config.json"])
        assert "config.json of org/tiny-embedder came damaged" in desk.refusal()

    def test_a_simple_mirror_describes_nothing_and_that_is_told(self, desk: Desk) -> None:
        desk.hub.faults.names_content = False
        desk.pull()
        assert self.vouchers(desk)[BIG] is Voucher.FIRST_COPY
        assert desk.library.standing("standard")[0].vouchers == {Voucher.FIRST_COPY: 2, Voucher.MANIFEST: 1}

    def test_a_later_change_is_noticed_all_the_same(self, desk: Desk) -> None:
        desk.hub.faults.names_content = False
        desk.pull()
        desk.path().write_bytes(weights(100_000, seed=5))
        done = desk.pull()
        assert isinstance(done, Pulled)
        assert done.damaged == ("model.safetensors of org/tiny-embedder",)
        assert desk.is_right()

    def test_another_copy_than_the_first_is_not_taken(self, desk: Desk) -> None:
        desk.hub.faults.names_content = False
        desk.pull()
        desk.path().unlink()
        desk.hub.repositories[EMBEDDER][BIG] = weights(100_000, seed=5)
        assert "came damaged" in desk.refusal()

    def test_they_are_taken_up_again_too(self, desk: Desk) -> None:
        desk.hub.faults.cut_after = 32_768
        desk.pull()
        assert desk.is_right()

    def test_one_that_is_whole_before_its_length_is_known_is_not_fetched_again(self, desk: Desk) -> None:
        desk.path().parent.mkdir(parents=True)
        desk.path(BIG + ".part").write_bytes(desk.content())
        desk.pull()
        assert desk.is_right()
        assert sum(asked.sent for asked in desk.hub.asked_for(BIG)) == len(desk.content(model=RERANKER))


class TestBundles:
    def test_a_bundle_carries_a_tier_to_a_computer_without_a_network(self, desk: Desk, tmp_path: Path) -> None:
        desk.pull()
        stick = tmp_path / "stick"
        desk.library.bundle(stick, "standard", report=desk.seen.append)
        other = Desk(tmp_path / "other", desk.hub)
        requests = len(desk.hub.log)
        done = other.pull(source=stick)
        assert isinstance(done, Pulled)
        assert len(done.fetched) == 5
        assert other.is_right()
        assert len(desk.hub.log) == requests
        assert read_record(other.path().parent).origin == str(stick)

    def test_a_damaged_copy_is_named_and_not_taken(self, desk: Desk, tmp_path: Path) -> None:
        desk.pull()
        stick = tmp_path / "stick"
        desk.library.bundle(stick, "standard", report=desk.seen.append)
        copy = next(stick.rglob(BIG))
        copy.write_bytes(b"x" + copy.read_bytes()[1:])
        other = Desk(tmp_path / "other", desk.hub)
        said = other.refusal(source=stick)
        assert "in " + str(stick) + " is damaged" in said
        assert "kept" in said
        assert not list(other.root.rglob("*.part")) or not other.library.is_here("standard")

    def test_a_bundle_that_lacks_a_file_says_which(self, desk: Desk, tmp_path: Path) -> None:
        empty = tmp_path / "empty"
        empty.mkdir()
        assert f"{empty} has no whole config.json of org/tiny-embedder" in desk.refusal(source=empty)
        with pytest.raises(InvalidInputError, match="is no folder"):
            desk.pull(source=tmp_path / "none")

    def test_only_what_is_here_can_be_bundled(self, desk: Desk, tmp_path: Path) -> None:
        with pytest.raises(ModelFetchError, match="not all here"):
            desk.library.bundle(tmp_path / "stick", "standard", report=desk.seen.append)

    def test_what_the_hub_described_stays_described_in_a_bundle(self, tmp_path: Path, hub: FakeHub) -> None:
        desk = Desk(tmp_path, hub, unpublished=[BIG])
        desk.pull()
        desk.library.bundle(tmp_path / "stick", "standard", report=desk.seen.append)
        other = Desk(tmp_path / "other", hub, unpublished=[BIG])
        other.pull(source=tmp_path / "stick")
        assert read_record(other.path().parent).files[BIG].voucher is Voucher.HUB
        copy = next((tmp_path / "stick").rglob(BIG))
        copy.write_bytes(copy.read_bytes()[:-1])
        third = Desk(tmp_path / "third", hub, unpublished=[BIG])
        assert "is damaged" in third.refusal(source=tmp_path / "stick")


class TestChoosing:
    def test_a_tier_is_used_only_once_it_is_here_and_removed_only_once_it_is_not_used(self, desk: Desk) -> None:
        library = desk.library
        with pytest.raises(ModelFetchError, match="not all here"):
            library.use("standard")
        assert tier_in_use(desk.root) == "builtin"
        desk.pull()
        library.use("standard")
        assert tier_in_use(desk.root) == "standard"
        if os.name == "posix":
            assert stat.S_IMODE((desk.root / "models.json").stat().st_mode) == 0o600
        with pytest.raises(InvalidInputError, match="in use"):
            library.remove("standard")
        library.use("builtin")
        assert library.remove("standard") > 120_000
        assert not any(desk.root.rglob(BIG))
        spec = next(spec for spec in desk.manifest.tier("standard").models.values() if spec.model_id == EMBEDDER)
        assert installed(desk.root, spec) is None

    def test_the_builtin_model_cannot_be_removed(self, desk: Desk) -> None:
        with pytest.raises(InvalidInputError, match="part of the program"):
            desk.library.remove("builtin")

    def test_removing_takes_beginnings_too(self, desk: Desk) -> None:
        desk.hub.faults.ignores_ranges, desk.hub.faults.cut_after = True, 49_152
        desk.refusal()
        assert desk.library.remove("standard") > 49_000
        assert not any(desk.root.rglob("*.part"))
