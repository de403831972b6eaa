"""CI fails on a report in which something was left out, and runs what the README says."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"ci_{name}", ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("report", "allowed", "complaint"),
    [
        ("===== 12 passed in 3.10s =====", [], None),
        ("12 passed in 63.10s (0:01:03)", [], None),
        ("SKIPPED [1] tests/a.py:3: no tray here\n11 passed, 1 skipped in 3.10s", [], "Skipped without a reason on the list"),
        ("SKIPPED [1] tests/a.py:3: no tray here\n11 passed, 1 skipped in 3.10s", ["no tray here"], None),
        ("11 passed, 1 skipped in 3.10s", [], "does not say which"),
        ("11 passed, 2 deselected in 3.10s", [], "2 tests deselected"),
        ("11 passed, 1 xfailed in 3.10s", [], "1 tests xfailed"),
        ("no tests ran in 0.01s", [], "no closing line"),
        ("2 failed in 0.01s", [], "No test passed"),
        ("", [], "no closing line"),
    ],
)
def test_a_report_of_pytest_is_read(report: str, allowed: list[str], complaint: str | None) -> None:
    found = script("report").complaints(report, allowed)
    assert (not found) if complaint is None else any(complaint in sentence for sentence in found)


@pytest.mark.parametrize(
    ("heading", "part"), [("Try it", "lean-memory demo"), ("Test it", "pytest"), ("As a library", "from lean_memory import Memory")]
)
def test_the_commands_of_the_readme_are_found(heading: str, part: str) -> None:
    done = subprocess.run([sys.executable, ROOT / ".ci" / "readme.py", "code", heading], capture_output=True, text=True, check=True)
    assert part in done.stdout
    assert "```" not in done.stdout


def test_a_heading_without_code_is_an_error() -> None:
    assert subprocess.run([sys.executable, ROOT / ".ci" / "readme.py", "code", "Licence"], capture_output=True, check=False).returncode == 1
