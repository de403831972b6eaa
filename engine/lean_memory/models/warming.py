"""What a model is asked before it counts as ready: the first question makes the libraries build what all later ones use, and takes many times as long."""

from __future__ import annotations

from typing import cast

from lean_memory.models.manifest import Role
from lean_memory.models.ports import Embedder, EntityRelationModel, Reranker

PATIENCE = 600.0
"""Seconds that the first question may take."""
_TEXT = "Ana, who lives in Porto, has worked at a lamp factory since the spring of the year before last."
_QUESTION = "Where does Ana work?"


def warm(role: Role, model: object) -> None:
    """Ask a model once for what it is there for. Raises `ModelError` where it cannot answer."""
    match role:
        case Role.EMBEDDER:
            embedder = cast("Embedder", model)
            embedder.embed([_TEXT] * 8)
            embedder.embed_query(_QUESTION)
        case Role.RERANKER:
            cast("Reranker", model).score(_QUESTION, [_TEXT] * 16, seconds=PATIENCE)
        case Role.EXTRACTOR:
            cast("EntityRelationModel", model).read([_TEXT], labels=["person", "place"], relations=["works at"], threshold=0.5)
