"""The models beside the built-in embedder: how far each is, and how far their vectors are made."""

from __future__ import annotations

from typing import Literal

from lean_memory_bridge.schemas.base import Answer
from lean_memory_bridge.schemas.downloads import PullView, TierView


class RoleView(Answer):
    """The model of one role, as the worker that holds it says."""

    role: Literal["embedder", "reranker", "extractor"]
    state: Literal["absent", "warming", "ready", "idle", "failed"]
    """`idle`: it gave its memory back and comes back when it is asked."""
    message: str = ""
    model_id: str = ""
    revision: str = ""


class VectorsView(Answer):
    """A namespace for whose texts the tier's embedder makes vectors at present; until then it is searched by the built-in ones."""

    namespace: str
    done: int
    total: int


class ModelsView(Answer):
    """The tier in use and its models."""

    tier: str
    chosen: str = ""
    """The tier that the person chose last; another than `tier` until the service begins anew."""
    roles: tuple[RoleView, ...]
    vectors: tuple[VectorsView, ...] = ()
    lacking: tuple[str, ...] = ()
    """What answers lack at present because a model of the tier is not ready."""
    runnable: bool = True
    """Whether the packages that run larger models are installed beside the service; without them a tier that is here waits unused."""
    remedy: str = ""
    """How they come there: a command; empty where they are."""
    along: int = 0
    """Bytes of those packages that a download brings along; 0 where they are here, or their release does not say where they lie."""
    tiers: tuple[TierView, ...] = ()
    """Every tier that can be had, and how much of each is here."""
    pull: PullView | None = None
    """The last download, be it of the service or of a command."""
