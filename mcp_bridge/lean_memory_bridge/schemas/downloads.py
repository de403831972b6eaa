"""The files of models: which tiers there are, how much of them is here, and the download that goes on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lean_memory_bridge.schemas.base import Answer, Request

TierName = Annotated[str, Field(min_length=1, max_length=100)]


class PullRequest(Request):
    """Fetch what is missing or damaged of a tier. The person must have said so."""

    tier: TierName
    folder: Annotated[str, Field(min_length=1, max_length=4000)] | None = None
    """A bundle on this computer to copy from, instead of the network."""
    use: bool = False
    """Use the tier once it is here."""


class TierRequest(Request):
    """The tier that is meant."""

    tier: TierName


class PullView(Answer):
    """The last download, of whichever process. Sizes are bytes, times seconds, `at` epoch milliseconds."""

    state: Literal["running", "done", "cancelled", "failed", "cut off"]
    tier: str
    origin: str
    """The address or folder from which the files come."""
    phase: str = ""
    """`checking` what is here, `fetching`, or `unpacking` the packages that came along."""
    done: int = 0
    total: int = 0
    model: str = ""
    file: str = ""
    speed: float = 0.0
    seconds_left: float | None = None
    trouble: str = ""
    """Why nothing comes at present, in a few words; it is tried again."""
    sentence: str = ""
    """Why it ended, where it did not end well, what is kept, and what to do."""
    at: int = 0


class TierModelView(Answer):
    """A model of a tier and how much of it is here."""

    id: str
    revision: str
    role: Literal["embedder", "reranker", "extractor"]
    licence: str
    bytes: int
    here_bytes: int
    whole: bool


class TierView(Answer):
    """A tier and how much of it is here."""

    name: str
    bytes: int
    here: bool
    """Whether all of it is here, so that it can be used."""
    models: tuple[TierModelView, ...]


class TierRemoved(Answer):
    """What removing a tier freed."""

    tier: str
    freed_bytes: int
