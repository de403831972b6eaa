"""Backups, restoring, export and import as typed calls of the service. Loads no engine code."""

from __future__ import annotations

from lean_memory_bridge.client import ServiceClient
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


class CustodyClient(ServiceClient):
    """A `ServiceClient` that also keeps copies. All paths are whole ones on this computer."""

    def backup(self, path: str | None = None, *, namespaces: tuple[str, ...] | None = None) -> BackupView:
        """Back up every namespace, or some."""
        return self._post("backup", BackupRequest(path=path, namespaces=namespaces), BackupView)

    def backups(self) -> tuple[BackupView, ...]:
        """The backups in the data folder, newest first."""
        return self._get("backups", Backups).backups

    def restore(self, backup: str, *, namespace: str | None = None) -> tuple[RestoredView, ...]:
        """Bring a backup back. The person must have said so."""
        return self._post("restore", RestoreRequest(backup=backup, namespace=namespace, confirmed=True), RestoreDone).restored

    def export(self, namespace: str, path: str, *, passphrase: str | None = None) -> ExportedView:
        """Write a namespace to one file."""
        return self._post("export", ExportRequest(namespace=namespace, path=path, passphrase=passphrase), ExportedView)

    def import_(self, path: str, *, namespace: str | None = None, apply: bool = False, passphrase: str | None = None) -> ImportedView:
        """Say what a bundle would do; do it with `apply`."""
        asked = ImportRequest(path=path, namespace=namespace, apply=apply, passphrase=passphrase)
        return self._post("import", asked, ImportedView)

    def would_forget_all(self, asked: ForgetAllRequest) -> tuple[str, ...]:
        """The texts that `forget_all` would erase."""
        return self._post("would-forget-all", asked, WouldForget, again=True).texts

    def forget_all(self, asked: ForgetAllRequest) -> Forgotten:
        """Erase a sentence, all of one client, or all between two dates. The person must have said so."""
        return self._post("forget-all", asked, Forgotten)
