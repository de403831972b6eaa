"""A data root in which proposals wait, made in this process before a service opens it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from lean_memory.domain import Fact
from lean_memory.maintenance.caretaker import Caretaker
from lean_memory.maintenance.drafts import Draft, Snapshot
from lean_memory.maintenance.run import Request
from lean_memory.maintenance.staging import BUDGET
from lean_memory.models.builtin import BuiltinEmbedder
from lean_memory.settings import read_settings
from lean_memory.store.namespace_store import NamespaceStore

DAY = 86_400_000


def stage(root: Path, namespace: str, choose: Callable[[dict[str, Fact]], Iterable[Draft]]) -> int:
    """Let proposals wait: those that `choose` makes of the facts by their texts; gives how many."""
    store = NamespaceStore.open(root, namespace, settings=read_settings(root), clock=lambda: time.time_ns() // 1_000_000)
    try:
        drafts: list[Draft] = []

        def propose(snapshot: Snapshot) -> list[Draft]:
            drafts[:] = choose({fact.fact_text: fact for fact in snapshot.facts if fact.id not in snapshot.held})
            return drafts[:BUDGET]

        care = Caretaker(store=store, embedder=BuiltinEmbedder(), proposers=(propose,))
        waiting = 0
        while True:
            care.run(Request(apply=True, force=True))
            before, waiting = waiting, care.queue(kind=None, limit=1, entity=None).total
            if waiting == before:
                return waiting
    finally:
        store.close()
