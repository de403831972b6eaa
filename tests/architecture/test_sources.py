"""What holds for every file that is committed: size of modules and functions, no addresses, no machine's paths, no heavy requirement."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("engine", "mcp_bridge", "desktop", "webui")
TEXT_SUFFIXES = {".py", ".toml", ".md", ".txt", ".sh", ".sql", ".yaml", ".yml", ".json", ".jsonl", ".cfg", ".ini", ""}
REGISTRY = re.compile(
    "|".join(["py" + r"pi\.org", "python" + r"hosted\.org", "registry" + r"\.npmjs", "deb" + r"\.debian\.org", "proxy" + r"\.golang"])
)
MACHINE_PATH = re.compile("|".join([r"(?<![\w.])/wo" + r"rk/", r"(?<![\w.])/ro" + r"ot/", r"(?<![\w.])/ho" + r"me/\w+/"]))

LEFT_BEHIND = {
    ".git",
    ".venv",
    "venv",
    "__pycache__",
    ".hypothesis",
    ".ruff_cache",
    ".pytest_cache",
    "build",
    "dist",
    "uv.lock",
    "bench-results",
}


def committed() -> Iterator[Path]:
    """Every file under version control; in a copy without its history, every file but what tools leave behind."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        return (path for path in ROOT.rglob("*") if path.is_file() and not LEFT_BEHIND & set(path.relative_to(ROOT).parts))
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return (ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file())


def sources(*packages: str) -> Iterator[Path]:
    return (path for package in packages or PACKAGES for path in sorted((ROOT / package).rglob("*.py")))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert {path: length for path, length in lengths.items() if length > 400} == {}


def test_no_function_is_longer_than_40_lines() -> None:
    lengths = {
        f"{path.relative_to(ROOT)}:{node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in sources()
        for node in functions(path)
    }
    assert {name: length for name, length in lengths.items() if length > 40} == {}


def test_no_module_has_a_name_without_a_subject() -> None:
    assert [path for path in sources() if path.stem in {"utils", "helpers", "manager", "common"}] == []


@pytest.mark.parametrize(("what", "pattern"), [("a package registry's host", REGISTRY), ("a path of some machine", MACHINE_PATH)])
def test_no_committed_file_names(what: str, pattern: re.Pattern[str]) -> None:
    texts = (path for path in committed() if path.suffix in TEXT_SUFFIXES)
    named = {str(path.relative_to(ROOT)) for path in texts if pattern.search(path.read_text(encoding="utf-8"))}
    assert named == set(), f"{what} is named in {sorted(named)}"


def test_nothing_in_the_engine_can_reach_a_network_but_the_fetching_of_models_the_client_of_the_worker_and_the_doorbell() -> None:
    network = re.compile(r"\b(urllib\.request|http\.client|socket|ftplib|smtplib)\b")
    imports = re.compile(r"^\s*(?:import|from)\s.*$", re.MULTILINE)
    users = {
        path.relative_to(ROOT).as_posix()
        for path in sources("engine", "desktop")
        for line in imports.findall(path.read_text(encoding="utf-8"))
        if network.search(line)
    }
    # The first when the person says so, the others on this machine only.
    assert users == {
        "engine/lean_memory/models/provision/asking.py",
        "engine/lean_memory/models/remote.py",
        "engine/lean_memory/models/timed.py",
        "desktop/lean_memory_desktop/doorbell.py",
    }


def test_the_base_install_holds_no_torch() -> None:
    heavy = re.compile(r"^(torch|gliner|gliner2|sentence-transformers|transformers|nvidia-.*|triton)\b", re.MULTILINE)
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    locked = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "requirements").glob("*.txt"))]
    assert not heavy.search("\n".join(dependencies))
    assert locked
    assert not any(heavy.search(text) for text in locked)


def test_every_locked_requirement_has_a_hash() -> None:
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        entries = path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
        bare = [entry for entry in entries if "==" in entry and "--hash=sha256:" not in entry]
        assert bare == [], path.name
