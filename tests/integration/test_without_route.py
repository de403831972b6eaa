"""On a machine without any way out everything works, and nothing wants out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.shim import environment

_UNSHARE = ("unshare", "--map-root-user", "--net")


def _can_have_a_network_of_its_own() -> bool:
    return shutil.which("unshare") is not None and subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _can_have_a_network_of_its_own(), reason="this system gives no process a network of its own")
def test_the_whole_product_needs_and_seeks_nothing_but_loopback(tmp_path: Path) -> None:
    path = os.pathsep.join([environment(tmp_path)["PYTHONPATH"], str(Path(__file__).parents[1])])
    done = subprocess.run(
        [*_UNSHARE, sys.executable, "-P", "-m", "support.without_route", str(tmp_path)],
        env={**environment(tmp_path), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told.pop("way_out") == "Network is unreachable"
    assert told == {"server": "lean-memory", "shim": "Acme Corp", "http": "Acme Corp", "search": 0, "demo": 0, "doctor": 0}
    sought = {line.split(maxsplit=1)[1] for line in (tmp_path / "addresses").read_text().splitlines()}
    assert sought <= {"127.0.0.1", "localhost", "::1"}
    assert sought
