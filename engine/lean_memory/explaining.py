"""Why a fact is held, from what is stored of it: nothing is kept for this alone."""

from __future__ import annotations

from lean_memory.domain import STATES, Ending, EndReason, Explanation, Fact, Trust, value_key
from lean_memory.resolution.contradiction import Rung, rung_of
from lean_memory.store.grounds import Grounds, Retraction

_SLOT = "slot"
_PASSES = {
    "rules": "the rules of the language",
    "gliner": "the entity model",
    "typer": "the language model",
    "maintenance": "maintenance, as you decided",
    "": "an unknown pass",
}
_RULES = {
    STATES: "a sentence that no rule knows better, kept as it was said",
    "tie": "how somebody is called in the sentence",
    "confirmation": "a confirmation that a later statement made a fact of its own",
}


def explanation(grounds: Grounds) -> Explanation:
    """The explanation of a fact."""
    fact = grounds.fact
    return Explanation(
        fact=fact,
        source_text=grounds.sentence,
        said_at=grounds.said_at,
        source=grounds.source,
        client=grounds.client,
        made_by=_made_by(fact),
        doubts=_doubts(fact),
        confirmed_at=grounds.confirmed_at,
        echoes=grounds.echoes,
        ended=tuple(_ending(one.fact, fact, grounds.sentence) for one in grounds.ended if one.fact.end_reason is not None),
        ending=_own_ending(grounds),
    )


def _made_by(fact: Fact) -> str:
    rule = _RULES.get(fact.rule, f"rule {fact.rule}" if fact.rule else "")
    made_by = _PASSES.get(fact.found_by, fact.found_by)
    return f"{made_by}: {rule}" if rule else made_by


def _doubts(fact: Fact) -> tuple[str, ...]:
    """The reasons noted with the fact, and those that its kind gives."""
    given = list(fact.reasons)
    if fact.rule == STATES:
        given.append("no rule knows the sentence, so it was kept whole")
    if fact.is_inference and fact.trust is Trust.INFERRED:
        given.append("an assistant said it, not the person")
    if fact.confidence < 1 and not given:
        given.append("its rule is not certain of its reading")
    return tuple(given)


def _ending(ended: Fact, by: Fact, sentence: str) -> Ending:
    return Ending(fact=ended, reason=ended.end_reason or EndReason.SUPERSEDED, rung=_rung_of_values(ended, by), said=sentence, by=by.id)


def _rung_of_values(ended: Fact, by: Fact) -> str:
    """A value gives way to itself (denied, fulfilled, said earlier) or to another one of a slot that holds one."""
    same = value_key(ended.object or ended.fact_text) == value_key(by.object or by.fact_text)
    return Rung.EQUAL.value if same else _SLOT


def _own_ending(grounds: Grounds) -> Ending | None:
    fact = grounds.fact
    if fact.end_reason is None:
        return None
    if grounds.successor is not None:
        return _ending(fact, grounds.successor.fact, grounds.successor.sentence)
    retraction = grounds.retraction
    if retraction is None:
        return Ending(fact=fact, reason=fact.end_reason, rung=_SLOT, said="")
    return Ending(fact=fact, reason=fact.end_reason, rung=_rung_of_words(fact, retraction), said=retraction.sentence)


def _rung_of_words(fact: Fact, retraction: Retraction) -> str:
    """How the words of a retraction were understood; where no words tell, the nearest meaning did."""
    if not retraction.object_key:
        return _SLOT
    rung = rung_of(value_key(retraction.value), value_key(fact.object or fact.fact_text))
    return Rung.COSINE.value if rung is None else rung.value
