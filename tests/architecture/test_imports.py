"""The import contracts hold, and each of them fails when it is broken."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("engine", "mcp_bridge", "desktop", "webui")
CHECKER = Path(sys.executable).with_name("lint-imports.exe" if os.name == "nt" else "lint-imports")


def lint(tree: Path) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(str(tree / part) for part in PARTS), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [str(CHECKER), "--no-cache"],
        cwd=tree,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for part in PARTS:
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__", "*.onnx"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contracts_hold() -> None:
    outcome = lint(ROOT)
    assert outcome.returncode == 0, outcome.stdout


@pytest.mark.parametrize(
    ("module", "statement", "contract"),
    [
        ("engine/lean_memory/domain.py", "import lean_memory.service", "The engine is layered"),
        ("engine/lean_memory/retrieval/__init__.py", "import lean_memory.service", "The engine is layered"),
        ("engine/lean_memory/store/__init__.py", "import lean_memory.resolution", "The engine is layered"),
        ("engine/lean_memory/extraction/__init__.py", "import lean_memory.store", "Extraction and resolution are pure"),
        ("engine/lean_memory/resolution/__init__.py", "import lean_memory.store", "Extraction and resolution are pure"),
        ("engine/lean_memory/store/__init__.py", "import lean_memory.models", "Store and models do not know each other"),
        ("engine/lean_memory/models/__init__.py", "import lean_memory.store", "Store and models do not know each other"),
        ("engine/lean_memory/resolution/__init__.py", "import apsw", "Only the store speaks SQL"),
        ("engine/lean_memory/models/__init__.py", "import torch", "No heavy model library"),
        ("engine/lean_memory/service.py", "import httpx", "The engine knows no desktop"),
        ("engine/lean_memory/models/library.py", "import http.client", "The engine knows no desktop"),
        ("engine/lean_memory/service.py", "import lean_memory_desktop", "The engine knows no desktop"),
        ("desktop/lean_memory_desktop/cli/main.py", "import lean_memory.store", "The desktop reaches into no engine module"),
        (
            "desktop/lean_memory_desktop/cli/main.py",
            "from lean_memory.service import MemoryService",
            "The desktop reaches into no engine module",
        ),
        ("engine/lean_memory/service.py", "import lean_memory_bridge", "The engine knows no desktop"),
        ("mcp_bridge/lean_memory_bridge/verbs.py", "import lean_memory.store", "The bridge speaks to the engine by its verbs and values"),
        ("mcp_bridge/lean_memory_bridge/app.py", "import torch", "No heavy model library"),
        (
            "mcp_bridge/lean_memory_bridge/client.py",
            "import lean_memory.service",
            "What finds the service and speaks to it loads no engine",
        ),
        ("mcp_bridge/lean_memory_bridge/schemas/base.py", "import fastapi", "What finds the service and speaks to it loads no engine"),
        ("desktop/lean_memory_desktop/cli/main.py", "import lean_memory_bridge.app", "The desktop reaches the service through its client"),
        ("desktop/lean_memory_desktop/__main__.py", "from lean_memory import Memory", "Only the command line uses the public library"),
        ("mcp_bridge/lean_memory_bridge/shim/link.py", "import pydantic", "The shim and the editing of configurations"),
        (
            "mcp_bridge/lean_memory_bridge/clients/entry.py",
            "import lean_memory_bridge.schemas",
            "The shim and the editing of configurations",
        ),
    ],
)
def test_a_forbidden_import_breaks_its_contract(tree: Path, module: str, statement: str, contract: str) -> None:
    with (tree / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{statement}\n")
    outcome = lint(tree)
    assert outcome.returncode == 1, outcome.stdout
    assert any(line.startswith(contract) and "BROKEN" in line for line in outcome.stdout.splitlines()), outcome.stdout


def test_a_new_engine_module_must_be_given_its_place_among_the_layers(tree: Path) -> None:
    (tree / "engine/lean_memory/surprise.py").write_text("", encoding="utf-8")
    outcome = lint(tree)
    assert outcome.returncode != 0
    assert "lean_memory.surprise" in outcome.stdout


def loaded_by(statement: str) -> set[str]:
    """The top-level modules in memory after `statement` in a fresh interpreter."""
    script = f"import sys; {statement}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}), sep='\\n')"
    return set(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split())


HEAVY = {
    "apsw",
    "sqlite_vec",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "dateparser",
    "rich",
    "torch",
    "fastapi",
    "starlette",
    "uvicorn",
    "mcp",
    "anyio",
}


@pytest.mark.parametrize(
    "statement",
    [
        "import lean_memory",
        "import lean_memory.settings",
        "import lean_memory.errors",
        "import lean_memory.domain",
        "import lean_memory_desktop.__main__",
        "import lean_memory_bridge.stdio",
        "import lean_memory_desktop.supervisor",
        "import lean_memory_desktop.instance",
        "import lean_memory_desktop.cli.serving",
        "import lean_memory_desktop.desk",
        "import lean_memory_desktop.window",
        "import lean_memory_desktop.cli.connecting",
        "import lean_memory_bridge.client",
        "import lean_memory_bridge.schemas",
    ],
)
def test_a_light_import_stays_light(statement: str) -> None:
    assert loaded_by(statement) & HEAVY == set()


def test_finding_the_service_needs_the_standard_library_alone() -> None:
    ours = {"lean_memory", "lean_memory_bridge"}
    statement = "import lean_memory_bridge.runtime, lean_memory.only_one"
    assert loaded_by(statement) - loaded_by("pass") - set(sys.stdlib_module_names) <= ours
