"""The verbs by which a memory stays its owner's: backups and what comes back from them, taking it out and bringing it in."""

from __future__ import annotations

import datetime as dt
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from lean_memory.arguments import check_count, client_of, flag_of, instant_of, name_of, path_of_argument, word_of, word_or_none
from lean_memory.bundles.bundle_file import errors_in_words, opened_bundle
from lean_memory.bundles.replacing import refuse_to_replace
from lean_memory.bundles.taking_out import write_markdown, write_namespace
from lean_memory.clock import Clock
from lean_memory.custody import Backup, Exported, Imported, Occasion, Restored, Scrubbed, Teller, WouldRestore
from lean_memory.domain import Fact, ForgetResult, Instant, NamespaceStatus
from lean_memory.errors import InvalidInputError, LeanMemoryError, NotFoundError, StorageError, quoted
from lean_memory.maintenance.retention import concerned
from lean_memory.open_namespace import OpenNamespace
from lean_memory.open_namespaces import OpenNamespaces
from lean_memory.retention import MOST_DAYS, Rule, Rules, read_rules, remove_rule, rule_of, write_rule
from lean_memory.settings import Settings
from lean_memory.store import backups as store_backups
from lean_memory.store.bringing_in import Given, bring_in
from lean_memory.store.connection import errors_translated
from lean_memory.store.copying import contents_of
from lean_memory.store.forget_scope import Reach
from lean_memory.store.namespaces import BACKUPS, checked_name, copies_of, listing, path_of
from lean_memory.store.restored_rows import refuse_copy_of_other_rows
from lean_memory.store.restoring import restore_file, restore_one
from lean_memory.store.scrubbing import scrub_backups
from lean_memory.store.tellers import tellers
from lean_memory.store.wording import words_of

_T = TypeVar("_T")
Moment = int | dt.datetime
"""Epoch milliseconds, or an aware datetime."""


class Owning(ABC):
    """What a person does with the memory as a whole."""

    _clock: Clock
    _settings: Settings
    _files: OpenNamespaces

    @abstractmethod
    def namespaces(self) -> list[str]:
        """The names of all namespaces in the data root, sorted."""

    @abstractmethod
    def status(self, namespace: str | None = None) -> list[NamespaceStatus]:
        """Counts and sizes of one namespace, or of all."""

    @abstractmethod
    def _with(self, name: str, do: Callable[[OpenNamespace], _T], *, create: bool = True, resume: bool = True) -> _T:
        """Do something with an open namespace."""

    def backup(
        self, path: str | os.PathLike[str] | None = None, *, namespaces: Iterable[str] | None = None, occasion: str = "asked"
    ) -> Backup:
        """Back up every namespace, or some, while anybody goes on writing; into the new folder `path`, else one of its own in the data root.

        What was acknowledged when this was called is in it, and every copy was read whole. Of several namespaces one that cannot be copied is
        left out and named. `occasion` other than `asked` makes it one of those that `drop_old_backups` may remove. Raises `StorageError`,
        `StorageFullError`; `NotFoundError` where there is nothing to back up.
        """
        to = None if path is None else path_of_argument(path, "path")
        names, left_out = self._everything() if namespaces is None else ([name_of(name) for name in namespaces], ())
        if not names:
            raise (
                StorageError(f"No backup was made. {' '.join(left_out)}")
                if left_out
                else NotFoundError("There is no namespace to back up; nothing was made.")
            )
        with self._files.all_looked_at():
            occurred = _occasion(occasion)
            return store_backups.back_up(self._settings.root, names, now=self._clock(), occasion=occurred, to=to, unusable=left_out)

    def backups(self) -> list[Backup]:
        """The backups in the data root, newest first; of one that cannot be used, why."""
        with self._files.all_looked_at():
            return store_backups.backups_in(self._settings.root)

    def verify_backup(self, path: str | os.PathLike[str]) -> Backup:
        """Read a backup whole, or one file of it, and look over what it holds; `problem` of the answer says why it cannot be used, if it cannot.

        Raises `NotFoundError`.
        """
        with errors_in_words(path_of_argument(path, "path")):
            folder = self._found(path_of_argument(path, "path"))
        try:
            if folder.is_file():
                name, at = restore_file(folder, None, self._settings.root)
                refuse_copy_of_other_rows(folder, name)
                return Backup(path=folder, at=at, occasion="", namespaces=(store_backups.described(folder),))
            backup = store_backups.read_backup(folder)
        except NotFoundError:
            raise
        except LeanMemoryError as error:
            return Backup(path=folder, at=self._clock(), occasion="", problem=str(error))
        try:
            for held in backup.namespaces:
                refuse_copy_of_other_rows(store_backups.check_file(folder, held), held.name)
        except LeanMemoryError as error:
            return replace(backup, problem=str(error))
        return backup

    def drop_old_backups(self) -> list[Path]:
        """Remove what the rules of retention no longer keep of the backups that the program made by itself; gives their folders."""
        return store_backups.drop_old(self._settings.root)

    def scrub_backups(self, namespace: str) -> Scrubbed:
        """Take what was forgotten of a namespace out of the backups in the data root: each that holds it is made again without it.

        Files that are no backups, as the copies made before an older file was brought up to date, are only named in `holding_copies`.
        """
        with self._files.all_looked_at():
            made, left = scrub_backups(self._settings.root, name_of(namespace), settings=self._settings, clock=self._clock)
            done = {str(backup.path) for backup in store_backups.backups_in(self._settings.root)}
            others = [name for name in copies_of(path_of(self._settings.root, namespace)) if str(Path(name).parent) not in done]
        return Scrubbed(backups=tuple(made), left=tuple(left), holding_copies=tuple(others))

    def restore(self, path: str | os.PathLike[str], *, namespace: str | None = None) -> list[Restored]:
        """Bring every namespace of a backup back, or one, as it was then but for what was forgotten since.

        `path` is a backup's folder, its name in the data root, or a single copy of a namespace's file. All that is to come back is read whole first,
        and where any of it is damaged nothing is changed. The present state of each is kept aside as a backup of its own. Raises
        `NotFoundError`, `DamagedFileError`, `ForeignFileError`, `NewerSchemaError`; `LeaseHeldError` during maintenance.
        """
        done: list[Restored] = []
        for file, name, at in self._to_come_back(path, namespace):
            try:
                done.append(self._restored(file, name, at=at))
            except LeanMemoryError as error:
                if not done:
                    raise
                names = ", ".join(f"“{quoted(one.name)}”" for one in done)
                raise StorageError(
                    f"{names} came back, and “{quoted(name)}” did not: {error} The others of the backup stay as they are."
                ) from error
        return done

    def would_restore(self, path: str | os.PathLike[str], *, namespace: str | None = None) -> list[WouldRestore]:
        """What `restore` with the same arguments would put in the place of what, after it was read whole. Changes nothing; raises as it does."""
        there = {one.name: one for one in self.status()}
        told: list[WouldRestore] = []
        for file, name, at in self._to_come_back(path, namespace):
            held, here = contents_of(file), there.get(name)
            refuse_copy_of_other_rows(file, name)
            counts = (0, 0) if here is None else (here.episodes, here.facts)
            told.append(
                WouldRestore(
                    name=name, at=Instant(at), episodes=held.episodes, facts=held.facts, here_episodes=counts[0], here_facts=counts[1]
                )
            )
        return told

    def retention(self) -> Rules:
        """The rules that the person set for how long things are kept; none by default."""
        return read_rules(self._settings.root)

    def set_retention(self, *, namespace: str | None = None, client: str | None = None, days: int, act: str = "put-away") -> Rule:
        """Let what nobody has said for so many days be put away (`put-away`), or the person be asked whether it may be erased (`ask`).

        In one namespace, or of what one client alone has passed on, or both. The nightly run goes by it; nothing is erased by itself.
        """
        rule = self._rule(namespace, client, days, act)
        with errors_translated(self._settings.root):
            write_rule(self._settings.root, rule)
        return rule

    def would_retain(
        self, *, namespace: str | None = None, client: str | None = None, days: int, act: str = "put-away"
    ) -> list[tuple[str, str]]:
        """What a rule with the same arguments would be about today: each namespace and text. Changes nothing.

        Nothing in a namespace that is not there yet, and of a rule for every namespace, nothing in one whose file cannot be used, which
        the nightly run leaves out as well.
        """
        rule = self._rule(namespace, client, days, act)
        names = self.namespaces() if rule.namespace is None else [rule.namespace]
        return [(name, fact.fact_text) for name in names for fact in self._concerned(name, rule)]

    def remove_retention(self, rule_id: str) -> Rule:
        """Let a rule hold no longer; gives it. Raises `NotFoundError`."""
        with errors_translated(self._settings.root):
            return remove_rule(self._settings.root, word_of(rule_id, "rule_id"))

    def forget_all(
        self,
        namespace: str,
        *,
        sentence: str | None = None,
        client: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> ForgetResult:
        """Erase a sentence wherever it stands in its words, or all that a client passed on, or that was said from `since` up to `until`, or both.

        Down to the last byte, and it is not learned again; as `forget` does. A sentence is given alone. Raises `NotFoundError`.
        """
        reach = _reach(sentence, client, since, until)

        def erase(opened: OpenNamespace) -> ForgetResult:
            try:
                return opened.store.forget(reach=reach)
            finally:
                opened.ingest.after_forgetting()

        return self._with(namespace, erase, create=False)

    def would_forget_all(
        self,
        namespace: str,
        *,
        sentence: str | None = None,
        client: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> list[str]:
        """The texts that `forget_all` with the same arguments would erase, to show before asking. Raises as it does."""
        reach = _reach(sentence, client, since, until)
        return self._with(namespace, lambda opened: opened.store.would_forget(reach=reach), create=False)

    def tellers(self, namespace: str) -> list[Teller]:
        """Who has told a namespace how much, and of when; nobody where nothing was ever added to it."""
        try:
            return self._with(namespace, lambda opened: opened.store.look(lambda tx: tellers(tx.connection)), create=False, resume=False)
        except NotFoundError:
            return []

    def export(self, namespace: str, path: str | os.PathLike[str], *, passphrase: str | None = None) -> Exported:
        """Take a namespace out as one file: a bundle with all that is known and when, or, where the name ends in `.md`, a text for people.

        Of one moment, while others write; an earlier export is replaced, any other file, and a text that somebody has changed since, refused with
        `InvalidInputError`. A bundle can be put under a passphrase. Raises `NotFoundError`.
        """
        to, sealed = path_of_argument(path, "path"), word_or_none(passphrase, "passphrase")
        self._refuse_own_place(to)
        if sealed is not None and (not sealed or to.suffix == ".md"):
            raise InvalidInputError(
                "A passphrase goes with a bundle, not with a text for people, and cannot be empty. Nothing was written."
            )
        refuse_to_replace(to)
        if to.suffix == ".md":
            facts = self._with(namespace, lambda opened: opened.store.look(lambda tx: write_markdown(tx, to)), create=False)
            return Exported(namespace=namespace, path=to, facts=facts, is_sealed=False)
        written = self._with(
            namespace,
            lambda opened: opened.store.look(lambda tx: write_namespace(tx, to, at=self._clock(), passphrase=sealed)),
            create=False,
        )
        return Exported(namespace=namespace, path=to, facts=written.counts.get("fact", 0), is_sealed=sealed is not None)

    def import_(
        self, path: str | os.PathLike[str], *, namespace: str | None = None, apply: bool = False, passphrase: str | None = None
    ) -> Imported:
        """Say what a bundle would add and change here and where it contradicts what is here; do it with `apply`.

        Into nothing everything comes as it was. Into a memory that holds something, what is known of a subject in one respect comes if the bundle
        only goes on from what is here; where both went on differently it is told and stays as it is here. What was forgotten here stays
        forgotten, and the state of before is kept aside. `namespace` is another name for it here. Raises `DamagedFileError` and changes nothing.
        """
        source, sealed = path_of_argument(path, "path"), word_or_none(passphrase, "passphrase")
        only, is_meant = word_or_none(namespace, "namespace"), flag_of(apply, "apply")
        with errors_in_words(source), opened_bundle(source, sealed, room=store_backups.room_at(self._settings.root)) as (manifest, records):
            name = manifest.namespace if only is None else only
            given = Given(name=name, schema_version=manifest.schema_version, records=records)
            with self._files.cleared(name), store_backups.at_work(self._settings.root, "importing") as work:
                return bring_in(given, work, root=self._settings.root, settings=self._settings, clock=self._clock, apply=is_meant)

    def _refuse_own_place(self, to: Path) -> None:
        """Beside the memory's own files nothing is written: it might take the place of one, and what is forgotten would stay in it."""
        root = self._settings.root.resolve()
        place = to.resolve()
        if place.parent == root or place.is_relative_to(root / BACKUPS):
            raise InvalidInputError(f"{to} lies among the files of the memory itself; name a place elsewhere. Nothing was written.")

    def _restored(self, source: Path, name: str, *, at: int) -> Restored:
        with self._files.cleared(name), store_backups.at_work(self._settings.root, "restoring") as work:
            return restore_one(source, name, work, at=at, root=self._settings.root, settings=self._settings, clock=self._clock)

    def _to_come_back(self, path: str | os.PathLike[str], namespace: str | None) -> list[tuple[Path, str, int]]:
        """The files that a restore brings back, each read whole, with its namespace and of when it is."""
        given, only = path_of_argument(path, "path"), word_or_none(namespace, "namespace")
        with errors_in_words(given):
            source = self._found(given)
            is_single = source.is_file()
        if is_single:
            name, at = restore_file(source, only, self._settings.root)
            return [(source, name, at)]
        backup = store_backups.read_backup(source)
        held = [one for one in backup.namespaces if only is None or one.name == only]
        if not held:
            what = "no namespace" if only is None else f"no namespace “{quoted(only)}”"
            raise NotFoundError(f"The backup {source} holds {what}; nothing was changed.")
        return [(store_backups.check_file(source, one), one.name, backup.at) for one in held]

    def _concerned(self, name: str, rule: Rule) -> list[Fact]:
        try:
            return list(self._with(name, lambda opened: concerned(opened.store, rule, self._clock()), create=False, resume=False))
        except NotFoundError:
            return []
        except StorageError:
            if rule.namespace is not None:
                raise
            return []

    @staticmethod
    def _rule(namespace: str | None, client: str | None, days: int, act: str) -> Rule:
        check_count(days, "days", most=MOST_DAYS)
        name = None if namespace is None else checked_name(name_of(namespace))
        return rule_of(namespace=name, client=client_of(client), days=days, act=word_of(act, "act"))

    def _everything(self) -> tuple[list[str], tuple[str, ...]]:
        """The names of all namespaces, and a sentence about each whose file cannot be used; no file is opened for more than its name."""
        with self._files.all_looked_at():
            held = listing(self._settings.root)
        unusable = sorted((other.name, other.reason) for other in held.others if other.name is not None)
        return sorted(one.name for one in held.namespaces), tuple(f"{name}: {reason}" for name, reason in unusable)

    def _found(self, path: Path) -> Path:
        """A backup by its path, or by its name alone."""
        here = self._settings.root / BACKUPS / path
        return here if not path.exists() and path.name == str(path) and here.exists() else path


def _reach(sentence: str | None, client: str | None, since: Moment | None, until: Moment | None) -> Reach:
    reach = Reach(
        sentence=word_or_none(sentence, "sentence"),
        client=client_of(client),
        since=None if since is None else instant_of(since, "since"),
        until=None if until is None else instant_of(until, "until"),
    )
    is_wide = reach.client is not None or reach.since is not None or reach.until is not None
    if (reach.sentence is not None) == is_wide:
        raise InvalidInputError("Say what to forget: a sentence, or a client, or since when and until when. Nothing was changed.")
    if reach.sentence is not None and not words_of(reach.sentence).keys:
        raise InvalidInputError("The sentence to forget has no words. Nothing was changed.")
    return reach


def _occasion(value: str) -> Occasion:
    try:
        return Occasion(word_of(value, "occasion"))
    except ValueError as error:
        raise InvalidInputError(f"occasion must be one of {', '.join(Occasion)}.") from error
