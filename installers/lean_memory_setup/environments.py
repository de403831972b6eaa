"""Making a private environment from a payload, and finding out whether it works."""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lean_memory_setup.asking import run
from lean_memory_setup.failing import SetupError
from lean_memory_setup.payload import Payload

_PATIENCE = 900.0
"""Seconds: a busy computer that also looks through every new file for viruses has taken more than three minutes."""
_SENTENCE = "I work at Globex."
_CHECK = f"""
import sys
import lean_memory_bridge.app, lean_memory_desktop.cli.main
from lean_memory import Memory
with Memory(root=sys.argv[1]) as memory:
    memory.add("check", {_SENTENCE!r})
    sys.exit(0 if memory.search("check", "Where does the user work?")[0].fact.object == "Globex" else "The search found something else.")
"""
_SHEBANG = b"#!"
_OWN = "lean_memory_own.pth"
_OWN_LINE = "import os, sys; sys.path[:] = [os.path.realpath(path) for path in sys.path]\n"


class Maker(Protocol):
    """One way to make an environment. `stable` is the path by which it will be in use: the link's."""

    def make(self, payload: Payload, folder: Path, stable: Path) -> None:
        """Make the environment in `folder`, which does not exist. Raises `SetupError`."""
        ...

    def python(self, environment: Path) -> Path:
        """The interpreter of an environment."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualEnvironment:
    """A virtual environment of `interpreter` on Linux or macOS. `sees_system` lets it import the system's packages after its own (gi)."""

    interpreter: Path
    sees_system: bool = False

    def make(self, payload: Payload, folder: Path, stable: Path) -> None:
        _refuse_unknown(self.interpreter, payload)
        cache = Path(tempfile.mkdtemp(prefix=".cache-", dir=folder.parent))
        more = {"UV_CACHE_DIR": str(cache), "UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never", "UV_OFFLINE": "1"}
        try:
            words = [
                payload.uv_program,
                "venv",
                "--quiet",
                "--python",
                self.interpreter,
                *(["--system-site-packages"] if self.sees_system else []),
            ]
            run([*words, folder], why="The private environment cannot be made", more=more)
            run([payload.uv_program, *install_words(payload, self.python(folder))], why="The packages cannot be installed", more=more)
        finally:
            shutil.rmtree(cache, ignore_errors=True)
        stay_with_own(next((folder / "lib").glob("python*/site-packages")))
        _name_the_stable_path(folder / "bin", folder, stable)

    def python(self, environment: Path) -> Path:
        return environment / "bin" / "python"


def install_words(payload: Payload, python: Path, *more: str) -> list[str]:
    """What `uv` is told so that it installs a payload's requirements, checking every digest and asking nobody."""
    return [
        "pip", "install", "--quiet", "--python", str(python), "--offline", "--no-index", "--no-deps", "--require-hashes",
        "--only-binary", ":all:", "--compile-bytecode", "--find-links", str(payload.wheels), "--requirement", str(payload.requirements), *more,
    ]  # fmt: skip


def stay_with_own(packages: Path) -> None:
    """Let whatever is started by the link import from this environment for as long as it runs, also what it imports after the link has moved."""
    (packages / _OWN).write_text(_OWN_LINE, encoding="utf-8")


def check(python: Path) -> None:
    """Let an environment remember a sentence and find it again in a folder of its own. Raises `SetupError` where it does not."""
    with tempfile.TemporaryDirectory(prefix="lean-memory-check-", ignore_cleanup_errors=True) as folder:
        run([python, "-I", "-c", _CHECK, folder], why="The installed program does not answer a search", patience=_PATIENCE)


def version_of(interpreter: Path) -> str:
    """The version of an interpreter, such as `3.11`. Raises `SetupError` where it does not start."""
    if interpreter == Path(sys.executable):
        return f"{sys.version_info.major}.{sys.version_info.minor}"
    words = [interpreter, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    return run(words, why=f"{interpreter} does not start", patience=60).strip()


def _refuse_unknown(interpreter: Path, payload: Payload) -> None:
    found = version_of(interpreter)
    if found not in payload.pythons:
        raise SetupError(f"{interpreter} is Python {found}; this installer has what Python {', '.join(payload.pythons)} need.")


def _name_the_stable_path(programs: Path, folder: Path, stable: Path) -> None:
    """Let the programs' first two lines name the interpreter by the path that stays when another environment comes into use."""
    old, new = str(folder).encode(), str(stable).encode()
    for program in programs.iterdir():
        if program.is_symlink() or not program.is_file():
            continue
        first, *more = program.read_bytes().split(b"\n", 2)
        # Where the path has a space the first line starts a shell, and the second names the interpreter.
        head = [line.replace(old, new) for line in (first, *more[:1])]
        if first.startswith(_SHEBANG):
            program.write_bytes(b"\n".join([*head, *more[1:]]))
