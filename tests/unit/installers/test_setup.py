"""The setup program: what is made beside the old one comes into use in one step or not at all."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lean_memory_bridge.updating import settled
from lean_memory_setup.__main__ import main
from lean_memory_setup.environments import stay_with_own
from lean_memory_setup.failing import SetupError, tell
from lean_memory_setup.installing import ENVIRONMENTS, LINK, Installation, Outcome, install, installed_version
from lean_memory_setup.payload import FILE, PACKS, Held, Payload, digest_of, read_payload
from lean_memory_setup.removing import Person, uninstall
from lean_memory_setup.running import Started
from lean_memory_setup.switching import SymbolicLink

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the link of Windows has tests of its own")
_PROGRAM = """#!/bin/sh
# Stands for the interpreter of an environment: it notes what it is asked and breaks where it is told to.
here=$(dirname "$0")/..
echo "$(cat "$here/version") $*" >> "$here/../../asked"
case "$*" in
*"$(cat "$here/breaks")"*) echo "it broke" >&2; exit 1 ;;
*backup*) echo '{"path": "/kept/backup"}' ;;
esac
"""


@dataclass(frozen=True, kw_only=True)
class ScriptedEnvironment:
    """An environment whose interpreter is a script; `breaks` is the word at which it breaks."""

    breaks: str = "nothing at all"

    def make(self, payload: Payload, folder: Path, stable: Path) -> None:
        del stable
        (folder / "bin").mkdir(parents=True)
        (folder / "version").write_text(payload.version)
        (folder / "breaks").write_text(self.breaks)
        self.python(folder).write_text(_PROGRAM)
        self.python(folder).chmod(0o755)

    def python(self, environment: Path) -> Path:
        return environment / "bin" / "python"


@dataclass(kw_only=True)
class OneTray:
    """Something that runs, and says how it is started again."""

    words: tuple[str, ...] = ()
    stops: list[str] = field(default_factory=list[str])
    looks: Callable[[], None] = lambda: None

    def stop(self) -> Sequence[Started]:
        self.stops.append("stopped")
        self.looks()
        return [Started(words=self.words, environ=dict(os.environ), folder="/")] if self.words else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """A link that notes, whenever it has changed, which version is in use and whether a service may be started out of it."""

    path: Path
    seen: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])

    def look(self) -> None:
        target = self.target()
        with settled(self.path) as so:
            self.seen.append(((target / "version").read_text() if target else "", so))

    def target(self) -> Path | None:
        return SymbolicLink(path=self.path).target()

    def lead_to(self, folder: Path) -> None:
        SymbolicLink(path=self.path).lead_to(folder)
        self.look()

    def remove(self) -> None:
        SymbolicLink(path=self.path).remove()
        self.look()


def payload_of(version: str, folder: Path) -> Payload:
    folder.mkdir(parents=True)
    (folder / "wheel").write_text(version)
    held = [{"path": "wheel", "bytes": len(version), "sha256": digest_of(folder / "wheel")}]
    (folder / FILE).write_text(json.dumps({"version": version, "target": "any", "pythons": ["3.11"], "uv": "uv", "files": held}))
    return read_payload(folder)


def installation(tmp_path: Path, breaks: str = "nothing at all", runs: OneTray | None = None) -> Installation:
    home, root = tmp_path / "home", tmp_path / "memories"
    root.mkdir(exist_ok=True)
    (root / "default.memory.db").touch()
    maker = ScriptedEnvironment(breaks=breaks)
    return Installation(home=home, maker=maker, link=SymbolicLink(path=home / LINK), runs=runs or OneTray(), roots=[root])


def asked(to: Installation) -> list[str]:
    return (to.home / "asked").read_text().splitlines()


def say_nothing(sentence: str) -> None:
    del sentence


def test_an_update_backs_up_with_the_old_program_and_opens_the_memories_with_the_new_one(tmp_path: Path) -> None:
    to = installation(tmp_path)
    assert install(payload_of("1", tmp_path / "first"), to, say_nothing) is Outcome.INSTALLED
    assert install(payload_of("2", tmp_path / "second"), to, say_nothing) is Outcome.UPDATED
    assert installed_version(to) == "2"
    told = asked(to)
    backup = next(place for place, line in enumerate(told) if line.startswith("1 ") and "backup" in line)
    opened = next(place for place, line in enumerate(told) if line.startswith("2 ") and "status" in line)
    assert backup < opened


def test_nobody_starts_a_service_from_the_end_of_what_ran_until_the_new_program_is_in_use(tmp_path: Path) -> None:
    install(payload_of("1", tmp_path / "first"), installation(tmp_path), say_nothing)
    watch = Watch(path=tmp_path / "home" / LINK)
    to = dataclasses.replace(installation(tmp_path, runs=OneTray(looks=watch.look)), link=watch)
    install(payload_of("2", tmp_path / "second"), to, say_nothing)
    assert watch.seen == [("1", False), ("2", False)]
    watch.look()
    assert watch.seen[-1] == ("2", True)
    uninstall(dataclasses.replace(to, runs=OneTray(looks=watch.look)), [], say_nothing)
    assert watch.seen[-2:] == [("2", False), ("", False)]
    assert sorted(entry.name for entry in to.home.iterdir()) == ["asked"], "what the test's programs wrote is all that is left"


def test_what_ran_before_an_update_keeps_its_environment_until_the_next(tmp_path: Path) -> None:
    to = installation(tmp_path)
    for version, kept in (("1", ["1"]), ("2", ["1", "2"]), ("3", ["2", "3"]), ("2", ["2", "3"])):
        install(payload_of(version, tmp_path / f"{version}-{len(kept)}-{installed_version(to)}"), to, say_nothing)
        assert sorted({folder.name.partition("-")[0] for folder in (to.home / ENVIRONMENTS).iterdir()}) == kept
        assert installed_version(to) == version


def test_going_back_to_the_version_before_leaves_what_still_runs_from_it_alone(tmp_path: Path) -> None:
    to = installation(tmp_path)
    first = payload_of("1", tmp_path / "first")
    install(first, to, say_nothing)
    install(payload_of("2", tmp_path / "second"), to, say_nothing)
    runs_from_it = to.home / ENVIRONMENTS / first.name / "mark"
    runs_from_it.touch()
    install(first, to, say_nothing)
    assert installed_version(to) == "1"
    assert to.link.target() != runs_from_it.parent
    assert install(first, to, say_nothing) is Outcome.UNCHANGED


def test_what_runs_goes_on_with_the_packages_it_began_with(tmp_path: Path) -> None:
    link = SymbolicLink(path=tmp_path / "env")
    for name in ("old", "new"):
        venv.create(tmp_path / name, symlinks=True)
        packages = next((tmp_path / name / "lib").glob("python*/site-packages"))
        (packages / "late.py").write_text(f"print({name!r}, flush=True)\n")
        stay_with_own(packages)
    link.lead_to(tmp_path / "old")
    words = [link.path / "bin" / "python", "-I", "-c", "print(flush=True); input(); import late"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as began:
        assert began.stdout is not None
        assert began.stdout.readline() == "\n"
        link.lead_to(tmp_path / "new")
        assert began.communicate("\n")[0] == "old\n"
    assert subprocess.run(words, input="\n", capture_output=True, text=True, check=True).stdout == "\nnew\n"


def test_installing_what_is_there_already_changes_nothing(tmp_path: Path) -> None:
    to, payload = installation(tmp_path), payload_of("1", tmp_path / "first")
    install(payload, to, say_nothing)
    used = to.link.target()
    assert install(payload, to, say_nothing) is Outcome.UNCHANGED
    assert to.link.target() == used


def test_a_program_that_finds_nothing_never_comes_into_use(tmp_path: Path) -> None:
    runs = OneTray()
    install(payload_of("1", tmp_path / "first"), installation(tmp_path), say_nothing)
    broken = installation(tmp_path, breaks="memory.search", runs=runs)
    with pytest.raises(SetupError, match="does not answer a search"):
        install(payload_of("2", tmp_path / "second"), broken, say_nothing)
    assert installed_version(broken) == "1"
    assert runs.stops == []
    assert len(list((broken.home / ENVIRONMENTS).iterdir())) == 1


def test_memories_that_the_new_program_cannot_open_bring_the_old_one_and_the_backup_back(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    runs = OneTray(words=("/bin/sh", "-c", f": > '{mark}.new'; mv '{mark}.new' '{mark}'"))
    install(payload_of("1", tmp_path / "first"), installation(tmp_path), say_nothing)
    broken = installation(tmp_path, breaks="status", runs=runs)
    with pytest.raises(SetupError, match="cannot be opened by the new version"):
        install(payload_of("2", tmp_path / "second"), broken, say_nothing)
    assert installed_version(broken) == "1"
    assert any(line.startswith("1 ") and "restore /kept/backup" in line for line in asked(broken))
    while not mark.exists():
        os.sched_yield()


def test_nothing_runs_any_more_when_the_memories_are_backed_up_and_it_runs_again_where_they_cannot_be(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    install(payload_of("1", tmp_path / "first"), installation(tmp_path, breaks="backup"), say_nothing)
    runs = OneTray(words=("/bin/sh", "-c", f": > '{mark}'"))
    to = installation(tmp_path, runs=runs)
    with pytest.raises(SetupError, match="cannot be backed up"):
        install(payload_of("2", tmp_path / "second"), to, say_nothing)
    assert runs.stops == ["stopped"]
    assert installed_version(to) == "1"
    assert not any("restore" in line for line in asked(to))
    while not mark.exists():
        os.sched_yield()


def test_the_program_is_told_where_its_release_has_packs(tmp_path: Path) -> None:
    to, first = installation(tmp_path), payload_of("1", tmp_path / "first")
    # Nobody vouches for what is in no list of the payload's files.
    (first.folder / PACKS).write_text("elsewhere")
    install(first, to, say_nothing)
    assert not (to.link.path / PACKS).exists()
    second = payload_of("2", tmp_path / "second")
    (second.folder / PACKS).write_text("where they lie")
    held = Held(path=PACKS, bytes=14, sha256=digest_of(second.folder / PACKS))
    install(dataclasses.replace(second, files=(*second.files, held)), to, say_nothing)
    assert (to.link.path / PACKS).read_text() == "where they lie"


def test_what_was_cut_off_is_made_anew(tmp_path: Path) -> None:
    to, payload = installation(tmp_path), payload_of("1", tmp_path / "first")
    half = to.home / ENVIRONMENTS / payload.name
    half.mkdir(parents=True)
    (half / "half").touch()
    assert install(payload, to, say_nothing) is Outcome.INSTALLED
    assert not (half / "half").exists()


def test_a_payload_that_was_changed_by_one_byte_is_refused(tmp_path: Path) -> None:
    payload = payload_of("1", tmp_path / "first")
    (payload.folder / "wheel").write_text("2")
    with pytest.raises(SetupError, match="damaged: wheel"):
        install(payload, installation(tmp_path), say_nothing)
    assert not (tmp_path / "home").exists()


def test_a_payload_whose_list_names_another_length_is_refused(tmp_path: Path) -> None:
    folder = payload_of("1", tmp_path / "first").folder
    (folder / FILE).write_text((folder / FILE).read_text().replace('"bytes": 1', '"bytes": 3'))
    with pytest.raises(SetupError, match="damaged: wheel"):
        read_payload(folder).verify()


def test_where_nothing_may_be_written_it_says_so_in_a_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    payload_of("1", tmp_path / "first")
    (tmp_path / "file").touch()
    words = ["install", "--home", str(tmp_path / "file" / "home"), "--payload", str(tmp_path / "first")]
    assert main(words) == 1
    assert capfd.readouterr().err.startswith("Lean Memory could not be installed: Not a directory (")


@pytest.mark.parametrize(("platform", "noted"), [("win32", True), ("linux", False)])
def test_why_it_failed_stays_to_be_read_where_a_silent_setup_shows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], platform: str, noted: bool
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tell("There is no room.", platform=platform)
    assert capfd.readouterr().err == "There is no room.\n"
    # Elsewhere that folder is everybody's, and whoever puts a link there would have root write where it leads.
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == (["There is no room.\n"] if noted else [])


@pytest.mark.parametrize("forget", [False, True])
def test_uninstalling_leaves_the_memories_unless_they_are_to_go(tmp_path: Path, forget: bool) -> None:
    to = installation(tmp_path)
    install(payload_of("1", tmp_path / "first"), to, say_nothing)
    (to.home / "asked").unlink()
    uninstall(to, [Person(roots=to.roots)], say_nothing, forget_memories=forget)
    assert not to.link.path.is_symlink()
    assert not (to.home / ENVIRONMENTS).exists()
    assert to.roots[0].exists() is not forget


def test_the_link_never_leads_nowhere(tmp_path: Path) -> None:
    link = SymbolicLink(path=tmp_path / "env")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        link.lead_to(tmp_path / name)
        assert link.target() == tmp_path / name
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a", "b", "env"]


def test_the_setup_program_needs_the_standard_library_alone(tmp_path: Path) -> None:
    from lean_memory_installers.assembling import setup_program  # noqa: PLC0415 - what builds is not needed by the others

    packed = tmp_path / "setup.pyz"
    packed.write_bytes(setup_program(Path(__file__).parents[3] / "installers" / "lean_memory_setup"))
    words = [sys.executable, "-I", "-S", packed, "check", "--home", tmp_path / "none"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "does not answer a search" in done.stderr
    assert not (tmp_path / "none").exists()
