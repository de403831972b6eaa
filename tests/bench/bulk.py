"""Stores of a given number of facts, made through the store's own functions and kept for the next run.

Every sentence is one episode, one passage and one fact that is that passage, as `add` makes of a plain statement; extraction is
skipped and each sentence is embedded once. Up to 100,000 sentences are embedded: the data's own (about 20,000), then statements
recombined from its timelines. Above that, a row joins the first half of one sentence to the second half of another and has the
normalised sum of their vectors: near enough to real vectors for a search to be worth timing, and quick to make.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

from bench.gold import read_gold
from bench.sentences import sentences
from bench.suites import Setting
from lean_memory.changes import ChangeSet, NewFact
from lean_memory.clock import system_clock
from lean_memory.domain import STATES, USER, Candidate, Instant, ModelIdentity, Source, Span, value_key
from lean_memory.extraction.pipeline import passages
from lean_memory.models.ports import Embedder, Vectors
from lean_memory.settings import Settings
from lean_memory.store.namespace_store import NamespaceStore, NewEpisode

NAMESPACE = "filled"
SEED = 13
EMBEDDED = 100_000
BATCH = 500
FIRST_SAID = Instant(1_500_000_000_000)
MINUTE = 60_000
SUBJECTS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A filled data root with what is in it: `texts[i]` has the unit vector `vectors[i]`."""

    root: Path
    folder: Path
    embedder: Embedder

    def texts(self) -> list[str]:
        return json.loads((self.folder / "texts.json").read_text(encoding="utf-8"))

    def vectors(self) -> Vectors:
        """Shape (facts, dims), read from disk as it is used."""
        return np.load(self.folder / "vectors.npy", mmap_mode="r")


@contextmanager
def filled_store(setting: Setting, facts: int, *, own_copy: bool = False) -> Generator[Filled]:
    """A data root whose namespace `filled` holds that many facts, the gold among them; made where it is not in the cache.

    With `own_copy` it may be written to.
    """
    made = _made(setting, facts)
    if not own_copy:
        yield made
        return
    with TemporaryDirectory(prefix="copy-", dir=setting.cache) as folder:
        root = Path(folder) / "root"
        shutil.copytree(made.root, root)
        yield Filled(root=root, folder=made.folder, embedder=made.embedder)


def _made(setting: Setting, facts: int) -> Filled:
    folder = setting.cache / f"filled-{facts}-{_fingerprint(setting.embedder)}"
    filled = Filled(root=folder / "root", folder=folder, embedder=setting.embedder)
    if not (folder / "texts.json").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _fill(filled, setting, facts)
    return filled


def _fill(filled: Filled, setting: Setting, facts: int) -> None:
    texts, vectors = _rows(setting, facts)
    np.save(filled.folder / "vectors.npy", vectors)
    settings = Settings(root=filled.root)
    store = NamespaceStore.open(filled.root, NAMESPACE, settings=settings, clock=system_clock, create=True)
    try:
        for start in range(0, facts, BATCH):
            _insert(store, {row: texts[row] for row in range(start, min(start + BATCH, facts))}, vectors, setting.embedder.identity)
    finally:
        store.close()
    (filled.folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")


def _insert(store: NamespaceStore, batch: dict[int, str], vectors: Vectors, model: ModelIdentity) -> None:
    said = [
        NewEpisode(text=text, source=Source.USER, client=None, t_ref=_said_at(row), tz="UTC", passages=passages(text))
        for row, text in batch.items()
    ]
    episodes = store.record_episodes(said)
    with store.write() as tx:
        for (row, text), episode in zip(batch.items(), episodes, strict=True):
            tx.apply(ChangeSet(facts=(_fact(row, text),)), episode=episode, embeddings={text: vectors[row]}, model=model)


def _fact(row: int, text: str) -> NewFact:
    subject = USER if row % 2 else f"Topic {row % SUBJECTS}"
    candidate = Candidate(subject=subject, predicate=STATES, object="", fact_text=text, span=Span(start=0, end=len(text)))
    at = _said_at(row)
    return NewFact(
        candidate=candidate, object_key=value_key(text), asserted_at=at, asserted_until=None, valid_at=at, valid_to=None, is_latest=True
    )


def _said_at(row: int) -> Instant:
    return Instant(FIRST_SAID + row * MINUTE)


def _rows(setting: Setting, facts: int) -> tuple[list[str], Vectors]:
    gold = list(read_gold(setting.data).texts)
    base = sentences(setting.data, min(facts, EMBEDDED) - len(gold)) + gold
    embedded = setting.embedder.embed(base)
    texts, vectors = list(base), np.empty((facts, embedded.shape[1]), np.float32)
    vectors[: len(base)] = embedded
    for row, (one, other) in enumerate(_couples(facts - len(base), len(base)), start=len(base)):
        texts.append(_joined(base[one], base[other]))
        total = embedded[one] + embedded[other]
        vectors[row] = total / np.linalg.norm(total)
    order = Random(SEED).sample(range(facts), facts)
    return [texts[place] for place in order], vectors[order]


def _couples(count: int, below: int) -> Iterator[tuple[int, int]]:
    draw = np.random.default_rng(SEED).integers(0, below, size=(count, 2))
    for one, other in draw:
        yield int(one), int(other)


def _joined(one: str, other: str) -> str:
    first, second = one.split(), other.split()
    return " ".join([*first[: (len(first) + 1) // 2], *second[len(second) // 2 :]])


def _fingerprint(embedder: Embedder) -> str:
    """Changes with the schema and with the model, so that a kept store is never of another kind."""
    scripts = sorted(files("lean_memory.store").joinpath("migrations").iterdir(), key=lambda each: each.name)
    schema = b"".join(each.read_bytes() for each in scripts if each.name.endswith(".sql"))
    return blake2b(schema + repr(embedder.identity).encode(), digest_size=6).hexdigest()
