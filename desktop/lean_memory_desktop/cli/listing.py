"""`lean-memory namespaces` and `status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lean_memory_desktop.cli.console import say, write_json
from lean_memory_desktop.cli.opening import data_root, open_memory
from lean_memory_desktop.cli.options import Exit, Options

if TYPE_CHECKING:
    pass


def namespaces(options: Options) -> int:
    """List the namespaces."""
    with open_memory(options) as memory:
        names = memory.namespaces()
    if options.json:
        write_json({"root": str(data_root(options)), "namespaces": names})
    elif names:
        for name in names:
            say(name)
    else:
        say(f"There are no namespaces in {data_root(options)} yet; the first `lean-memory add` makes one.")
    return Exit.FINE
