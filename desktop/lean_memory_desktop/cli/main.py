"""From a command line to an exit code: 0 done, 1 it failed, 2 it was called wrongly, 130 the person stopped it."""

from __future__ import annotations

import importlib
import keyword
import os
import sys
from collections.abc import Callable
from typing import cast

from lean_memory.errors import InvalidInputError, LeanMemoryError
from lean_memory_desktop.cli.arguments import parse
from lean_memory_desktop.cli.console import complain, settle_streams
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

_HOMES = {
    "add": "adding",
    "search": "asking",
    "facts": "asking",
    "history": "asking",
    "explain": "explaining",
    "forget": "erasing",
    "clear": "erasing",
    "finish": "finishing",
    "backup": "keeping",
    "restore": "keeping",
    "export": "moving",
    "import": "moving",
    "bring-in": "bringing_in",
    "retention": "retaining",
    "maintain": "maintaining",
    "review": "reviewing",
    "decide": "reviewing",
    "revert": "reviewing",
    "promote": "reviewing",
    "namespaces": "listing",
    "status": "listing",
    "doctor": "doctor",
    "demo": "demo",
    "chat": "chatting",
    "serve": "serving",
    "open": "window",
    "connect": "connecting",
    "disconnect": "connecting",
    "clients": "clients",
    "models": "models",
}
"""Which module carries out which command, in a function of the command's name."""


def run(arguments: list[str]) -> int:
    """Carry out one command. Whatever goes wrong becomes one sentence on stderr; no traceback reaches the person."""
    settle_streams()
    options = parse(arguments)
    try:
        code = _command(options)(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        complain("Stopped.")
        return Exit.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the process's top level: nothing may end in a traceback
        return _explain(error)
    return code


def _command(options: Options) -> Callable[[Options], int]:
    # Loaded by name when it runs: help and a wrong word answer without loading the engine.
    if options.version:
        return _tell_version
    if not options.namespace:
        # Whether the service runs or not, and before anything is opened, in the words of the library.
        raise InvalidInputError("A namespace needs a name; an empty one was given. Nothing was written.")
    if not options.command:
        from lean_memory_desktop.cli.tray import start

        return start
    home = _HOMES[options.command]
    module = importlib.import_module(f"lean_memory_desktop.cli.{home}")
    name = f"{options.command}_" if keyword.iskeyword(options.command) else options.command.replace("-", "_")
    return cast("Callable[[Options], int]", getattr(module, name))


def _tell_version(_: Options) -> int:
    from importlib.metadata import version

    print(version("lean-memory-desktop"))
    return Exit.FINE


def _explain(error: Exception) -> int:
    match error:
        case BadUseError() | InvalidInputError():
            complain(str(error))
            return Exit.BAD_USE
        case LeanMemoryError():
            complain(str(error))
        case BrokenPipeError():
            # The reader of our output has gone; without this the interpreter would complain while it closes stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        case OSError():
            complain(f"The operating system refused: {error}.")
        case _:
            _admit_defect(error)
    return Exit.FAILED


def _admit_defect(error: Exception) -> None:
    complain(
        f"Something went wrong inside Lean Memory ({type(error).__name__}: {error}). What it had acknowledged is kept. Set LM_DEBUG=1 to see where."
    )
    if os.environ.get("LM_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
