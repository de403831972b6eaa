"""The JSON of `lean-memory models`. Keys are a contract (docs/commands.md, "JSON"): add to them, rename none. Sizes are bytes, times epoch milliseconds."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lean_memory.models.library import ModelLibrary, ModelStanding, PullNote, TierSpec

Json = dict[str, object]


def library_form(library: ModelLibrary) -> Json:
    """Every tier, the one in use, and the last download."""
    note = library.last_pull
    return {
        "in_use": library.in_use,
        "folder": str(library.folder),
        "tiers": [_tier_form(library, tier) for tier in library.tiers],
        "last_pull": None if note is None else _note_form(note),
    }


def _tier_form(library: ModelLibrary, tier: TierSpec) -> Json:
    return {
        "name": tier.name,
        "here": library.is_here(tier.name),
        "bytes": tier.size,
        "models": [_standing_form(standing) for standing in library.standing(tier.name)],
    }


def _standing_form(standing: ModelStanding) -> Json:
    spec = standing.spec
    return {
        "id": spec.model_id,
        "revision": spec.revision,
        "role": spec.role.value,
        "licence": spec.licence,
        "bytes": spec.size,
        "here_bytes": standing.here,
        "whole": standing.whole,
        "folder": str(standing.folder),
        "sums": {voucher.value: count for voucher, count in standing.vouchers.items()},
    }


def _note_form(note: PullNote) -> Json:
    return {**asdict(note), "state": note.state.value}
