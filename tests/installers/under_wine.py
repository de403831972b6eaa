"""The setup for Windows under Wine 8: installed silently, asked through an assistant's shim, installed again, uninstalled; the memories stay.

    python tests/installers/under_wine.py Lean-Memory-…-setup.exe

It wants Debian's wine64, gcc-mingw-w64-x86-64-win32 and a screen (Xvfb, DISPLAY), and takes some minutes. Junctions, WebView2, the tray and the
registry's effect on a desktop cannot be tried there. It touches nothing but a folder of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from wine_stubs import put_stubs

BUILTIN = Path("/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/ucrtbase.dll")
_PATIENCE = 900.0
_ANSWERED = "Globex"


class Wine:
    """A prefix of its own in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.disk = folder / "prefix" / "drive_c"
        self.environ = {
            **os.environ,
            "HOME": str(folder),
            "WINEPREFIX": str(folder / "prefix"),
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "winedbg.exe=d;wbemprox=d;mscoree=;mshtml=;ucrtbase=n",
        }
        first = {**self.environ, "WINEDLLOVERRIDES": "winedbg.exe=d;wbemprox=d;mscoree=;mshtml="}
        subprocess.run(["wineboot", "-i"], env=first, capture_output=True, timeout=_PATIENCE, check=True)
        put_stubs(self.disk / "windows" / "system32", BUILTIN, folder)

    def run(self, *words: str | Path) -> str:
        done = subprocess.run(
            ["wine", *map(str, words)],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(f"{words[0]} ended with {done.returncode}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
        return done.stdout

    def found(self, pattern: str) -> list[Path]:
        return sorted(self.disk.glob(pattern))

    def ask(self, shim: Path, calls: list[tuple[str, dict[str, Any]]]) -> list[str]:
        """What an assistant gets to read that starts the shim and calls these tools."""
        with subprocess.Popen(
            ["wine", str(shim)], env=self.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "wine", "version": "1"}}
            said: list[str] = []
            for number, (method, given) in enumerate([("initialize", greeting), *(("tools/call", call(*one)) for one in calls)]):
                child.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": given}).encode() + b"\n")
                child.stdin.flush()
                answer = next(held for held in map(json.loads, child.stdout) if held.get("id") == number)
                said.append(json.dumps(answer.get("result", answer)))
            child.stdin.close()
            return said[1:]


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("setup", type=Path)
    setup = parser.parse_args().setup.absolute()
    with tempfile.TemporaryDirectory(prefix="lean-memory-wine-", ignore_cleanup_errors=True) as folder:
        wine = Wine(Path(folder))
        try:
            check(wine, setup)
        finally:
            subprocess.run(["wineserver", "-k"], env=wine.environ, capture_output=True, timeout=60, check=False)
    print("1 passed, 0 failed")
    return 0


def check(wine: Wine, setup: Path) -> None:
    took("installed", lambda: wine.run(setup, "/S"))
    [home] = wine.found("users/*/AppData/Local/Programs/Lean Memory")
    assert len(wine.found("users/*/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Lean Memory/*.lnk")) == 4
    shim = home / "env" / "lean-memory-mcp.exe"
    took("remembered", lambda: remembered(wine, shim))
    question = ("memory_search", {"query": "Where do I work?"})
    assert _ANSWERED in wine.ask(shim, [question])[0]
    took("installed again", lambda: wine.run(setup, "/S"))
    assert _ANSWERED in wine.ask(shim, [question])[0]
    took("uninstalled", lambda: wine.run(home / "uninstall.exe", "/S", f"_?={windows_path(wine, home)}"))
    assert [path.name for path in home.iterdir()] == [] if home.exists() else True
    assert wine.found("users/*/.lean_memory/*.memory.db"), "the memories stay"
    assert not wine.found("users/*/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Lean Memory")


def remembered(wine: Wine, shim: Path) -> None:
    """The service may take longer to start than the shim waits, on a machine that is busy."""
    deadline = time.monotonic() + _PATIENCE
    while (
        _ANSWERED
        not in wine.ask(shim, [("memory_add", {"text": "I work at Globex."}), ("memory_search", {"query": "Where do I work?"})])[1]
    ):
        if time.monotonic() > deadline:
            raise SystemExit("The service did not answer.")


def windows_path(wine: Wine, path: Path) -> str:
    return "C:\\" + "\\".join(path.relative_to(wine.disk).parts)


def took(what: str, doing: Any) -> None:
    begun = time.monotonic()
    doing()
    print(f"{what}: {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
