"""The command: `python -I setup.pyz install | check | uninstall`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lean_memory_setup.environments import VirtualEnvironment, check
from lean_memory_setup.failing import SetupError, tell
from lean_memory_setup.installing import LINK, Installation, install
from lean_memory_setup.one_at_a_time import LOCK, SWITCHING, alone
from lean_memory_setup.payload import Payload, read_payload
from lean_memory_setup.placing import place
from lean_memory_setup.removing import Person, everybody, uninstall
from lean_memory_setup.running import Processes, Supervisors
from lean_memory_setup.switching import SymbolicLink
from lean_memory_setup.windows import Embedded, link_in


def main(words: Sequence[str] | None = None) -> int:
    """Do what the words say; the exit code."""
    given = _parser().parse_args(words)
    home = given.home.absolute()
    try:
        with alone(home / LOCK):
            _VERBS[given.verb](given, home)
    except SetupError as error:
        tell(str(error))
        return 1
    except OSError as error:
        tell(f"Lean Memory could not be {_DEEDS[given.verb]}: {error.strerror or error} ({error.filename or home}).")
        return 1
    finally:
        _leave_no_empty_folder(home)
    return 0


def _install(given: argparse.Namespace, home: Path) -> None:
    payload = read_payload((given.payload or Path(sys.argv[0]).parent).absolute())
    outcome = install(payload, _installation(given, home), _say)
    if given.place is not None:
        _place(payload, home, given.place.absolute())
    _say(f"Lean Memory {payload.version}: {outcome.value}.")


def _place(payload: Payload, home: Path, prefix: Path) -> None:
    """The program is in use by now, and stays so where this fails."""
    programs = home / LINK / "bin"
    try:
        for theirs in place(payload.folder, home, prefix):
            _say(f"{theirs} is somebody else's and stays as it is; ours are in {programs}.")
    except OSError as error:
        _say(f"Commands and menu entries cannot be put into {prefix} ({error}). Start Lean Memory with {programs / 'lean-memory'}.")


def _check(given: argparse.Namespace, home: Path) -> None:
    check(_installation(given, home).python)
    _say("Lean Memory works.")


def _uninstall(given: argparse.Namespace, home: Path) -> None:
    people = everybody() if given.everybody else [Person(roots=_roots(given))]
    uninstall(_installation(given, home), people, _say, forget_memories=given.forget_memories)
    _say("Lean Memory is uninstalled." + ("" if given.forget_memories else " Your memories are where they were."))


_VERBS = {"install": _install, "check": _check, "uninstall": _uninstall}
_DEEDS = {"install": "installed", "check": "checked", "uninstall": "removed"}


def _installation(given: argparse.Namespace, home: Path) -> Installation:
    roots = _roots(given)
    windows = sys.platform == "win32"
    maker = Embedded() if windows else VirtualEnvironment(interpreter=given.python, sees_system=given.system_packages)
    link = link_in(home / LINK) if windows else SymbolicLink(path=home / LINK)
    runs = Processes(home=home) if sys.platform == "linux" else Supervisors(python=maker.python(link.path), roots=roots)
    # As root nobody's memories are opened: the program does that as their owner, with a backup, when it is next started.
    return Installation(home=home, maker=maker, link=link, runs=runs, roots=() if given.everybody else roots)


def _roots(given: argparse.Namespace) -> list[Path]:
    return [root.absolute() for root in given.data] if given.data else [_default_root()]


def _leave_no_empty_folder(home: Path) -> None:
    """Nothing but our locks in it means that there is no installation."""
    if home.is_dir() and {entry.name for entry in home.iterdir()} <= {LOCK, SWITCHING}:
        for lock in (LOCK, SWITCHING):
            (home / lock).unlink(missing_ok=True)
        home.rmdir()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="setup.pyz", description="Install, check or uninstall Lean Memory.")
    parser.add_argument("verb", choices=["install", "check", "uninstall"])
    parser.add_argument("--home", type=Path, required=True, help="the folder of the installation")
    parser.add_argument("--payload", type=Path, help="the payload's folder; that of this program when not given")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="the interpreter of the private environment")
    parser.add_argument("--system-packages", action="store_true", help="let the environment see the system's packages (GTK's bindings)")
    parser.add_argument("--data", type=Path, action="append", help="a folder of memories; may be given more than once")
    parser.add_argument(
        "--place", type=Path, help="where commands, menu entry, icons and file types go, such as ~/.local; nowhere when not given"
    )
    parser.add_argument("--everybody", action="store_true", help="as root: for each person of this computer")
    parser.add_argument("--forget-memories", action="store_true", help="when uninstalling: remove the memories too")
    return parser


def _default_root() -> Path:
    return Path(os.environ.get("LM_DATA_ROOT") or Path.home() / ".lean_memory").expanduser().absolute()


def _say(sentence: str) -> None:
    print(sentence, flush=True)


if __name__ == "__main__":
    sys.exit(main())
