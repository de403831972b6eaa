"""The setup for Windows under Wine 8: made, installed silently, asked through an assistant's shim, brought up to date while it runs, uninstalled.

    python tests/installers/under_wine.py [EARLIER-setup.exe NEWER-setup.exe]

Without files it makes both, as `LM_INSTALLERS_CACHE` has them downloaded or anew. It wants Debian's wine64, xvfb, nsis and
gcc-mingw-w64-x86-64-win32 and takes some ten minutes. Junctions, WebView2, the tray and the registry's effect on a desktop cannot be tried there.
It touches nothing but a folder of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from versions import OLD
from windows_setups import both_setups, wine_needs
from wine_stubs import put_stubs

from lean_memory_setup.failing import LOG

BUILTIN = Path("/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/ucrtbase.dll")
_PATIENCE = 900.0
_REST = 5.0
_LOOK = 1.0
_ANSWERED = "Globex"
_RUN = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run"
_KEYS = (
    r"HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\LeanMemory",
    r"HKCU\Software\Microsoft\Windows\CurrentVersion\App Paths\lean-memory.exe",
    r"HKCU\Software\Classes\LeanMemory.Bundle",
    r"HKCU\Software\Classes\.leanmem",
)
_AT_LOGIN = (
    "from lean_memory_bridge.autostart import autostart_of; from pathlib import Path; autostart_of(Path.home() / '.lean_memory').turn_on()"
)
_MENU = "users/*/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Lean Memory"


class Wine:
    """A prefix of its own in `folder`."""

    def __init__(self, folder: Path, display: str) -> None:
        self.disk = folder / "prefix" / "drive_c"
        self.environ = {
            **os.environ,
            "HOME": str(folder),
            "DISPLAY": display,
            "WINEPREFIX": str(folder / "prefix"),
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "winedbg.exe=d;wbemprox=d;mscoree=;mshtml=;ucrtbase=n",
        }
        first = {**self.environ, "WINEDLLOVERRIDES": "winedbg.exe=d;wbemprox=d;mscoree=;mshtml="}
        subprocess.run(["wineboot", "-i"], env=first, capture_output=True, timeout=_PATIENCE, check=True)
        put_stubs(self.disk / "windows" / "system32", BUILTIN, folder)

    def run(self, *words: str | Path) -> str:
        """What a program says until it ends. Python wants a pipe there, and what it leaves running may hold that open."""
        said: list[bytes] = []
        command = ["wine", *map(str, words)]
        with subprocess.Popen(
            command, env=self.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0
        ) as child:
            assert child.stdout is not None
            reader = threading.Thread(target=said.extend, args=(child.stdout,), daemon=True)
            reader.start()
            child.wait(_PATIENCE)
            reader.join(_REST)
            told = b"".join(said).decode(errors="replace")
            if child.returncode != 0:
                why = "".join(log.read_text(encoding="utf-8") for log in self.found(f"users/*/Temp/{LOG}"))
                raise SystemExit(f"{words[0]} ended with {child.returncode}: {told[-3000:]}{why}")
            return told

    def registered(self, key: str) -> str:
        """What the registry holds under a key; empty where there is none."""
        done = subprocess.run(["wine", "reg", "query", key], env=self.environ, capture_output=True, timeout=_PATIENCE, check=False)
        return done.stdout.decode(errors="replace") if done.returncode == 0 else ""

    def found(self, pattern: str) -> list[Path]:
        return sorted(self.disk.glob(pattern))

    @contextlib.contextmanager
    def assistant(self, shim: Path) -> Generator[Assistant]:
        """An assistant that has started the shim and greeted it; it takes its leave when the block ends."""
        with subprocess.Popen(
            ["wine", str(shim)], env=self.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as child:
            one = Assistant(child=child)
            one.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "wine", "version": "1"}})
            yield one
            assert child.stdin is not None
            child.stdin.close()


@dataclass(slots=True, kw_only=True)
class Assistant:
    """One shim and what is said to it."""

    child: subprocess.Popen[bytes]
    number: int = field(default=0)

    def ask(self, method: str, given: dict[str, Any]) -> str:
        """The answer to a request, as it came."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.number += 1
        self.child.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": given}).encode() + b"\n")
        self.child.stdin.flush()
        answer = next(held for held in map(json.loads, self.child.stdout) if held.get("id") == self.number)
        return json.dumps(answer.get("result", answer))

    def insists(self, name: str, given: dict[str, Any], wanted: str) -> None:
        """Call a tool until its answer holds a word: on a busy machine the service takes longer to start than the shim waits."""
        deadline = time.monotonic() + _PATIENCE
        while wanted not in (said := self.ask("tools/call", {"name": name, "arguments": given})):
            if time.monotonic() > deadline:
                raise SystemExit(f"The service did not answer: {said}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("setups", type=Path, nargs="*", help="an earlier and a newer one; both are made when none is named")
    given = parser.parse_args().setups
    lacking = wine_needs()
    if lacking or len(given) not in (0, 2):
        parser.error(lacking or "name two setups, or none")
    with tempfile.TemporaryDirectory(prefix="lean-memory-wine-", ignore_cleanup_errors=True) as folder, screen() as display:
        old, new = made(Path(folder)) if not given else (given[0].absolute(), given[1].absolute())
        wine = Wine(Path(folder), display)
        try:
            check(wine, old, new)
        finally:
            subprocess.run(["wineserver", "-k"], env=wine.environ, capture_output=True, timeout=60, check=False)
    print("1 passed, 0 failed")
    return 0


def made(folder: Path) -> tuple[Path, Path]:
    cache = Path(os.environ.get("LM_INSTALLERS_CACHE", folder / "cache"))
    begun = time.monotonic()
    old, new = both_setups(folder, cache)
    print(f"made both: {time.monotonic() - begun:.0f} s; {new.name}, packed quickly: {new.stat().st_size / 1e6:.0f} MB", flush=True)
    return old, new


def check(wine: Wine, old: Path, new: Path) -> None:
    took("installed", lambda: wine.run(old, "/S"))
    [home] = wine.found("users/*/AppData/Local/Programs/Lean Memory")
    assert len(wine.found(f"{_MENU}/*.lnk")) == 4
    assert version(wine, home) == OLD
    print(f"installed: {sum(file.stat().st_size for file in (home / 'envs').rglob('*') if file.is_file()) / 1e6:.0f} MB")
    question = ("memory_search", {"query": "Where do I work?"}, _ANSWERED)
    with wine.assistant(home / "env" / "lean-memory-mcp.exe") as one:
        took("remembered, with the start of the service", lambda: one.insists("memory_add", {"text": "I work at Globex."}, _ANSWERED))
        took("found", lambda: one.insists(*question))
        before = process_of_service(wine)
        took("brought up to date while it runs", lambda: wine.run(new, "/S"))
        # The same shim, which began with the program of before.
        took("found by the assistant of before", lambda: one.insists(*question))
        assert process_of_service(wine) != before, "the service is another one"
    assert version(wine, home) != OLD
    [runtime] = wine.found("users/*/.lean_memory/runtime.json")
    assert json.loads(runtime.read_bytes())["version"] == version(wine, home)
    took("installed again", lambda: wine.run(new, "/S"))
    entry = connected(wine, home)
    took("uninstalled", lambda: uninstall(wine, home))
    assert wine.found("users/*/.lean_memory/*.memory.db"), "the memories stay"
    assert not wine.found(_MENU)
    assert "lean-memory" not in (entry.read_text(encoding="utf-8") if entry.exists() else "")
    assert not [key for key in _KEYS if wine.registered(key)]
    assert "lean_memory" not in wine.registered(_RUN)


def connected(wine: Wine, home: Path) -> Path:
    """Connect an assistant and let the program start at login, as a person would have it; the assistant's file."""
    entry = home.parents[3] / ".cursor" / "mcp.json"
    entry.parent.mkdir()
    took("an assistant is connected", lambda: wine.run(home / "env" / "lean-memory.exe", "connect", "cursor"))
    assert "lean-memory-mcp.exe" in entry.read_text(encoding="utf-8")
    wine.run(home / "env" / "python.exe", "-P", "-c", _AT_LOGIN)
    assert "lean_memory" in wine.registered(_RUN)
    assert [key for key in _KEYS if not wine.registered(key)] == []
    return entry


def version(wine: Wine, home: Path) -> str:
    return wine.run(home / "env" / "lean-memory.exe", "--version").strip()


def process_of_service(wine: Wine) -> int:
    [runtime] = wine.found("users/*/.lean_memory/runtime.json")
    return int(json.loads(runtime.read_bytes())["pid"])


def uninstall(wine: Wine, home: Path) -> None:
    """As Windows does it: the uninstaller goes on as a copy of itself, so that its own file can go too; the folder goes last but for the registry."""
    wine.run(home / "uninstall.exe", "/S")
    deadline = time.monotonic() + _PATIENCE
    while home.exists() or wine.registered(_KEYS[-1]):
        if time.monotonic() > deadline:
            raise SystemExit(f"What is left of the program: {[path.name for path in home.iterdir()] if home.exists() else 'its keys'}")
        time.sleep(_LOOK)


def took(what: str, doing: Callable[[], object]) -> None:
    begun = time.monotonic()
    doing()
    print(f"{what}: {time.monotonic() - begun:.0f} s", flush=True)


@contextlib.contextmanager
def screen() -> Generator[str]:
    """A screen that nobody sees."""
    reading, writing = os.pipe()
    words = ["Xvfb", "-displayfd", str(writing), "-nolisten", "tcp"]
    with subprocess.Popen(words, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        os.close(writing)
        with os.fdopen(reading, encoding="ascii") as said:
            display = said.readline().strip()
        try:
            yield f":{display}"
        finally:
            server.terminate()


if __name__ == "__main__":
    sys.exit(main())
