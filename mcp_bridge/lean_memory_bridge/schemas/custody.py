"""Backups, what comes back from them, and bundles, as the service speaks of them. Only the person's own programs ask for them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from lean_memory_bridge.schemas.base import Answer, MomentText, NamespaceName, Request

PathText = Annotated[str, Field(min_length=1, max_length=4000)]
"""A whole path on this computer."""
Passphrase = Annotated[str, Field(min_length=1, max_length=1000)]


class _Seen(Answer):
    """Made from the engine's value of the same fields."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True, hide_input_in_errors=True, from_attributes=True)


class BackupRequest(Request):
    """Back up every namespace, or some."""

    path: PathText | None = None
    """A new folder; one in the data folder where it is left out."""
    namespaces: tuple[NamespaceName, ...] | None = None


class BackedUpView(_Seen):
    """One namespace in a backup."""

    name: str
    file: str
    bytes: int
    sha256: str
    schema_version: int
    episodes: int
    """Texts that were acknowledged and are in it."""
    facts: int


class BackupView(_Seen):
    """A backup."""

    path: str
    at: int
    occasion: str
    """`asked`, `nightly`, `before-restore` or `before-import`."""
    bytes: int
    namespaces: tuple[BackedUpView, ...]
    left_out: tuple[str, ...]
    """What could not be copied, a sentence each."""
    problem: str
    """Why it cannot be restored; empty where it can."""


class Backups(Answer):
    """The backups in the data folder, newest first."""

    backups: tuple[BackupView, ...]


class RestoreRequest(Request):
    """Bring a backup back. The person must have said so."""

    backup: PathText
    """Its folder, its name in the data folder, or one file of it."""
    namespace: NamespaceName | None = None
    """The only namespace that is to come back."""
    confirmed: Literal[True]
    """That the person knows that what these namespaces hold now is replaced."""


class RestoredView(_Seen):
    """One namespace that came back."""

    name: str
    at: int
    """When the backup was made."""
    episodes: int
    facts: int
    kept_aside: str | None
    """Where its state of before is kept."""
    scrubbed: int
    """Facts that did not come back, because they had been forgotten since."""
    notes: tuple[str, ...]


class RestoreDone(Answer):
    """What came back."""

    restored: tuple[RestoredView, ...]


class ExportRequest(Request):
    """Write a namespace to one file on this computer: a bundle, or a text for people where the name ends in `.md`."""

    namespace: NamespaceName
    path: PathText
    passphrase: Passphrase | None = None


class ExportedView(_Seen):
    """What was written."""

    namespace: str
    path: str
    facts: int
    is_sealed: bool


class ImportRequest(Request):
    """Bring a bundle in; without `apply`, say what that would do."""

    path: PathText
    namespace: NamespaceName | None = None
    """Another name for it here."""
    apply: bool = False
    passphrase: Passphrase | None = None


class PartView(_Seen):
    """What is done with what is known of one subject in one respect."""

    fate: Literal["add", "change", "same", "conflict", "forgotten"]
    subject: str
    predicate: str
    here: tuple[str, ...]
    there: tuple[str, ...]


class ImportedView(_Seen):
    """What an import would do, or did."""

    namespace: str
    is_applied: bool
    episodes: int
    """Texts that are new here."""
    parts: tuple[PartView, ...]
    same: int
    forgotten: int
    """Facts that were left out because they had been forgotten here."""
    kept_aside: str | None
    notes: tuple[str, ...]


class ForgetAllRequest(Request):
    """Forget a sentence, given alone, or all that a client passed on, or all that was said from `since` up to `until`, or both."""

    namespace: NamespaceName
    sentence: Annotated[str, Field(min_length=1, max_length=100_000)] | None = None
    client: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    since: MomentText | None = None
    until: MomentText | None = None
