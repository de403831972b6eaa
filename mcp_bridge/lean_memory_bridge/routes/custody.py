"""`/api/v1`: backups, restoring, export and import, which only the person's own programs may ask for."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from lean_memory.custody import Backup, Exported, Imported, Restored
from lean_memory_bridge.callers import Caller
from lean_memory_bridge.moments import moment_of
from lean_memory_bridge.routes.bringing_in import source_of, whole_path
from lean_memory_bridge.routes.parts import InNamespace, Parts, TheOwner, TheParts
from lean_memory_bridge.schemas import Forgotten, WouldForget
from lean_memory_bridge.schemas.custody import (
    BackupChoice,
    BackupRequest,
    Backups,
    BackupView,
    DownloadRequest,
    ExportedView,
    ExportRequest,
    ForgetAllRequest,
    ImportedView,
    ImportRequest,
    RestoreDone,
    RestoredView,
    RestoreRequest,
    ScrubbedView,
    ScrubRequest,
    Tellers,
    TellerView,
    WouldRestore,
    WouldRestoreView,
)
from lean_memory_bridge.uploads import read_once
from lean_memory_bridge.verbs import Asked
from lean_memory_bridge.views import forgotten_view

router = APIRouter(prefix="/api/v1", tags=["custody"])
T = TypeVar("T")


@router.post("/backup")
async def backup(asked: BackupRequest, parts: TheParts, owner: TheOwner) -> BackupView:
    """Copy every namespace, or some, while everybody goes on; every copy is read whole before this answers."""
    to = None if asked.path is None else whole_path(asked.path)
    return _backup(await done(parts, owner, "backup", None, lambda: parts.verbs.memory.backup(to, namespaces=asked.namespaces)))


@router.get("/backups")
async def backups(parts: TheParts, owner: TheOwner) -> Backups:
    """The backups in the data folder."""
    found = await parts.verbs.read(owner, "backups", parts.verbs.memory.backups)
    return Backups(backups=tuple(map(_backup, found)))


@router.post("/backups/verify")
async def verify(asked: BackupChoice, parts: TheParts, owner: TheOwner) -> BackupView:
    """Read a backup whole; its `problem` says why it cannot be restored, if it cannot."""
    source = _backup_path(asked.backup)
    return _backup(await parts.verbs.read(owner, "verify-backup", lambda: parts.verbs.memory.verify_backup(source)))


@router.post("/backups/scrub")
async def scrub(asked: ScrubRequest, parts: TheParts, owner: TheOwner) -> ScrubbedView:
    """Make those backups again without it that hold what was forgotten of a namespace since."""
    found = await done(parts, owner, "scrub-backups", asked.namespace, lambda: parts.verbs.memory.scrub_backups(asked.namespace))
    return ScrubbedView(backups=tuple(map(str, found.backups)), left=found.left, holding_copies=found.holding_copies)


@router.post("/restore/preview")
async def would_restore(asked: BackupChoice, parts: TheParts, owner: TheOwner) -> WouldRestore:
    """What a restore would put in the place of what; the backup is read whole. Changes nothing."""
    source = _backup_path(asked.backup)
    found = await parts.verbs.read(owner, "would-restore", lambda: parts.verbs.memory.would_restore(source, namespace=asked.namespace))
    return WouldRestore(namespaces=tuple(map(WouldRestoreView.model_validate, found)))


@router.post("/restore")
async def restore(asked: RestoreRequest, parts: TheParts, owner: TheOwner) -> RestoreDone:
    """Bring a backup back, but for what was forgotten since; the present state is kept aside."""
    source = _backup_path(asked.backup)
    found = await done(parts, owner, "restore", asked.namespace, lambda: parts.verbs.memory.restore(source, namespace=asked.namespace))
    parts.verbs.changed()
    return RestoreDone(restored=tuple(map(_restored, found)))


@router.post("/export")
async def export(asked: ExportRequest, parts: TheParts, owner: TheOwner) -> ExportedView:
    """Write a namespace to one file on this computer."""
    to = whole_path(asked.path)
    memory = parts.verbs.memory
    return _exported(await parts.verbs.read(owner, "export", lambda: memory.export(asked.namespace, to, passphrase=asked.passphrase)))


@router.post("/export/download", response_class=StreamingResponse, responses={200: {"content": {"application/octet-stream": {}}}})
async def download(asked: DownloadRequest, parts: TheParts, owner: TheOwner) -> StreamingResponse:
    """A namespace as one file: a bundle for another memory, or a text for people. Nothing of it stays behind."""
    to, memory = parts.uploads.passing(f".{asked.form}"), parts.verbs.memory
    try:
        await parts.verbs.read(owner, "export", lambda: memory.export(asked.namespace, to, passphrase=asked.passphrase))
    except BaseException:
        to.unlink(missing_ok=True)
        raise
    size, pieces = await asyncio.to_thread(read_once, to)
    headers = {"cache-control": "no-store", "content-length": str(size)}
    return StreamingResponse(pieces, media_type="application/octet-stream", headers=headers)


@router.post("/import")
async def bring_in(asked: ImportRequest, parts: TheParts, owner: TheOwner) -> ImportedView:
    """Say what a bundle would add and change and where it contradicts what is here; with `apply`, do it."""
    source, memory = source_of(parts, asked.path, asked.upload), parts.verbs.memory

    def work() -> Imported:
        return memory.import_(source, namespace=asked.namespace, apply=asked.apply, passphrase=asked.passphrase)

    with parts.uploads.reading(asked.upload):
        told = await done(parts, owner, "import", asked.namespace, work)
    parts.verbs.changed()
    if asked.apply and asked.upload is not None:
        await asyncio.to_thread(parts.uploads.remove, asked.upload)
    return _imported(told)


@router.get("/tellers")
async def tellers(parts: TheParts, owner: TheOwner, namespace: InNamespace = None) -> Tellers:
    """Who has told a namespace how much, and of when."""
    where = namespace or owner.namespace
    found = await parts.verbs.read(owner, "tellers", lambda: parts.verbs.memory.tellers(where))
    return Tellers(namespace=where, tellers=tuple(map(TellerView.model_validate, found)))


@router.post("/would-forget-all")
async def would_forget_all(asked: ForgetAllRequest, parts: TheParts, owner: TheOwner) -> WouldForget:
    """The texts that `forget-all` would erase, to show before asking. Changes nothing."""
    memory, scope = parts.verbs.memory, _scope(asked)
    texts = await parts.verbs.read(owner, "would-forget", lambda: memory.would_forget_all(asked.namespace, **scope))
    return WouldForget(namespace=asked.namespace, texts=tuple(texts))


@router.post("/forget-all")
async def forget_all(asked: ForgetAllRequest, parts: TheParts, owner: TheOwner) -> Forgotten:
    """Erase a sentence, all of one client, or all between two dates."""
    memory, scope = parts.verbs.memory, _scope(asked)
    result = await done(parts, owner, "forget", asked.namespace, lambda: memory.forget_all(asked.namespace, **scope))
    parts.verbs.repeats.forget()
    parts.verbs.changed()
    return forgotten_view(asked.namespace, result)


class _Scope(TypedDict):
    sentence: str | None
    client: str | None
    since: int | dt.datetime | None
    until: int | dt.datetime | None


def _scope(asked: ForgetAllRequest) -> _Scope:
    since, until = moment_of(asked.since, "since"), moment_of(asked.until, "until")
    return _Scope(sentence=asked.sentence, client=asked.client, since=since, until=until)


async def done(parts: Parts, owner: Caller, verb: str, namespace: str | None, work: Callable[[], T]) -> T:
    """What the person's own program does to the memory as a whole, in its turn; every window looks again."""
    call = Asked(caller=owner, verb=verb, namespace=namespace, writes=True)
    return await parts.verbs.done(call, work, lambda _: (0, None))


def _backup_path(given: str) -> Path:
    """A backup by its name in the data folder, or by a whole path. Raises `InvalidInputError`."""
    return Path(given) if Path(given).name == given else whole_path(given)


def _backup(one: Backup) -> BackupView:
    return BackupView.model_validate({**asdict(one), "path": str(one.path), "bytes": one.bytes})


def _restored(one: Restored) -> RestoredView:
    return RestoredView.model_validate(_with_paths(asdict(one)))


def _exported(one: Exported) -> ExportedView:
    return ExportedView.model_validate(_with_paths(asdict(one)))


def _imported(one: Imported) -> ImportedView:
    return ImportedView.model_validate(_with_paths(asdict(one)))


def _with_paths(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in fields.items()}
