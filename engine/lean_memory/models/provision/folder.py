"""Files from a folder that somebody carried here: a bundle of ours, or a copy of the hub's own cache."""

from __future__ import annotations

from pathlib import Path

from lean_memory.errors import ModelFetchError
from lean_memory.models.installed import FileRecord, ModelRecord, Voucher, model_folder, read_record
from lean_memory.models.manifest import Published
from lean_memory.models.provision import wording
from lean_memory.models.provision.source import BLOCK, Part, Wanted, translated
from lean_memory.models.provision.watch import Watch


class Folder:
    """A `Source`. The folder is only read. `flat` where the files lie in it directly."""

    def __init__(self, folder: Path, *, flat: bool = False) -> None:
        self._folder, self._flat = folder, flat

    @property
    def origin(self) -> str:
        """Its path."""
        return str(self._folder)

    def fetch(self, wanted: Wanted, part: Path, watch: Watch) -> FileRecord | None:
        """The file whole in `part`; see `Source`."""
        place = self._place(wanted.spec)
        record = read_record(place)
        original = place / wanted.file.path
        if wanted.file.path not in record.absent and original.is_file():
            return self._copy(original, wanted, record, part, watch)
        if wanted.file.optional:
            return None
        raise ModelFetchError(wording.not_in_folder(wanted.name, self.origin))

    def _place(self, spec: Published) -> Path:
        if self._flat:
            return self._folder
        name = spec.model_id.replace("/", "--")
        places = (
            model_folder(self._folder, spec),
            model_folder(self._folder / "models", spec),
            self._folder / f"models--{name}" / "snapshots" / spec.revision,
        )
        return next((place for place in places if place.is_dir()), places[0])

    def _copy(self, original: Path, wanted: Wanted, record: ModelRecord, part: Path, watch: Watch) -> FileRecord:
        noted = record.files.get(wanted.file.path)
        expected = wanted.sha256 or (noted.sha256 if noted else None)
        voucher = wanted.voucher if wanted.sha256 else noted.voucher if noted else Voucher.FIRST_COPY
        copy = Part(part, watch, original.stat().st_size)
        watch.learned(original.stat().st_size - wanted.file.size)
        for _ in range(2):
            begun = copy.have > 0
            _append(original, copy)
            if expected in (None, copy.sha256) and (wanted.file.size_is_estimate or copy.have == wanted.file.size):
                return FileRecord(size=copy.have, sha256=copy.sha256, voucher=voucher)
            copy.start_over()
            if not begun:
                break
        raise ModelFetchError(wording.damaged_copy(wanted.name, self.origin))


def _append(original: Path, copy: Part) -> None:
    try:
        with original.open("rb") as file:
            file.seek(copy.have)
            while block := file.read(BLOCK):
                copy.keep(block)
    except OSError as error:
        raise translated(error, original) from error
