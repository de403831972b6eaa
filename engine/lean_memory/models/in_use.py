"""The models of the tier in use that are there whole: what the worker holds, and what the service asks it for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from lean_memory.errors import LeanMemoryError
from lean_memory.models.installed import installed, tier_in_use
from lean_memory.models.manifest import BUILTIN, Manifest, ModelSpec, Role, read_manifest
from lean_memory.models.offered import offered
from lean_memory.models.packages import can_run, remedy
from lean_memory.models.ports import Embedder, EntityRelationModel, Reranker
from lean_memory.models.remote import Link, RemoteEmbedder, RemoteExtractor, RemoteReranker
from lean_memory.models.rest import Rest
from lean_memory.models.worker_file import Roles, RoleState, State
from lean_memory.settings import Settings

Held = Mapping[Role, tuple[ModelSpec, Path]]


def held_models(root: Path, manifest: Manifest) -> Held:
    """The models of the tier in use that are there whole, and where. Raises `InvalidInputError` for a tier that is in no list."""
    tier = manifest.tier(tier_in_use(root))
    return {role: (spec, folder) for role, spec in tier.models.items() if (folder := installed(root, spec)) is not None}


class RemoteModels:
    """The models of the tier that was in use when this was made, asked of the worker; none where the list of models cannot be used."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tier, self._held, self._trouble = _read(settings)
        self._link = Link(settings.root)
        self._rests = {role: Rest() for role in (Role.EMBEDDER, Role.RERANKER)}

    @property
    def tier(self) -> str:
        """The name of the tier."""
        return self._tier

    @property
    def embedder(self) -> Embedder | None:
        """The second embedder, if the tier has one that is there."""
        spec = self._spec(Role.EMBEDDER)
        return None if spec is None else RemoteEmbedder(self._link, spec, rest=self._rests[Role.EMBEDDER])

    @property
    def reranker(self) -> Reranker | None:
        """The cross-encoder, if the tier has one that is there."""
        spec = self._spec(Role.RERANKER)
        return None if spec is None else RemoteReranker(self._link, spec, rest=self._rests[Role.RERANKER])

    @property
    def extractor(self) -> Callable[[], EntityRelationModel] | None:
        """What gives the extractor, if the tier has one that is there."""
        spec = self._spec(Role.EXTRACTOR)
        return None if spec is None else lambda: RemoteExtractor(self._link, spec)

    @property
    def are_any(self) -> bool:
        """Whether there is any model that a worker may hold."""
        return bool(self._held)

    def serves(self, role: Role) -> bool:
        """Whether a search can have that model at present, as far as was last seen."""
        return self._link.states[role].state is State.READY and not self._resting(role)

    def holds(self, role: Role) -> bool:
        """Whether the tier has a model of that role that is there."""
        return role in self._held

    @property
    def roles(self) -> Roles:
        """How far each model was at the last look; what is there and not held by a worker says why."""
        return {role: self._told(role, state) for role, state in self._link.states.items()}

    @property
    def can_run(self) -> bool:
        """Whether the packages that run larger models are here."""
        return can_run(self._settings.root)

    @property
    def remedy(self) -> str:
        """How they come here; empty where they are."""
        return "" if self.can_run else remedy()

    @property
    def along(self) -> int:
        """Bytes of those packages that a download of models brings along; 0 where they are here, or nobody says where they lie."""
        offer = None if self.can_run else offered()
        return 0 if offer is None else offer.bytes

    def look(self) -> Roles:
        """How far each model is now."""
        if self._held:
            self._link.look()
        return self.roles

    @property
    def is_outdated(self) -> bool:
        """Whether other models are to be used by now than when this was made."""
        if self._tier == BUILTIN == tier_in_use(self._settings.root):
            # It has no others, so that the list of models need not be read.
            return False
        return _read(self._settings)[:2] != (self._tier, self._held)

    def close(self) -> None:
        """Close the connections."""
        self._link.close()

    def _spec(self, role: Role) -> ModelSpec | None:
        return self._held[role][0] if self.holds(role) else None

    def _told(self, role: Role, state: RoleState) -> RoleState:
        spec = self._spec(role)
        if state.state is State.READY:
            return replace(state, message=self._resting(role) or state.message)
        if spec is None or state.state is not State.ABSENT:
            return replace(state, message=state.message or self._trouble)
        why = "" if can_run(self._settings.root) else f" The packages that run it are not installed: {remedy()}"
        message = f"The model is there, and no worker holds it.{why}"
        return replace(state, message=message, model_id=spec.model_id, revision=spec.revision)

    def _resting(self, role: Role) -> str:
        rest = self._rests.get(role)
        return "" if rest is None else rest.message


def _read(settings: Settings) -> tuple[str, Held, str]:
    """The tier in use, its models, and why there are none where the list of models cannot be used."""
    tier = tier_in_use(settings.root)
    try:
        return tier, held_models(settings.root, read_manifest(settings.models_manifest)), ""
    except LeanMemoryError as error:
        return tier, {}, str(error)
