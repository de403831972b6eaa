"""`/api/v1`: backups, restoring, export and import, which only the person's own programs may ask for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from fastapi import APIRouter

from lean_memory.custody import Backup, Exported, Imported, Restored
from lean_memory.errors import InvalidInputError
from lean_memory_bridge.callers import Caller
from lean_memory_bridge.moments import moment_of
from lean_memory_bridge.routes.parts import Parts, TheOwner, TheParts
from lean_memory_bridge.schemas import Forgotten, WouldForget
from lean_memory_bridge.schemas.custody import (
    BackupRequest,
    Backups,
    BackupView,
    ExportedView,
    ExportRequest,
    ForgetAllRequest,
    ImportedView,
    ImportRequest,
    RestoreDone,
    RestoredView,
    RestoreRequest,
)
from lean_memory_bridge.verbs import Asked
from lean_memory_bridge.views import forgotten_view

router = APIRouter(prefix="/api/v1", tags=["custody"])
T = TypeVar("T")


@router.post("/backup")
async def backup(asked: BackupRequest, parts: TheParts, owner: TheOwner) -> BackupView:
    """Copy every namespace, or some, while everybody goes on; every copy is read whole before this answers."""
    to = None if asked.path is None else _whole(asked.path)
    return _backup(await _done(parts, owner, "backup", None, lambda: parts.verbs.memory.backup(to, namespaces=asked.namespaces)))


@router.get("/backups")
async def backups(parts: TheParts, owner: TheOwner) -> Backups:
    """The backups in the data folder."""
    found = await parts.verbs.read(owner, "backups", parts.verbs.memory.backups)
    return Backups(backups=tuple(map(_backup, found)))


@router.post("/restore")
async def restore(asked: RestoreRequest, parts: TheParts, owner: TheOwner) -> RestoreDone:
    """Bring a backup back, but for what was forgotten since; the present state is kept aside."""
    source = Path(asked.backup) if Path(asked.backup).name == asked.backup else _whole(asked.backup)
    found = await _done(parts, owner, "restore", asked.namespace, lambda: parts.verbs.memory.restore(source, namespace=asked.namespace))
    parts.verbs.changed()
    return RestoreDone(restored=tuple(map(_restored, found)))


@router.post("/export")
async def export(asked: ExportRequest, parts: TheParts, owner: TheOwner) -> ExportedView:
    """Write a namespace to one file on this computer."""
    to = _whole(asked.path)
    memory = parts.verbs.memory
    return _exported(await parts.verbs.read(owner, "export", lambda: memory.export(asked.namespace, to, passphrase=asked.passphrase)))


@router.post("/import")
async def bring_in(asked: ImportRequest, parts: TheParts, owner: TheOwner) -> ImportedView:
    """Say what a bundle would add and change and where it contradicts what is here; with `apply`, do it."""
    source, memory = _whole(asked.path), parts.verbs.memory

    def work() -> Imported:
        return memory.import_(source, namespace=asked.namespace, apply=asked.apply, passphrase=asked.passphrase)

    told = await _done(parts, owner, "import", asked.namespace, work)
    parts.verbs.changed()
    return _imported(told)


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
    result = await _done(parts, owner, "forget", asked.namespace, lambda: memory.forget_all(asked.namespace, **scope))
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


async def _done(parts: Parts, owner: Caller, verb: str, namespace: str | None, work: Callable[[], T]) -> T:
    call = Asked(caller=owner, verb=verb, namespace=namespace, writes=True)
    return await parts.verbs.done(call, work, lambda _: (0, None))


def _whole(path: str) -> Path:
    """A path that means the same to whoever asks and to the service."""
    if not Path(path).is_absolute():
        raise InvalidInputError(f"{path[:200]} is not a whole path, so the service cannot know which folder is meant. Begin with the root.")
    return Path(path)


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
