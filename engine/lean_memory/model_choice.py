"""Which models extraction may use beside the rules, by the settings; each is loaded, and its library imported, when first needed."""

from __future__ import annotations

from collections.abc import Callable

from lean_memory.errors import ModelUnavailableError
from lean_memory.models.ports import EntityRelationModel, TypingModel
from lean_memory.passes import Passes
from lean_memory.settings import Settings


def passes_of(settings: Settings) -> Passes:
    """The passes that the settings turn on; by default none."""
    return Passes(entities=_entities(settings), typing=_typing(settings))


def passes_beside(settings: Settings, entities: Callable[[], EntityRelationModel] | None) -> Passes:
    """The same for a process that must not load torch: entities and relations are read by `entities`, which another one runs.

    What the settings want read by GLiNER2 then waits for a process that may load it.
    """
    elsewhere = entities or (None if settings.gliner_model is None else _not_here)
    return Passes(entities=elsewhere, typing=_typing(settings))


def _not_here() -> EntityRelationModel:
    raise ModelUnavailableError("GLiNER2 is not loaded in the service; `lean-memory finish` reads what waits for it.")


def _entities(settings: Settings) -> Callable[[], EntityRelationModel] | None:
    name = settings.gliner_model
    if name is None:
        return None

    def load() -> EntityRelationModel:
        from lean_memory.models.local import load_gliner  # noqa: PLC0415 - torch comes with it

        return load_gliner(name, offline=not settings.may_download)

    return load


def _typing(settings: Settings) -> Callable[[], TypingModel] | None:
    name = settings.typing_model
    if name is None:
        return None

    def load() -> TypingModel:
        from lean_memory.models.ollama import OllamaTyping  # noqa: PLC0415 - an extra, and an HTTP client with it

        return OllamaTyping(name, host=settings.ollama_host, timeout=settings.typing_timeout)

    return load
