"""`python -m lean_memory.models --root R`: the worker, which holds the models of the tier in use for whoever serves the data root."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lean_memory.errors import LeanMemoryError
from lean_memory.models import local
from lean_memory.models.in_use import Held, held_models
from lean_memory.models.manifest import Manifest, ModelSpec, Role, read_manifest
from lean_memory.models.packages import let_import
from lean_memory.models.residents import Loader, Model
from lean_memory.models.serving import EXIT_RESTS, LULL, serve
from lean_memory.models.warming import warm
from lean_memory.settings import Settings, read_settings

MOST_THREADS = 4
_NICENESS = 5
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "false"}
_FRUGAL = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "40", "LRU_CACHE_CAPACITY": "40"}
"""In 16 bits, oneDNN and torch's layer above it build and keep code for each shape of a batch, by default 1,024 pieces each: some 3.5 MB
for every new length of a text. A pass through a model needs fewer than ten; building them takes a tenth of a pass."""
_WATCH = 2.0
_CAN_BEGIN_ANEW = os.name == "posix"
"""On Windows a process that begins anew is another one, and its supervisor would lose it; there the models alone are given back."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Hold the models until told to stop, or until another tier is chosen; 0 then. 1 where nothing can be held, 3 where another worker does."""
    chosen = _read(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    logging.getLogger("lean_memory").setLevel(logging.INFO)
    settings = read_settings(chosen.root)
    try:
        manifest = read_manifest(settings.models_manifest)
        held = held_models(settings.root, manifest)
    except LeanMemoryError as error:
        print(error, file=sys.stderr)
        return 1
    if not held:
        print("No models are in use here; `lean-memory models pull` fetches some.", file=sys.stderr)
        return 0
    os.environ.update({**_OFFLINE, **_FRUGAL})
    let_import(settings.root)
    _be_modest()
    loaders = {
        role: Loader(identity=spec.identity, load=partial(_load, spec, folder, chosen.threads), warm=partial(warm, role))
        for role, (spec, folder) in held.items()
    }
    ended = threading.Event()
    threading.Thread(target=_watch, args=(settings, manifest, held, ended), daemon=True).start()
    return serve(
        settings.root,
        loaders,
        lull=60 * chosen.idle_minutes,
        supervised=chosen.supervised,
        ended=ended,
        rests=_CAN_BEGIN_ANEW,
        resting=chosen.resting,
    )


def _load(spec: ModelSpec, folder: Path, threads: int) -> Model:
    local.cap_threads(threads)
    device = local.best_device()
    match spec.role:
        case Role.EMBEDDER:
            return local.load_embedder(spec, folder, device=device)
        case Role.RERANKER:
            return local.load_reranker(spec, folder, device=device)
        case Role.EXTRACTOR:
            return local.load_gliner(folder, device=device)


def _be_modest() -> None:
    """Let everything else on this computer go first."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)


def _watch(settings: Settings, manifest: Manifest, held: Held, ended: threading.Event) -> None:
    """End when what is to be held is something else; whoever supervises starts another worker if one is needed."""
    while not ended.wait(_WATCH):
        try:
            if held_models(settings.root, manifest) != held:
                ended.set()
        except LeanMemoryError:
            ended.set()


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m lean_memory.models", description="Holds the models of one data folder in memory, for this computer only."
    )
    parser.add_argument("--root", help="the data folder; LM_DATA_ROOT or ~/.lean_memory where it is left out")
    parser.add_argument("--supervised", action="store_true", help="end when standard input ends, as it does when the supervisor dies")
    parser.add_argument("--threads", type=int, default=min(MOST_THREADS, os.cpu_count() or 1), help="cores to compute on at most")
    parser.add_argument("--idle-minutes", type=float, default=LULL / 60, help="how long a model is kept that nobody asks")
    parser.add_argument("--resting", action="store_true", help="load nothing before somebody asks for it")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    if code == EXIT_RESTS:
        # Torch and what is built on it hold more memory than the small models; only a process that has not loaded them is without it.
        os.execv(sys.executable, [sys.executable, *(word for word in sys.orig_argv[1:] if word != "--resting"), "--resting"])
    # Not sys.exit: a thread may be deep in torch, which does not survive that the interpreter is taken down around it.
    os._exit(code)
