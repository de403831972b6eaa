"""What a double click on the macOS app starts, with the payload and a Python for Linux in the app: it installs without a network, remembers and finds.

python -m pytest -s tests/installers/app_twin_on_linux.py, with the packages of `requirements/linux-installers.txt`; `LM_INSTALLERS_CACHE` names
what was downloaded already. As root it runs in a namespace without a network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from lean_memory_installers.icons import write_icns
from lean_memory_installers.linux import linux_payload
from lean_memory_installers.macos import UNINSTALL, write_app

SOURCE = Path(__file__).parents[2]


def test_the_app_installs_offline_answers_a_search_and_goes_again(tmp_path: Path) -> None:
    cache = Path(os.environ.get("LM_INSTALLERS_CACHE", SOURCE / "build" / "installers"))
    payload = linux_payload(source=SOURCE, cache=cache, folder=tmp_path / "payload", epoch=1_700_000_000)
    write_icns(tmp_path / "icon.icns")
    python = python_in(tmp_path / "cpython")
    app = write_app(payload, source=SOURCE, folder=tmp_path / "Applications", icon=tmp_path / "icon.icns", python=python)
    program = app / "Contents" / "MacOS" / "lean-memory"
    begun = time.monotonic()
    run(tmp_path, program, "add", "I work at Globex.")
    print(f"\ninstalled and remembered: {time.monotonic() - begun:.0f} s")
    assert "Globex" in run(tmp_path, program, "search", "Where do I work?")
    begun = time.monotonic()
    assert "Globex" in run(tmp_path, program, "search", "Where do I work?")
    print(f"a cold search: {time.monotonic() - begun:.1f} s")
    home = tmp_path / "Library" / "Application Support" / "Lean Memory"
    # It runs on the Python that the app brought, which stays when the app is moved away.
    moved = app.rename(tmp_path / "Lean Memory.app")
    assert (home / "env" / "bin" / "python").resolve().is_relative_to(home / "python")
    assert "Globex" in run(tmp_path, home / "env" / "bin" / "lean-memory", "search", "Where do I work?")
    moved.rename(app)
    # A path with a space: the scripts must start all the same, and name the interpreter by the path that stays.
    assert run(tmp_path, home / "env" / "bin" / "lean-memory", "--version").strip() == payload.version
    assert str(home / "env" / "bin").encode() in (home / "env" / "bin" / "lean-memory-mcp").read_bytes()
    run(tmp_path, app.parent / UNINSTALL)
    assert not home.exists()
    assert list((tmp_path / ".lean_memory").glob("*.memory.db")), "the memories stay"


def python_in(folder: Path) -> Path:
    """This process's Python without its packages, in a folder that may be put anywhere, as the app's is."""
    program, library = Path(os.path.realpath(sys.executable)), Path(sysconfig.get_path("stdlib"))
    (folder / "bin").mkdir(parents=True)
    shutil.copy(program, folder / "bin" / "python3")
    shutil.copytree(
        library, folder / "lib" / library.name, ignore=shutil.ignore_patterns("site-packages", "dist-packages", "test", "__pycache__")
    )
    return folder


def run(home: Path, *words: str | Path) -> str:
    environ = {"HOME": str(home), "PATH": os.defpath, "LANG": "C.UTF-8"}
    offline = ["unshare", "--net"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*offline, *map(str, words)], env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
