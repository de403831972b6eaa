"""Putting our entry into a client's configuration, taking it out again, and telling how things stand."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import cast

from lean_memory_bridge.clients.catalogue import Client, Dialect
from lean_memory_bridge.clients.config_file import ConfigFile, ConfigFileError, backed_up, read_config, refuse_read_only, remove, replace
from lean_memory_bridge.clients.edits import applied, inverted
from lean_memory_bridge.clients.entry import SERVER_NAME, Launch, entries_of, entry_of, is_as_written, is_ours
from lean_memory_bridge.clients.json_edit import Addition
from lean_memory_bridge.clients.ledger import Ledger, Record, fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """The entry is in the file. `warning` is what may keep the client from reading it; `backup` is `None` where the file is new."""

    file: Path
    backup: Path | None
    warning: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """The file is as it should be already and was not touched."""

    file: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnected:
    """The entry is out of the file. `edited` says that the entry was no longer as we wrote it; the backup holds it."""

    file: Path
    backup: Path | None
    edited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The file was not touched, and why."""

    file: Path
    reason: str


class Standing(Enum):
    """How our entry stands in a file."""

    ABSENT = "not connected"
    CONNECTED = "connected"
    OUTDATED = "outdated"
    EDITED = "edited"
    FOREIGN = "foreign"
    UNREADABLE = "unreadable"


class Connector:
    """Connects clients to the data of one root, and disconnects them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def standing(self, client: Client, file: Path, launch: Launch) -> Standing:
        """How things stand in `file`; reads only."""
        try:
            config = read_config(file)
            present = _found(client, config)
        except ConfigFileError:
            return Standing.UNREADABLE
        return self._judged(client, config, present, launch)

    def connect(
        self, client: Client, file: Path, launch: Launch, moment: datetime, *, replacing: bool = False
    ) -> Connected | Unchanged | Refused:
        """Put our entry in; an entry of the same name that the person wrote or edited gives way only when `replacing`."""
        try:
            config = read_config(file)
            present = _found(client, config)
            match self._judged(client, config, present, launch):
                case Standing.CONNECTED:
                    return Unchanged(file=config.path)
                case Standing.EDITED | Standing.FOREIGN if not replacing:
                    return Refused(file=config.path, reason=_not_ours_alone(client, config.path, present))
                case standing:
                    return self._put_in(client, config, launch, moment, standing)
        except ConfigFileError as error:
            return Refused(file=file, reason=str(error))

    def disconnect(self, client: Client, file: Path, moment: datetime) -> Disconnected | Unchanged | Refused:
        """Take our entry out, and whatever `connect` made for it; a file that is as `connect` left it becomes what it was before."""
        try:
            config = read_config(file)
            record = self._ledger.find(client.id, config.path)
            present = _found(client, config)
            if present is None:
                self._ledger.drop(client.id, config.path)
                return Unchanged(file=config.path)
            if not is_ours(client, present):
                return Refused(
                    file=config.path, reason=f"The entry {SERVER_NAME!r} in {config.path} starts another program; it was left alone."
                )
            return self._take_out(client, config, record, present, moment)
        except ConfigFileError as error:
            return Refused(file=file, reason=str(error))

    def _judged(self, client: Client, config: ConfigFile, present: object, launch: Launch) -> Standing:
        if present is None:
            return Standing.ABSENT
        if present == entry_of(client, launch):
            return Standing.CONNECTED
        if not is_ours(client, present):
            return Standing.FOREIGN
        record = self._ledger.find(client.id, config.path)
        return Standing.OUTDATED if _as_written(client, present, record) else Standing.EDITED

    def _put_in(self, client: Client, config: ConfigFile, launch: Launch, moment: datetime, standing: Standing) -> Connected:
        refuse_read_only(config)
        entry = entry_of(client, launch)
        ours = standing in (Standing.OUTDATED, Standing.EDITED)
        record = self._ledger.find(client.id, config.path) if ours else None
        text = _without(client, config, record) if ours else config.text
        addition = _addition(client, config, text, entry)
        after = config.encoded(_checked(client, config, applied(text, addition.edits), {SERVER_NAME: entry}))
        new_file = config.raw is None if record is None else record.new_file
        made = Record(
            client=client.id,
            file=str(config.path),
            entry=entry,
            after=fingerprint(after),
            edits=addition.edits,
            made=addition.made,
            new_file=new_file,
            folders=[] if record is None else record.folders,
        )
        backup = backed_up(config, moment)
        self._ledger.put(made)
        folders = replace(config, after)
        if folders:
            self._ledger.put(dataclasses.replace(made, folders=[str(folder) for folder in folders]))
        return Connected(file=config.path, backup=backup, warning=_warning(client, config))

    def _take_out(self, client: Client, config: ConfigFile, record: Record | None, present: object, moment: datetime) -> Disconnected:
        refuse_read_only(config)
        before = _without(client, config, record)
        backup = None
        if record is not None and record.new_file and entries_of(client).is_empty(before):
            if record.after != fingerprint(config.raw or b""):
                backup = backed_up(config, moment)
            remove(config, [Path(folder) for folder in record.folders])
        else:
            backup = backed_up(config, moment)
            replace(config, config.encoded(before))
        self._ledger.drop(client.id, config.path)
        return Disconnected(file=config.path, backup=backup, edited=not _as_written(client, present, record))


def _as_written(client: Client, present: object, record: Record | None) -> bool:
    """Whether an entry of ours is still as `connect` wrote it; without a record it was written from another data root, or the record is lost."""
    return is_as_written(client, present) if record is None else record.entry == present


def _found(client: Client, config: ConfigFile) -> object | None:
    if config.raw is None:
        return None
    try:
        return entries_of(client).find(config.text, SERVER_NAME)
    except ValueError as error:
        raise ConfigFileError(f"{config.path} cannot be edited ({error}); it was not touched. Mend it and try again.") from error


def _addition(client: Client, config: ConfigFile, text: str, entry: dict[str, object]) -> Addition:
    entries = entries_of(client)
    try:
        if entries.find(text, SERVER_NAME) is None:
            return entries.add(text, SERVER_NAME, entry)
        return Addition(edits=entries.replace(text, SERVER_NAME, entry), made=())
    except ValueError as error:
        raise ConfigFileError(f"{config.path} cannot be edited ({error}); it was not touched. Mend it and try again.") from error


def _without(client: Client, config: ConfigFile, record: Record | None) -> str:
    """The text before we came: exactly, where nobody has touched the file since, else the text of now without our entry."""
    if record is not None and record.after == fingerprint(config.raw or b""):
        return applied(config.text, inverted(record.edits))
    try:
        text = entries_of(client).remove(config.text, SERVER_NAME, [] if record is None else record.made)
    except ValueError as error:
        raise ConfigFileError(f"{config.path} cannot be edited ({error}); it was not touched. Take the entry out by hand.") from error
    return _checked(client, config, text, {})


def _checked(client: Client, config: ConfigFile, text: str, expected: dict[str, object]) -> str:
    """`text`, if it says what `config` says with our entry as `expected`. Whatever an edit gets wrong, no file is harmed by it."""
    entries = entries_of(client)
    try:
        before, after = entries.tree(config.text), entries.tree(text)
    except ValueError as error:
        raise ConfigFileError(f"{config.path} cannot be edited safely ({error}); it was not touched.") from error
    if _rest(before, client.path) != _rest(after, client.path) or (entries.find(text, SERVER_NAME) != expected.get(SERVER_NAME)):
        raise ConfigFileError(f"{config.path} is written in a way that cannot be edited safely; it was not touched.")
    return text


def _rest(tree: object, path: Sequence[str]) -> object:
    """Everything but our entry, and but the tables on the way to it where nothing else is in them."""
    if not isinstance(tree, dict):
        return tree
    table = cast("dict[str, object]", tree)
    if not path:
        return {key: value for key, value in table.items() if key != SERVER_NAME}
    inner = _rest(table.get(path[0], {}), path[1:])
    return {**{key: value for key, value in table.items() if key != path[0]}, **({path[0]: inner} if inner else {})}


def _warning(client: Client, config: ConfigFile) -> str | None:
    if client.dialect is not Dialect.JSON or config.raw is None:
        return None
    obstacle = entries_of(client).plain(config.text)
    return None if obstacle is None else f"{client.name} reads plain JSON and may stumble over {obstacle} of {config.path}."


def _not_ours_alone(client: Client, file: Path, present: object) -> str:
    if is_ours(client, present):
        return f"The entry {SERVER_NAME!r} in {file} was edited by hand; it was left alone. --replace writes it anew."
    return f"{file} has an entry {SERVER_NAME!r} that starts another program; it was left alone. --replace puts ours in its place."
