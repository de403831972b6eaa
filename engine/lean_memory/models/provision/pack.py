"""The pack of packages that run models, fetched like a model and unpacked once it is whole."""

from __future__ import annotations

import shutil
from pathlib import Path

from lean_memory.errors import InvalidInputError, ModelFetchError
from lean_memory.models import packages
from lean_memory.models.installed import model_folder, models_folder
from lean_memory.models.manifest import ModelFile, Published
from lean_memory.models.offered import Offer
from lean_memory.models.provision.source import translated
from lean_memory.models.provision.watch import Phase, Watch

PACK = "lean-memory/packages"
"""What a pack is called beside the models, on its way."""


def spec_of(offer: Offer) -> Published:
    """What a pull asks for."""
    file = ModelFile(path=offer.name, size=offer.bytes, sha256=offer.sha256)
    return Published(model_id=PACK, revision=offer.version, licence="", files=(file,))


def file_of(root: Path, spec: Published) -> Path:
    """Where a pack lies once it has come."""
    return model_folder(models_folder(root), spec) / spec.files[0].path


def unpack(root: Path, spec: Published, watch: Watch) -> None:
    """Take in a pack that has come, and delete its file. Raises `ModelFetchError`, and `CancelledError`; either way the file stays."""
    file, steps = file_of(root, spec), _Steps(watch, spec.size)
    watch.begin(Phase.UNPACKING, spec.size)
    watch.turn_to(spec.model_id, file.name)
    try:
        packages.take_in(root, file, report=steps.reach)
    except InvalidInputError as error:
        raise ModelFetchError(str(error)) from error
    forget_fetched(root)


def forget_fetched(root: Path) -> bool:
    """Delete what came of packs and was not unpacked, be it an earlier release's; whether there was any. Raises `ModelFetchError`."""
    folder = models_folder(root) / PACK.replace("/", "--")
    if not folder.exists():
        return False
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise translated(error, folder) from error
    return True


class _Steps:
    """Tells a watch how far it is in bytes of the pack; it is known as a part of 1."""

    def __init__(self, watch: Watch, whole: int) -> None:
        self._watch, self._whole, self._done = watch, whole, 0

    def reach(self, part: float) -> None:
        """So much is done."""
        done = round(part * self._whole)
        self._watch.found(done - self._done)
        self._done = done
