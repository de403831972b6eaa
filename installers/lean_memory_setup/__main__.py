"""The command: `python -I setup.pyz install | check | uninstall`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lean_memory_setup.environments import VirtualEnvironment, check
from lean_memory_setup.failing import SetupError
from lean_memory_setup.installing import LINK, Installation, install
from lean_memory_setup.payload import read_payload
from lean_memory_setup.removing import Person, everybody, uninstall
from lean_memory_setup.running import Processes, Supervisors
from lean_memory_setup.switching import SymbolicLink


def main(words: Sequence[str] | None = None) -> int:
    """Do what the words say; the exit code."""
    given = _parser().parse_args(words)
    roots = given.data or [_default_root()]
    to = _installation(given.home.absolute(), given.python, roots, sees_system=given.system_packages, everybody=given.everybody)
    try:
        if given.verb == "install":
            payload = read_payload((given.payload or Path(sys.argv[0]).parent).absolute())
            outcome = install(payload, to, _say)
            _say(f"Lean Memory {payload.version}: {outcome.value}.")
        elif given.verb == "check":
            check(to.python)
            _say("Lean Memory works.")
        else:
            people = everybody() if given.everybody else [Person(roots=roots)]
            uninstall(to, people, _say, forget_memories=given.forget_memories)
            _say("Lean Memory is uninstalled." + ("" if given.forget_memories else " Your memories are where they were."))
    except (SetupError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _installation(home: Path, interpreter: Path, roots: Sequence[Path], *, sees_system: bool, everybody: bool) -> Installation:
    maker = VirtualEnvironment(interpreter=interpreter, sees_system=sees_system)
    link = SymbolicLink(path=home / LINK)
    runs = Processes(home=home) if sys.platform == "linux" else Supervisors(python=maker.python(link.path), roots=roots)
    # As root nobody's memories are opened: the program does that as their owner, with a backup, when it is next started.
    return Installation(home=home, maker=maker, link=link, runs=runs, roots=() if everybody else roots)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="setup.pyz", description="Install, check or uninstall Lean Memory.")
    parser.add_argument("verb", choices=["install", "check", "uninstall"])
    parser.add_argument("--home", type=Path, required=True, help="the folder of the installation")
    parser.add_argument("--payload", type=Path, help="the payload's folder; that of this program when not given")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="the interpreter of the private environment")
    parser.add_argument("--system-packages", action="store_true", help="let the environment see the system's packages (GTK's bindings)")
    parser.add_argument("--data", type=Path, action="append", help="a folder of memories; may be given more than once")
    parser.add_argument("--everybody", action="store_true", help="as root: for each person of this computer")
    parser.add_argument("--forget-memories", action="store_true", help="when uninstalling: remove the memories too")
    return parser


def _default_root() -> Path:
    return Path(os.environ.get("LM_DATA_ROOT") or Path.home() / ".lean_memory").expanduser().absolute()


def _say(sentence: str) -> None:
    print(sentence, flush=True)


if __name__ == "__main__":
    sys.exit(main())
