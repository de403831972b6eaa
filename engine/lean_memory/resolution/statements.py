"""What an episode says, placed in world time."""

from __future__ import annotations

from dataclasses import dataclass

from lean_memory.domain import Act, Candidate, Instant, value_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A candidate placed in world time, with the key of its value.

    `object_key` is given where a rung of the contradiction ladder found that the candidate means a stored value
    that is spelled differently; otherwise it is the key of the candidate's own object.
    """

    candidate: Candidate
    valid_at: Instant
    object_key: str
    said_at: Instant | None = None
    """When it was said, where that is known."""

    @property
    def reaches(self) -> Instant:
        """The earliest moment it speaks of: a plan is known, and can be called off, before its time."""
        return self.valid_at if self.said_at is None else min(self.valid_at, self.said_at)


def statement(candidate: Candidate, t_ref: Instant, object_key: str | None = None) -> Statement:
    """Place a candidate: what gives no date of its own holds from the moment it was said."""
    at = candidate.valid_at if candidate.valid_at is not None else t_ref
    key = (
        object_key
        if object_key is not None
        else value_key(candidate.object or ("" if candidate.act is Act.RETRACT else candidate.fact_text))
    )
    return Statement(candidate=candidate, valid_at=at, object_key=key, said_at=t_ref)
