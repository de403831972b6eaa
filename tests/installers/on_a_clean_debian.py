"""The installers for Linux on a Debian that has seen nothing of us. It builds them twice and takes minutes, so it runs only when it is named:

python -m pytest -s tests/installers/on_a_clean_debian.py
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from installers.clean_root import Root, lacking, running_root, until
from installers.versions import EPOCH, OLD, PROJECT, previous

CACHE = "LM_INSTALLERS_CACHE"
"""A folder with what was downloaded already."""
KEPT = "LM_INSTALLERS"
"""A folder with `old/` and `new/`, each with a package and a bundle made already."""
_ASK = """
import json, subprocess, sys
entry = json.load(open(sys.argv[1]))["mcpServers"]["lean-memory"]
import os
shim = subprocess.Popen([entry["command"], *entry["args"]], env={**os.environ, **entry["env"]}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def say(**message):
    shim.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    shim.stdin.flush()
def hear(number):
    while (answer := json.loads(shim.stdout.readline())).get("id") != number:
        pass
    return answer
say(id=1, method="initialize", params={"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "cursor", "version": "1"}})
hear(1)
say(method="notifications/initialized")
say(id=2, method="tools/call", params={"name": "memory_search", "arguments": {"query": "Where does the user work?"}})
print(json.dumps(hear(2)))
shim.stdin.close()
shim.wait()
"""
_AT_LOGIN = (
    "from lean_memory_bridge.autostart import autostart_of; from pathlib import Path; autostart_of(Path.home() / '.lean_memory').turn_on()"
)
_BUS = "unix:path=/var/tmp/bus-of-ana"
_SESSION = f"""
Xvfb :7 >/dev/null 2>&1 &
dbus-daemon --session --fork --address={_BUS}
export DISPLAY=:7 DBUS_SESSION_BUS_ADDRESS={_BUS}
until xdpyinfo >/dev/null 2>&1; do sleep 0.1; done
nohup setsid dunst >dunst.log 2>&1 &
"""
"""A screen, a bus and somebody who shows notifications, as every desktop has them; they outlive the tray."""
_CLICKED = "sed -n 's/^Exec=//p' /usr/share/applications/org.leanmemory.LeanMemory.desktop"
_TRAY = f'export DISPLAY=:7 DBUS_SESSION_BUS_ADDRESS={_BUS}; nohup setsid sh -c "$({_CLICKED})" >tray.log 2>&1 &'
"""The entry of the menu, as a click on it starts it."""

pytestmark = pytest.mark.timeout(3600)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The installers of the previous version and of this one."""
    kept = os.environ.get(KEPT)
    if kept:
        return {which: Path(kept, which) for which in ("old", "new")}
    work = tmp_path_factory.mktemp("made")
    cache = os.environ.get(CACHE, work / "cache")
    for which, source in (("old", previous(work / "source")), ("new", PROJECT)):
        words = [sys.executable, "-m", "lean_memory_installers", "deb", "bundle", "--source", source, "--out", work / which]
        environ = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)}
        subprocess.run([*words, "--cache", cache], env=environ, check=True)
    return {which: work / which for which in ("old", "new")}


@pytest.fixture(scope="module")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    if lacking():
        pytest.fail(lacking())
    with running_root(tmp_path_factory.mktemp("debian") / "root") as root:
        # A root that is thrown away need not survive a power cut.
        root.run("echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/fast && apt-get update -qq")
        yield root


def test_the_package_does_the_main_job_is_brought_up_to_date_and_leaves_only_the_memories(debian: Root, made: dict[str, Path]) -> None:
    old, new = _brought_in(debian, made, "*.deb")
    debian.run(
        "apt-get install -y -qq --no-install-recommends xvfb x11-utils dbus dunst desktop-file-utils procps && mkdir -p /people && useradd -m -b /people ana"
    )
    # What the package depends on is the system's; the figure is for the package alone.
    debian.run(f"apt-get install -y -qq --no-install-recommends $(dpkg-deb -f {old} Depends | sed 's/([^)]*)//g; s/,/ /g')")
    before = _outside(debian)
    print(
        f"\ninstalling the package: {debian.timed(f'apt-get install -y -qq {old}'):.1f} s; {debian.run('du -sm /opt/lean-memory').split()[0]} MB"
    )
    debian.run("desktop-file-validate /usr/share/applications/org.leanmemory.*.desktop")

    # The README's lines for a new user, without any model.
    first = debian.timed("lean-memory add 'I work at Globex.' && mkdir .cursor && lean-memory connect cursor", user="ana")
    assert "Globex" in _asked_over_mcp(debian)
    print(f"the first sentence and a connection: {first:.1f} s")

    debian.run(_SESSION, user="ana")
    began = time.monotonic()
    debian.run(_TRAY, user="ana")
    until(lambda: _tray(debian) and _answers(debian))
    print(f"the tray takes over from the service that the assistant had started, and answers: {time.monotonic() - began:.1f} s")
    until(lambda: debian.run("pgrep -u ana -f lean_memory_desktop.window", check=False))
    print(f"a click on the entry of the menu shows the window after {time.monotonic() - began:.1f} s")
    debian.run(f'/opt/lean-memory/env/bin/python -c "{_AT_LOGIN}"', user="ana")
    assert "/opt/lean-memory/env/bin/python" in debian.path("/people/ana/.config/autostart/lean-memory.desktop").read_text()

    tray, entry = _tray(debian), debian.path("/people/ana/.cursor/mcp.json").read_bytes()
    print(f"bringing it up to date: {debian.timed(f'apt-get install -y -qq {new}'):.1f} s")
    assert OLD not in debian.run("lean-memory --version")
    until(lambda: _tray(debian) not in (None, tray) and _answers(debian))
    assert debian.path("/people/ana/.cursor/mcp.json").read_bytes() == entry
    assert "Globex" in _asked_over_mcp(debian)
    assert len(debian.run("ls /opt/lean-memory/envs").split()) == 2

    debian.run("apt-get remove -y -qq lean-memory")
    assert not debian.path("/opt/lean-memory").exists()
    assert "lean-memory" not in debian.run("cat /people/ana/.cursor/mcp.json 2>/dev/null || true")
    assert not debian.path("/people/ana/.config/autostart/lean-memory.desktop").exists()
    assert "lean_memory" not in debian.run("ps -eo args")
    assert debian.path("/opt").is_dir()
    # What drew the screen keeps caches of its own.
    not_ours = (".lean_memory", "/.cache")
    left = {line for line in _outside(debian) - before if not any(part in line for part in not_ours)}
    assert left <= {
        "/people/ana/tray.log",
        "/people/ana/dunst.log",
        "/people/ana/.cursor",
        "/people/ana/.config",
        "/people/ana/.config/autostart",
    } | _backups_of_ours(left)
    assert debian.path("/people/ana/.lean_memory/default.memory.db").stat().st_size > 0


def test_the_bundle_works_for_one_person_without_any_rights(debian: Root, made: dict[str, Path]) -> None:
    old, new = _brought_in(debian, made, "*.run")
    debian.run("mkdir -p /people && useradd -m -b /people eve && apt-get install -y -qq --no-install-recommends python3")
    before = _outside(debian)
    print(f"\ninstalling the bundle: {debian.timed(f'sh {old} --no-start', user='eve'):.1f} s")
    debian.run("~/.local/bin/lean-memory add 'I work at Globex.'", user="eve")
    print(f"bringing it up to date: {debian.timed(f'sh {new} --no-start', user='eve'):.1f} s")
    assert OLD not in debian.run("~/.local/bin/lean-memory --version", user="eve")
    assert "Globex" in debian.run("~/.local/bin/lean-memory search 'Where does the user work?'", user="eve")
    assert json.loads(debian.run("~/.local/bin/lean-memory backup --list --json", user="eve"))["backups"]

    debian.run("~/.local/bin/lean-memory-uninstall", user="eve")
    folders = re.compile(r"/people/eve/\.(local|config|cache)(/|$)")
    left = {line for line in _outside(debian) - before if ".lean_memory" not in line}
    assert [line for line in left if not (folders.match(line) and debian.path(line).is_dir())] == []
    assert debian.path("/people/eve/.lean_memory/default.memory.db").stat().st_size > 0


def _brought_in(debian: Root, made: dict[str, Path], pattern: str) -> Sequence[str]:
    found: list[str] = []
    for which in ("old", "new"):
        installer = next(made[which].glob(pattern))
        shutil.copy(installer, debian.path("/opt") / installer.name)
        print(f"{installer.name}: {installer.stat().st_size / 1e6:.0f} MB")
        moved = debian.path("/var/tmp") / installer.name
        shutil.move(debian.path("/opt") / installer.name, moved)
        found.append(f"/var/tmp/{installer.name}")
    return found


def _asked_over_mcp(debian: Root) -> str:
    debian.path("/srv/ask.py").write_text(_ASK)
    return debian.run("python3 /srv/ask.py .cursor/mcp.json", user="ana")


def _tray(debian: Root) -> str | None:
    """The process that keeps everything running for Ana, if it is the tray."""
    found = debian.run(
        "pgrep -u ana -f '^/opt/lean-memory/env/bin/python (-P -m lean_memory_desktop|/usr/bin/lean-memory)'", check=False
    ).split()
    return found[0] if found else None


def _answers(debian: Root) -> bool:
    state = debian.path("/people/ana/.lean_memory/supervisor.json")
    if not state.exists() or str(json.loads(state.read_text())["pid"]) != _tray(debian):
        return False
    return "healthy" in debian.run(
        "python3 -c \"import json,urllib.request as u; p=json.load(open('.lean_memory/runtime.json'))['port']; "
        "print('healthy', u.urlopen(f'http://127.0.0.1:{p}/healthz').status)\"",
        user="ana",
        check=False,
    )


def _outside(debian: Root) -> set[str]:
    """Every path that a program might leave behind."""
    places = "/people /opt /usr/bin /usr/share/applications /usr/share/metainfo /usr/share/icons /usr/share/doc /etc/xdg"
    return set(debian.run(f"find {places} -not -name '*.cache' 2>/dev/null || true").splitlines())


def _backups_of_ours(left: set[str]) -> set[str]:
    """`connect` puts a copy beside the file that it changes, and `disconnect` does so too."""
    return {line for line in left if line.startswith("/people/ana/.cursor/")}
