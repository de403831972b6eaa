"""What `connect` wrote into whose configuration, so that `disconnect` can take exactly that out again.

One JSON file in the data root, for its owner's eyes only: a record holds the text that was added and the fingerprint of the file after it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lean_memory.private_files import replace_private
from lean_memory_bridge.clients.edits import Edit

LEDGER_FILE = "connections.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One entry of ours in one file.

    `edits` lead from the text before to the text after; `after` is the SHA-256 of the file's bytes after. `made` are the tables that were
    made for the entry, `folders` the folders (innermost first), and `new_file` says that the file itself was made.
    """

    client: str
    file: str
    entry: Mapping[str, object]
    after: str
    edits: Sequence[Edit]
    made: Sequence[Sequence[str]] = ()
    new_file: bool = False
    folders: Sequence[str] = ()


class Ledger:
    """The records of one data root."""

    def __init__(self, root: Path) -> None:
        self._path = root / LEDGER_FILE

    def find(self, client: str, file: Path) -> Record | None:
        """The record of an entry, if `connect` wrote it from this data root."""
        return next((record for record in self._read() if (record.client, record.file) == (client, str(file))), None)

    def put(self, record: Record) -> None:
        """Keep a record in the place of an older one of the same file."""
        self._write([*self._others(record.client, Path(record.file)), record])

    def drop(self, client: str, file: Path) -> None:
        """Forget about a file."""
        records = self._read()
        kept = self._others(client, file)
        if len(kept) != len(records):
            self._write(kept)

    def _others(self, client: str, file: Path) -> list[Record]:
        return [record for record in self._read() if (record.client, record.file) != (client, str(file))]

    def _read(self) -> list[Record]:
        try:
            held = json.loads(self._path.read_bytes())
            return [_record(fields) for fields in held["records"]]
        except FileNotFoundError:
            return []
        except (ValueError, KeyError, TypeError):
            # Without it `disconnect` still finds our entries by what they start; it only no longer knows the exact text around them.
            return []

    def _write(self, records: Sequence[Record]) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_private(self._path, json.dumps({"records": [_fields(record) for record in records]}, indent=1))


def fingerprint(raw: bytes) -> str:
    """What tells one content of a file from another."""
    return hashlib.sha256(raw).hexdigest()


def _fields(record: Record) -> dict[str, object]:
    return {
        "client": record.client,
        "file": record.file,
        "entry": record.entry,
        "after": record.after,
        "edits": [[edit.at, edit.removed, edit.inserted] for edit in record.edits],
        "made": [list(path) for path in record.made],
        "new_file": record.new_file,
        "folders": list(record.folders),
    }


def _record(held: Mapping[str, object]) -> Record:
    edits = cast("list[tuple[int, str, str]]", held["edits"])
    return Record(
        client=str(held["client"]),
        file=str(held["file"]),
        entry=cast("Mapping[str, object]", held["entry"]),
        after=str(held["after"]),
        edits=[Edit(at=at, removed=removed, inserted=inserted) for at, removed, inserted in edits],
        made=cast("list[list[str]]", held["made"]),
        new_file=bool(held["new_file"]),
        folders=cast("list[str]", held["folders"]),
    )
