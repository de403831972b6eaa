"""What the worker costs with models of real size: `python -m bench.worker FOLDER [--calls N] [--texts N]`, with an interpreter that has torch.

FOLDER holds `embedder`, `reranker` and `extractor`, each a model as its library saves one; their weights may be random. Prints JSON:
seconds until each is ready, resident memory with one client and with eight, throughput beside plain sentence-transformers in the same run,
what loopback adds to a batch, growth over many calls, and what a lull gives back.
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
from collections.abc import Generator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from bench.blank_worker import BLANK
from lean_memory.models.installed import FileRecord, ModelRecord, Voucher, choose_tier, model_folder, models_folder, write_record
from lean_memory.models.manifest import ModelSpec, Role, read_manifest
from lean_memory.models.remote import Link, RemoteEmbedder, RemoteExtractor, RemoteReranker
from lean_memory.models.worker_file import State, read_worker

BATCH = 32
ROUNDS = 3
LULL_MINUTES = 1.0
_QUESTION = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_WORDS = [
    "the",
    "user",
    "works",
    "at",
    "a",
    "lamp",
    "factory",
    "in",
    "Porto",
    "and",
    "likes",
    "red",
    "doors",
    "green",
    "tea",
    "old",
    "cats",
    "long",
    "walks",
    "by",
    "the",
    "sea",
    "with",
    "Ana",
]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--texts", type=int, default=64)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lean-memory-bench-") as folder:
        root = Path(folder) / "memory"
        manifest = put_in_use(root, chosen.folder)
        loopback = {"loopback_ms_p50": _loopback(Path(folder) / "blank")}
        measured = {**loopback, **_measured(root, manifest, chosen), **_given_back(root, manifest)}
    print(json.dumps(measured, indent=1))


def put_in_use(root: Path, source: Path) -> Path:
    """Put the models of a folder into a data root as if they had been fetched; gives the list that names them."""
    entries = "".join(_entry(role, source / role.value) for role in Role)
    manifest = root.with_name("manifest.toml")
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(f"[tiers]\nbench = {json.dumps([f'bench/{role}' for role in Role])}\n{entries}", encoding="utf-8")
    for spec in read_manifest(manifest).tier("bench").models.values():
        folder = model_folder(models_folder(root), spec)
        folder.parent.mkdir(mode=0o700, parents=True)
        folder.symlink_to((source / spec.role.value).absolute(), target_is_directory=True)
        files = {file.path: FileRecord(size=file.size, sha256="0" * 64, voucher=Voucher.FIRST_COPY) for file in spec.files}
        write_record(folder, spec, ModelRecord(files=files, completed_at=1))
    choose_tier(root, "bench")
    return manifest


def _entry(role: Role, folder: Path) -> str:
    paths = sorted(
        path for path in folder.rglob("*") if path.is_file() and all(part[0].isalnum() for part in path.relative_to(folder).parts)
    )
    files = "".join(f"  {{ path = {json.dumps(path.relative_to(folder).as_posix())}, size = {path.stat().st_size} }},\n" for path in paths)
    dims = ""
    if role is Role.EMBEDDER:
        width = json.loads((folder / "config.json").read_bytes())["hidden_size"]
        dims = f"dims = {width}\nquery_prompt = {json.dumps(_QUESTION)}\n"
    head = f'id = "bench/{role}"\nrevision = "1"\nrole = "{role}"\narchitecture = "bench"\nlicence = "none"\nmax_tokens = 512\n'
    return f"\n[[models]]\n{head}{dims}files = [\n{files}]\n"


def _measured(root: Path, manifest: Path, chosen: argparse.Namespace) -> dict[str, object]:
    specs = read_manifest(manifest).tier("bench").models
    with _worker(root, manifest, minutes=60) as process, contextlib.closing(Link(root)) as link:
        bare = resident_mb(process.pid)
        ready = {role.value: round(_seconds_until(link, role, State.READY), 1) for role in Role}
        warm = resident_mb(process.pid)
        embedder, reranker = RemoteEmbedder(link, specs[Role.EMBEDDER]), RemoteReranker(link, specs[Role.RERANKER])
        texts = _texts(chosen.texts)
        speed = _speed(root, embedder, texts)
        score = _p50_ms(lambda: reranker.score("Where does the user work?", texts[:BATCH], seconds=60), 5)
        asked = {"model_id": "bench/embedder", "revision": "1", "texts": ["Where does the user work?"], "is_question": True}
        # Past the client's own limit, which a slow machine would not keep.
        question = _p50_ms(lambda: link.call(Role.EMBEDDER, "/embed", asked, 60), 10)
        one = resident_mb(process.pid)
        _many_clients(root, specs[Role.EMBEDDER], 8)
        eight, grown = resident_mb(process.pid), _growth(process.pid, link, chosen.calls, warm=warm)
    return {
        "ready_s": ready,
        **speed,
        "question_ms_p50": question,
        "rerank_32_ms_p50": score,
        "rss_mb": {"started": bare, "warm": warm, "one_client": one, "eight_clients": eight},
        "calls": chosen.calls,
        "grown_since_warm_mb": grown,
    }


def _given_back(root: Path, manifest: Path) -> dict[str, object]:
    """Resident memory with all models in use, and after a lull."""
    specs = read_manifest(manifest).tier("bench").models
    with _worker(root, manifest, minutes=LULL_MINUTES) as process, contextlib.closing(Link(root)) as link:
        for role in Role:
            _seconds_until(link, role, State.READY)
        RemoteEmbedder(link, specs[Role.EMBEDDER]).embed(_texts(8))
        RemoteReranker(link, specs[Role.RERANKER]).score("Where?", _texts(8), seconds=60)
        RemoteExtractor(link, specs[Role.EXTRACTOR]).read(_texts(2), labels=["person"], relations=["works at"], threshold=0.5)
        full = resident_mb(process.pid)
        for role in Role:
            _seconds_until(link, role, State.IDLE)
        # By then it has begun anew without the libraries.
        threading.Event().wait(10)
        idle = resident_mb(process.pid)
    return {"rss_in_use_mb": full, "rss_idle_mb": idle, "given_back": round(1 - idle / full, 3)}


def _speed(root: Path, embedder: RemoteEmbedder, texts: Sequence[str]) -> dict[str, object]:
    """Texts a second by turns, each side alone while it is timed; the best round of each counts."""
    folder = model_folder(models_folder(root), read_manifest(root.with_name("manifest.toml")).tier("bench").models[Role.EMBEDDER])
    plain = _plain(folder)
    plain(texts[:2])
    embedder.embed(texts[:2])
    took: dict[str, list[float]] = {"plain": [], "worker": []}
    for _ in range(ROUNDS):
        for name, embed in (("plain", plain), ("worker", embedder.embed)):
            before = perf_counter()
            embed(texts)
            took[name].append(perf_counter() - before)
    rates = {f"{name}_texts_a_second": round(len(texts) / min(times), 2) for name, times in took.items()}
    return {**rates, "ratio": round(min(took["plain"]) / min(took["worker"]), 3)}


def _plain(folder: Path):
    import torch  # noqa: PLC0415 - only where it is measured
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    torch.set_num_threads(min(4, os.cpu_count() or 1))
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    model.max_seq_length = 512
    return lambda texts: model.encode(list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)


def _many_clients(root: Path, spec: ModelSpec, count: int) -> None:
    def ask() -> None:
        with contextlib.closing(Link(root)) as link:
            link.look()
            with contextlib.suppress(Exception):
                RemoteEmbedder(link, spec).embed(["the user works at Acme"] * 4)

    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _growth(pid: int, link: Link, calls: int, *, warm: float) -> dict[str, float]:
    """Resident memory beyond `warm` MB, at each tenth of the calls: of one short text, every hundredth of eight, every 250th of a long one."""
    grown, texts = dict[str, float](), _texts(calls)
    for number, text in enumerate(texts, start=1):
        asked = [text[: 10 + number % 60]]
        if number % 250 == 0:
            asked = [" ".join(texts)[: 10 * number % 3000]]
        elif number % 100 == 0:
            asked = texts[number - 8 : number]
        # Past the client's own limit, which a busy machine would not keep.
        link.call(Role.EMBEDDER, "/embed", {"model_id": "bench/embedder", "revision": "1", "texts": asked}, 3600)
        if number % max(1, calls // 10) == 0:
            grown[str(number)] = round(resident_mb(pid) - warm, 1)
            print(number, grown[str(number)], file=sys.stderr, flush=True)
    return grown


def _loopback(root: Path) -> float:
    """Milliseconds that the way there and back adds to a batch: the model of this worker gives constant vectors of 1,024 numbers."""
    root.mkdir()
    with _running([sys.executable, "-m", "bench.blank_worker", str(root)], {}), contextlib.closing(Link(root)) as link:
        _seconds_until(link, Role.EMBEDDER, State.READY)
        embedder, texts = RemoteEmbedder(link, BLANK), _texts(BATCH)
        assert embedder.embed(texts).shape == (BATCH, BLANK.dims)
        return _p50_ms(lambda: embedder.embed(texts), 300)


@contextlib.contextmanager
def _worker(root: Path, manifest: Path, *, minutes: float) -> Generator[subprocess.Popen[bytes]]:
    words = [sys.executable, "-m", "lean_memory.models", "--root", str(root), "--idle-minutes", str(minutes)]
    with _running(words, {"LM_MODELS_MANIFEST": str(manifest)}) as process:
        while read_worker(root) is None:
            threading.Event().wait(0.05)
        yield process


@contextlib.contextmanager
def _running(words: list[str], environ: dict[str, str]) -> Generator[subprocess.Popen[bytes]]:
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(words, env={**os.environ, **paths, **environ}, stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _seconds_until(link: Link, role: Role, state: State) -> float:
    before, pause = perf_counter(), threading.Event()
    while link.look()[role].state is not state:
        pause.wait(0.05)
    return perf_counter() - before


def _p50_ms(work, times: int) -> float:
    took = list[float]()
    for _ in range(times):
        before = perf_counter()
        work()
        took.append((perf_counter() - before) * 1000)
    return round(median(took), 2)


def _texts(count: int) -> list[str]:
    draw = np.random.default_rng(13)
    return [" ".join(draw.choice(_WORDS, size=int(draw.integers(8, 24)))) for _ in range(count)]


def resident_mb(pid: int) -> float:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines() if line.startswith("VmRSS"))
    return round(int(line.split()[1]) / 1024, 1)


if __name__ == "__main__":
    main()
