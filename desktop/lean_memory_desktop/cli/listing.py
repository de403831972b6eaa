"""`lean-memory namespaces` and `status`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from lean_memory_desktop.cli.console import printable, say, table, write_json
from lean_memory_desktop.cli.json_form import status_form
from lean_memory_desktop.cli.opening import check_root, data_root, known_memory, open_files, open_memory
from lean_memory_desktop.cli.options import Exit, Options

if TYPE_CHECKING:
    from lean_memory.domain import NamespaceStatus


def namespaces(options: Options) -> int:
    """List the namespaces by their exact names."""
    check_root(options)
    with open_memory(options) as memory, open_files(options) as files:
        names = memory.namespaces()
        # Counting what every namespace holds takes long, so it is asked for only where a file may hide one.
        told = memory.status() if files.other_files() else []
    hidden = [entry for entry in told if entry.name not in names and entry.problems]
    for entry in hidden:
        print(printable(f"The namespace {entry.name!r} is there and cannot be used: {' '.join(entry.problems)}"), file=sys.stderr)
    if options.json:
        write_json({"root": str(data_root(options)), "namespaces": names})
    else:
        for name in names:
            say(name)
        if not names and not hidden:
            _say_empty(options)
    return Exit.FAILED if hidden else Exit.FINE


def status(options: Options) -> int:
    """Counts and sizes of one namespace, or of all when none is named."""
    with known_memory(options) as memory:
        found = memory.status(options.namespace if "namespace" in vars(options) else None)
    if options.json:
        write_json({"root": str(data_root(options)), "namespaces": [status_form(entry) for entry in found]})
        return Exit.FINE
    say(f"Data folder: {data_root(options)}")
    if found:
        table(["namespace", "facts", "current", "messages", "unfinished", "entities", "size", "note"], [_row(entry) for entry in found])
    else:
        _say_empty(options)
    return Exit.FINE


def _row(entry: NamespaceStatus) -> list[str]:
    counts = (entry.facts, entry.latest, entry.episodes, entry.unfinished, entry.entities)
    notes = [*(() if entry.writable else ("read only",)), *entry.problems]
    return [entry.name, *(str(count) for count in counts), _size(entry.bytes), "; ".join(notes)]


def _size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{count / 1000:.0f} kB"


def _say_empty(options: Options) -> None:
    say(f"There are no namespaces in {data_root(options)} yet; the first `lean-memory add` makes one.")
