"""Backups, what comes back from them, and bundles, as the service speaks of them. Only the person's own programs ask for them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from lean_memory_bridge.schemas.base import Answer, MomentText, NamespaceName, Request

PathText = Annotated[str, Field(min_length=1, max_length=4000)]
"""A whole path on this computer."""
KindName = Literal["lean-memory", "chatgpt", "claude", "mem0", "basic-memory", "mcp-memory", "text"]
UploadId = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
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


class BackupChoice(Request):
    """One backup."""

    backup: PathText
    """Its folder, its name in the data folder, or one file of it."""
    namespace: NamespaceName | None = None
    """The only namespace of it that is meant."""


class WouldRestoreView(_Seen):
    """One namespace that would come back, beside what is there now."""

    name: str
    at: int
    """When the backup was made."""
    episodes: int
    facts: int
    here_episodes: int
    here_facts: int


class WouldRestore(Answer):
    """What a restore would put in the place of what. All of it was read whole."""

    namespaces: tuple[WouldRestoreView, ...]


class ScrubRequest(Request):
    """Take what was forgotten of a namespace out of the backups, too."""

    namespace: NamespaceName


class ScrubbedView(_Seen):
    """What became of the backups that held something forgotten."""

    backups: tuple[str, ...]
    """Those that were made again without it."""
    left: tuple[str, ...]
    """Why others could not be, a sentence each."""
    holding_copies: tuple[str, ...]
    """Other files that may hold it."""


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


class DownloadRequest(Request):
    """Take a namespace out as one file that the answer holds."""

    namespace: NamespaceName
    form: Literal["leanmem", "md"] = "leanmem"
    """A bundle for another memory, or a text for people."""
    passphrase: Passphrase | None = None
    """To put a bundle under."""


class ExportedView(_Seen):
    """What was written."""

    namespace: str
    path: str
    facts: int
    is_sealed: bool


class _Source(Request):
    """Something to read: a file or a folder of this computer by its whole path, or what was uploaded."""

    path: PathText | None = None
    upload: UploadId | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.path is None) == (self.upload is None):
            raise ValueError("needs either `path` or `upload`, and not both")
        return self


class ImportRequest(_Source):
    """Bring a bundle in; without `apply`, say what that would do."""

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


class Tellers(Answer):
    """Who has told a namespace something."""

    namespace: str
    tellers: tuple[TellerView, ...]
    """Whoever told the most first."""


class TellerView(_Seen):
    """A client and the texts that it has passed on."""

    client: str | None
    """Null stands for those that came without a name."""
    texts: int
    since: int
    """When the earliest of them was said,"""
    until: int
    """and the latest."""


class Upload(Answer):
    """Files that a page has sent, which the service keeps until they were brought in, or for a day."""

    id: str
    bytes: int
    """What has come of all of them."""
    files: int


class BringInRequest(_Source):
    """Bring in what somebody has elsewhere; without `apply`, say what that would do."""

    kind: KindName | None = None
    """What it is; without it the contents tell."""
    namespace: NamespaceName | None = None
    apply: bool = False


class LeftOutView(_Seen):
    """What was not brought in, for one reason."""

    reason: str
    count: int
    places: tuple[str, ...]


class BroughtInView(_Seen):
    """What bringing something in would do, or did."""

    kind: str
    state: Literal["preview", "done", "stopped"]
    namespaces: tuple[str, ...]
    texts: int
    known: int
    """Texts that were brought in before."""
    added: int
    facts: int
    superseded: int
    forgotten: int
    """Statements that were left out because they had been forgotten here."""
    redacted: tuple[str, ...]
    since: int | None
    until: int | None
    left_out: tuple[LeftOutView, ...]
    conflicts: tuple[PartView, ...]
    samples: tuple[str, ...]
    notes: tuple[str, ...]
    reached: str
    """Where it stopped or broke off: a file, and how much of it was read. Empty where it came to the end."""


class BringInJob(Answer):
    """How something that is brought in stands."""

    id: str
    state: Literal["running", "done", "stopped", "failed"]
    apply: bool
    """Whether it is brought in, and not only looked at."""
    path: str | None
    """What it reads, by its path or as an upload, and into which namespace: what to ask for again to go on where it ended. An upload that is gone is null."""
    upload: str | None
    namespace: str | None
    progress: float | None
    """0 to 1; null while nobody can tell."""
    report: BroughtInView | None
    """Once it has ended; of one that failed, what it brought in until then, and null where that was nothing."""
    sentence: str
    """Why it failed; empty where it did not."""


class BringInJobs(Answer):
    """What was brought in since the service began, newest first, and what waits for it in the data folder."""

    jobs: tuple[BringInJob, ...]
    older: tuple[str, ...]
    """Files of the older lean-memory in the data folder, which `path` takes."""
