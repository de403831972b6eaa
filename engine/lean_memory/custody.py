"""What a person is told of copies of the memory: backups, what came back from one, and bundles that are taken out and brought in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lean_memory.domain import Instant


class Occasion(StrEnum):
    """Why a backup was made; how many are kept of each kind is data (`store/backups.toml`)."""

    ASKED = "asked"
    NIGHTLY = "nightly"
    BEFORE_RESTORE = "before-restore"
    BEFORE_IMPORT = "before-import"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """One namespace in a backup."""

    name: str
    file: str
    bytes: int
    sha256: str
    schema_version: int
    episodes: int
    """Texts that were acknowledged and are in it."""
    facts: int
    next_moment: Instant
    """Everything in it was recorded before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup: a folder with a file for each namespace and a manifest, or why it cannot be used."""

    path: Path
    at: Instant
    occasion: str
    namespaces: tuple[BackedUp, ...] = ()
    left_out: tuple[str, ...] = ()
    """What could not be copied, a sentence each."""
    problem: str = ""
    """Why it cannot be restored, where that is so."""

    @property
    def bytes(self) -> int:
        """The size of its files."""
        return sum(one.bytes for one in self.namespaces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """One namespace that came back."""

    name: str
    at: Instant
    """When the backup was made that it came from."""
    episodes: int
    facts: int
    kept_aside: Path | None
    """Where its state of before is kept; `None` where there was none."""
    scrubbed: int
    """Facts that were not brought back, because they had been forgotten since."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WouldRestore:
    """One namespace that would come back, beside what is there now."""

    name: str
    at: Instant
    """When the backup was made that it would come from."""
    episodes: int
    facts: int
    here_episodes: int
    here_facts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """What became of the backups that held something forgotten."""

    backups: tuple[Path, ...]
    """Those that were made again without it, where they are now."""
    left: tuple[str, ...]
    """Why others could not be, a sentence each."""
    holding_copies: tuple[str, ...]
    """Other files that may hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Teller:
    """A client, and the texts that it has passed on; `None` stands for those that came without a name."""

    client: str | None
    texts: int
    since: Instant
    """When the earliest of them was said,"""
    until: Instant
    """and the latest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was taken out."""

    namespace: str
    path: Path
    facts: int
    is_sealed: bool


class Fate(StrEnum):
    """What an import does with a part of a bundle."""

    ADD = "add"
    CHANGE = "change"
    """The bundle knows more of it than the memory does, and nothing that contradicts what is here."""
    SAME = "same"
    """It is here already, as it is or with more."""
    CONFLICT = "conflict"
    """Both sides went on differently; what is here stays."""
    FORGOTTEN = "forgotten"
    """It was forgotten here, and is not brought back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is planned for what is known of one subject in one respect."""

    fate: Fate
    subject: str
    predicate: str
    here: tuple[str, ...]
    """The sentences of the facts that are here."""
    there: tuple[str, ...]
    """And of those in the bundle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import would do, or did."""

    namespace: str
    is_applied: bool
    episodes: int
    """Texts that are new here."""
    parts: tuple[Part, ...]
    """What is added, changed, or in conflict, one part for each subject and predicate; what is the same is only counted."""
    same: int
    forgotten: int
    """Facts that were left out because they had been forgotten here."""
    kept_aside: Path | None = None
    notes: tuple[str, ...] = ()

    def of(self, fate: Fate) -> tuple[Part, ...]:
        """The parts that meet one fate."""
        return tuple(part for part in self.parts if part.fate is fate)
