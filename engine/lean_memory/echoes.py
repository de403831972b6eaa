"""What an episode only gives back of what the memory served: it is tied to the fact it repeats, and is no evidence for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lean_memory.changes import ChangeSet, FactRef, NewEvidence
from lean_memory.domain import Act, Candidate, Episode, FactId, Source, Span, value_key
from lean_memory.extraction.echo import Ledger, Served
from lean_memory.resolution.statements import Statement
from lean_memory.store.namespace_store import WriteTransaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Echoes:
    """What is written of echoes, and the current facts that they repeat; a cold one does not come back by that."""

    changes: ChangeSet = field(default_factory=ChangeSet)
    of: tuple[FactId, ...] = ()


def without_echoes(
    tx: WriteTransaction, statements: Sequence[Statement], episode: Episode, ledger: Ledger
) -> tuple[list[Statement], Echoes]:
    """The statements that are new evidence, and what the others are.

    A person's words are an echo only of what still holds: saying an ended value again is a change. So is a statement whose slot is
    spoken of in another way in the same episode.
    """
    spoken = Counter((s.candidate.subject, s.candidate.predicate) for s in statements)
    echoes: dict[int, tuple[Served, int, bool]] = {}
    for number, said in enumerate(statements):
        served = ledger.echoed(said.candidate, source=episode.source, t_ref=episode.t_ref)
        if served is None or spoken[said.candidate.subject, said.candidate.predicate] > 1:
            continue
        stands = tx.standing(served.fact_id)
        if stands is not None and (stands[1] or episode.source is not Source.USER):
            echoes[number] = (served, *stands)
    if not echoes:
        return list(statements), Echoes()
    texts = {_place(statements[number].candidate) for number in echoes}
    # What an echo implies, such as that a dislike ends a liking, is an echo too.
    new = [s for n, s in enumerate(statements) if n not in echoes and not (s.candidate.act is Act.RETRACT and _place(s.candidate) in texts)]
    return new, Echoes(
        changes=ChangeSet(evidence=tuple(_evidence(statements[number], served, row) for number, (served, row, _) in echoes.items())),
        of=tuple(dict.fromkeys(served.fact_id for served, _, is_latest in echoes.values() if is_latest)),
    )


def _place(candidate: Candidate) -> tuple[Span, str]:
    return candidate.span, candidate.fact_text


def _evidence(said: Statement, served: Served, row: int) -> NewEvidence:
    """The tie between a passage and the fact it repeats; it stands in the fact's slot, whatever the words made of it."""
    candidate = replace(said.candidate, subject=served.subject, predicate=served.predicate, object=served.object, additive=False)
    key = value_key(served.object or candidate.fact_text)
    return NewEvidence(candidate=candidate, object_key=key, act=Act.ECHO, valid_at=said.valid_at, valid_to=None, fact=FactRef(row=row))
