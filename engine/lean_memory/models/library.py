"""The models of a data root as a person deals with them: see what is there, fetch, choose, carry elsewhere, remove.

Nothing is fetched but by `pull`, and nothing but the person's word calls that.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from lean_memory.errors import InvalidInputError, ModelFetchError
from lean_memory.models import packages
from lean_memory.models.installed import (
    Voucher,
    choose_tier,
    installed,
    model_folder,
    models_folder,
    read_record,
    remove_record,
    tier_in_use,
    tier_installed,
)
from lean_memory.models.manifest import BUILTIN, Manifest, ModelSpec, Published, TierSpec, read_manifest
from lean_memory.models.offered import Offer, offered
from lean_memory.models.packages import Pack
from lean_memory.models.provision import wording
from lean_memory.models.provision.folder import Folder
from lean_memory.models.provision.hub import Hub, Patience, Release
from lean_memory.models.provision.lock import alone
from lean_memory.models.provision.note import LOCK_FILE, Notes, PullNote, PullState, forget_pull, last_pull
from lean_memory.models.provision.pack import PACK, file_of, forget_fetched, spec_of, unpack
from lean_memory.models.provision.pull import Pulled, bring, part_of, size_of
from lean_memory.models.provision.source import Source, translated
from lean_memory.models.provision.watch import CancelledError, Progress, Watch
from lean_memory.models.provision.wording import amount
from lean_memory.settings import Settings

__all__ = [
    "Cancelled",
    "ModelLibrary",
    "ModelStanding",
    "Offer",
    "Pack",
    "Progress",
    "PullNote",
    "PullState",
    "Pulled",
    "TierSpec",
    "Voucher",
    "amount",
    "last_pull",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStanding:
    """How far a model is there, by names and lengths."""

    spec: ModelSpec
    folder: Path
    whole: bool
    here: int
    """Bytes of whole files and of beginnings."""
    vouchers: Mapping[Voucher, int]
    """How many of its files are whole, by who vouches for their sums."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """The person stopped it; `here` bytes of `total` are kept."""

    here: int
    total: int


class ModelLibrary:
    """The models of one data root."""

    def __init__(
        self, root: Path, *, manifest: Manifest, endpoint: str, patience: Patience | None = None, offer: Offer | None = None
    ) -> None:
        self._root, self._manifest, self._endpoint, self._patience = root, manifest, endpoint, patience
        self._offer = offer

    @classmethod
    def of(cls, settings: Settings) -> ModelLibrary:
        """That of the configured data root. Raises `ModelError` where the list of models cannot be used."""
        return cls(settings.root, manifest=read_manifest(settings.models_manifest), endpoint=settings.models_endpoint, offer=offered())

    @property
    def folder(self) -> Path:
        """Where the models lie."""
        return models_folder(self._root)

    @property
    def tiers(self) -> tuple[TierSpec, ...]:
        """Every tier that can be had, the built-in one first."""
        return tuple(self._manifest.tiers.values())

    @property
    def in_use(self) -> str:
        """The tier that the person chose."""
        return tier_in_use(self._root)

    @property
    def last_pull(self) -> PullNote | None:
        """How the last pull stands, whichever process does it."""
        return last_pull(self._root)

    @property
    def packages_lacking(self) -> tuple[str, ...]:
        """Those of the packages that run larger models that are not here."""
        return packages.lacking(self._root)

    @property
    def packages_remedy(self) -> str:
        """How they come here."""
        return packages.remedy()

    @property
    def packages_offered(self) -> Offer | None:
        """The pack that `pull` fetches along, and `fetch_packages`: some are lacking, and this program's release says where they lie."""
        return self._offer if self.packages_lacking else None

    def fetch_packages(self, *, report: Callable[[Progress], None], cancel: Event | None = None) -> Pulled | Cancelled:
        """Fetch the pack of this program's release and unpack it, unless nothing is lacking or to be renewed.

        Raises `InvalidInputError` where the release names no place, else like `pull`.
        """
        if self._offer is None:
            raise InvalidInputError(f"This program does not know where its packages can be fetched. Instead: {self.packages_remedy}")
        if not self.packages_lacking and packages.version_here(self._root) in (None, self._offer.version):
            return Pulled(fetched=(), damaged=())
        place = self._release(self._offer)
        with self._alone():
            return self._brought_and_unpacked([(spec_of(self._offer), place)], Watch(report, cancel or Event())) or Cancelled(
                here=self._begun(self._offer), total=self._offer.bytes
            )

    def take_in_packages(self, file: Path, *, report: Callable[[float], None]) -> Pack:
        """Unpack them from a pack. Raises like `packages.take_in`, and `ModelFetchError` while something is being fetched."""
        with self._alone():
            pack = packages.take_in(self._root, file, report=report)
            forget_fetched(self._root)
        return pack

    def remove_packages(self) -> bool:
        """Delete those that a pack brought, and one that is on its way; whether there was any. Raises `ModelFetchError`."""
        with self._alone():
            were_there = packages.remove(self._root)
            return forget_fetched(self._root) or were_there

    def tier(self, name: str) -> TierSpec:
        """The tier of that name. Raises `InvalidInputError` naming those there are."""
        return self._manifest.tier(name)

    def is_here(self, name: str) -> bool:
        """Whether the tier is there whole."""
        return tier_installed(self._root, self.tier(name))

    def standing(self, name: str) -> list[ModelStanding]:
        """How far each model of a tier is there."""
        return [self._standing(spec) for spec in self.tier(name).models.values()]

    def origin(self, source: Path | None = None) -> str:
        """Where a pull would take the files from. Raises `InvalidInputError` for what is no address or no folder."""
        return self._source(source).origin

    def pull(
        self, name: str, *, report: Callable[[Progress], None], cancel: Event | None = None, source: Path | None = None
    ) -> Pulled | Cancelled:
        """Check what is there of a tier, and fetch what is missing or damaged from the hub, or from a folder; first the packages that run it.

        They come along where some are lacking and this program's release says where they lie, or, out of a folder, where the pack is in it.

        Raises `InvalidInputError` for a tier, an address or a folder that is none, and `ModelFetchError` with a sentence for the rest; whole
        files and beginnings stay. Two pulls of one data root never run at once.
        """
        tier, place, stop = self.tier(name), self._source(source), cancel or Event()
        with self._alone():
            notes = Notes(self._root, name, place.origin, report)
            try:
                wanted = [*self._along(tier, source), *((spec, place) for spec in tier.models.values())]
                done = self._brought_and_unpacked(wanted, Watch(notes.take, stop))
            except ModelFetchError as error:
                notes.end(PullState.FAILED, str(error))
                raise
            except KeyboardInterrupt:
                notes.end(PullState.CANCELLED)
                raise
            notes.end(PullState.CANCELLED if done is None else PullState.DONE)
        return done or self.cancelled(name)

    def cancelled(self, name: str) -> Cancelled:
        """What a pull that was stopped has left."""
        along = self.packages_offered if self.tier(name).models else None
        here, total = (self._begun(along), along.bytes) if along is not None else (0, 0)
        return Cancelled(here=here + sum(each.here for each in self.standing(name)), total=total + self.tier(name).size)

    def bundle(self, folder: Path, name: str, *, report: Callable[[Progress], None], cancel: Event | None = None) -> Pulled | Cancelled:
        """Copy a tier that is here to a folder, from which `pull` takes it on another computer; what is there already is checked and kept."""
        tier = self._present(name)
        with self._alone():
            done = _brought(folder, [(spec, Folder(self.folder)) for spec in tier.models.values()], Watch(report, cancel or Event()))
        return done or Cancelled(here=0, total=tier.size)

    def use(self, name: str) -> None:
        """Choose a tier, which must be here. Raises `InvalidInputError` and `ModelFetchError`."""
        self._present(name)
        try:
            choose_tier(self._root, name)
        except OSError as error:
            raise translated(error, self._root) from error

    def remove(self, name: str) -> int:
        """Delete the models of a tier that no other tier here needs; the bytes that were freed. Raises like `use`; not the tier in use."""
        tier = self.tier(name)
        if name == BUILTIN:
            raise InvalidInputError("The built-in model is part of the program and cannot be removed.")
        if name == self.in_use:
            raise InvalidInputError(f"{name} is in use; choose another tier first: lean-memory models use {BUILTIN}.")
        with self._alone():
            others = {
                spec.model_id for other in self.tiers if other.name != name and self.is_here(other.name) for spec in other.models.values()
            }
            unneeded = [spec for spec in tier.models.values() if spec.model_id not in others]
            freed = sum(self._standing(spec).here for spec in unneeded)
            for spec in unneeded:
                self._delete(spec)
            forget_pull(self._root, name)
        return freed

    def _along(self, tier: TierSpec, folder: Path | None) -> list[tuple[Published, Source]]:
        """The pack, where it is to come with the models of a tier, and from where."""
        offer = self.packages_offered
        if offer is None or not tier.models:
            return []
        if folder is None:
            return [(spec_of(offer), self._release(offer))]
        return [(spec_of(offer), Folder(folder, flat=True))] if (folder / offer.name).is_file() else []

    def _release(self, offer: Offer) -> Source:
        return Release(offer.address, self._patience)

    def _begun(self, offer: Offer) -> int:
        file = file_of(self._root, spec_of(offer))
        return size_of(file) + size_of(part_of(file))

    def _brought_and_unpacked(self, wanted: Sequence[tuple[Published, Source]], watch: Watch) -> Pulled | None:
        """What was done; `None` where it was stopped. A pack is unpacked once all is here."""
        done = _brought(self.folder, wanted, watch)
        packs = [spec for spec, _ in wanted if spec.model_id == PACK]
        if done is None or not packs:
            return done
        try:
            unpack(self._root, packs[0], watch)
        except CancelledError:
            return None
        finally:
            watch.tell()
        return done

    def _delete(self, spec: ModelSpec) -> None:
        folder = model_folder(self.folder, spec)
        try:
            remove_record(folder)
            if folder.exists():
                shutil.rmtree(folder)
            if folder.parent.exists() and not any(folder.parent.iterdir()):
                folder.parent.rmdir()
        except OSError as error:
            raise translated(error, folder) from error

    def _present(self, name: str) -> TierSpec:
        tier = self.tier(name)
        if not tier_installed(self._root, tier):
            raise ModelFetchError(
                f"The models of {name} are not all here. Nothing was changed; fetch them first: lean-memory models pull {name}."
            )
        return tier

    def _standing(self, spec: ModelSpec) -> ModelStanding:
        folder = model_folder(self.folder, spec)
        record = read_record(folder)
        paths = [folder / file.path for file in spec.files]
        whole = [file.path for file in spec.files if file.path in record.files and (folder / file.path).is_file()]
        return ModelStanding(
            spec=spec,
            folder=folder,
            whole=installed(self._root, spec) is not None,
            here=sum(size_of(path) + size_of(part_of(path)) for path in paths),
            vouchers=Counter(record.files[path].voucher for path in whole),
        )

    def _source(self, folder: Path | None) -> Source:
        if folder is None:
            return Hub(self._endpoint, self._patience)
        if not folder.is_dir():
            raise InvalidInputError(f"{folder} is no folder; a bundle is made with: lean-memory models bundle FOLDER.")
        return Folder(folder)

    @contextmanager
    def _alone(self) -> Generator[None]:
        try:
            with alone(self.folder / LOCK_FILE) as ours:
                if not ours:
                    raise ModelFetchError(wording.busy())
                yield
        except OSError as error:
            raise translated(error, self.folder) from error


def _brought(models: Path, wanted: Sequence[tuple[Published, Source]], watch: Watch) -> Pulled | None:
    """What was done; `None` where it was stopped."""
    try:
        return bring(models, wanted, watch)
    except CancelledError:
        return None
    except OSError as error:
        raise translated(error, models) from error
    finally:
        watch.tell()
