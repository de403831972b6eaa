"""What `lean-memory doctor` says of the models: whether the tier in use can work, and how the last download stands."""

from __future__ import annotations

from collections.abc import Iterator

from lean_memory.errors import LeanMemoryError
from lean_memory.models.library import ModelLibrary, PullState
from lean_memory.settings import read_settings
from lean_memory_desktop.cli.finding import Finding


def model_findings(root: str | None) -> Iterator[Finding]:
    """By names and lengths: reading gigabytes through is for `models pull`, which mends as well."""
    try:
        library = ModelLibrary.of(read_settings(root))
        yield from _findings(library)
    except LeanMemoryError as error:
        yield Finding(
            subject="models", sound=False, sentence=str(error), remedy="Look at LM_MODELS_MANIFEST, or use: lean-memory models use builtin"
        )


def _findings(library: ModelLibrary) -> Iterator[Finding]:
    tier = library.tier(library.in_use)
    if not tier.models:
        yield Finding(subject="models", sound=True, sentence="The built-in model is in use; no other is needed.")
    elif not library.is_here(tier.name):
        sentence = f"The models of {tier.name} are in use and not all here; the built-in model does the work."
        yield Finding(subject="models", sound=False, sentence=sentence, remedy=f"lean-memory models pull {tier.name}")
    elif lacking := library.packages_lacking:
        sentence = f"The models of {tier.name} are in use, and {', '.join(lacking)} are not installed; the built-in model does the work."
        yield Finding(subject="models", sound=False, sentence=sentence, remedy=library.packages_remedy)
    else:
        yield Finding(subject="models", sound=True, sentence=f"The models of {tier.name} are here and in use.")
    note = library.last_pull
    if note is not None and note.state in (PullState.FAILED, PullState.CUT_OFF) and not library.is_here(note.tier):
        # Nothing depends on it: a tier that is in use and not here is told above.
        yield Finding(subject="models", sound=True, sentence=f"The last download of {note.tier} did not end well: {note.sentence}")
