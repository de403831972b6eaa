"""Taking what was forgotten out of backups: each that holds it is made again without it, beside the old one, which then goes."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

from lean_memory.clock import Clock
from lean_memory.custody import Backup
from lean_memory.errors import LeanMemoryError
from lean_memory.settings import Settings
from lean_memory.store import backups
from lean_memory.store.connection import errors_translated
from lean_memory.store.copying import sync_file, sync_folder
from lean_memory.store.namespaces import BACKUPS, path_of
from lean_memory.store.restoring import look_at, prepared

_END = "-scrubbed"


def scrub_backups(root: Path, name: str, *, settings: Settings, clock: Clock) -> tuple[list[Path], list[str]]:
    """Scrub every backup of a namespace in the data root that holds something which was forgotten since.

    Gives the backups that were made again, by their new folders, and a sentence for each that could not be. A crash leaves the old one
    or both.
    """
    made: list[Path] = []
    left: list[str] = []
    for backup in backups.backups_in(root):
        if all(held.name != name for held in backup.namespaces):
            continue
        try:
            again = _made_again(root, backup, name, settings=settings, clock=clock)
        except LeanMemoryError as error:
            left.append(f"{backup.path}: {error}")
            continue
        made += [] if again is None else [again]
    return made, left


def _made_again(root: Path, backup: Backup, name: str, *, settings: Settings, clock: Clock) -> Path | None:
    """The backup without what was forgotten; nothing where it holds none of that."""
    present = look_at(path_of(root, name))
    graves = [] if present.graves is None else [present.graves]
    (held,) = (one for one in backup.namespaces if one.name == name)
    source = backups.check_file(backup.path, held)
    with backups.at_work(root, "scrubbing") as work, backups.at_work(root, "making") as draft:
        with errors_translated(source):
            shutil.copyfile(source, path_of(work, name))
        if not prepared(work, name, None, graves, settings=settings, clock=clock).texts:
            return None
        with errors_translated(draft):
            shutil.move(path_of(work, name), draft / held.file)
            sync_file(draft / held.file)
            for other in backup.namespaces:
                if other.name != name:
                    _same(backups.check_file(backup.path, other), draft / other.file)
            folder = root / BACKUPS / (backup.path.name.removesuffix(_END) + _END)
            folder = folder if not folder.exists() else folder.with_name(folder.name.removesuffix(_END) + f"{_END}-{draft.name[-4:]}{_END}")
            # What the copy holds is as old as before, though something was written to it today.
            told = replace(backups.described(draft / held.file), next_moment=held.next_moment)
            scrubbed = tuple(told if one.name == name else one for one in backup.namespaces)
            backups.write_manifest(draft, replace(backup, path=folder, namespaces=scrubbed))
            sync_folder(draft)
            draft.rename(folder)
            sync_folder(folder.parent)
            backups.remove(backup.path)
    return folder


def _same(source: Path, target: Path) -> None:
    """The same file under another name; a copy of it where the disk knows no such thing, as many a stick."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
        sync_file(target)
