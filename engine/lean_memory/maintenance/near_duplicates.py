"""Facts of one slot that say the same in other words: a person is asked whether one of them is enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lean_memory.domain import STATES, Fact, FactId, RecordKind, name_key, outranks, value_key
from lean_memory.maintenance.candidates import Near, Wordings, blocks, near_pairs
from lean_memory.maintenance.difference import Comparison, Differs, compare, names_its_subject, shown
from lean_memory.maintenance.drafts import Draft, Snapshot
from lean_memory.maintenance.wording import Wording, wording
from lean_memory.models.ports import CosineThresholds
from lean_memory.proposals import ProposalKind

_MOST = 8
"""Facts of one proposal; more cannot be compared at a glance."""


def near_duplicates(snapshot: Snapshot, texts: Wordings | None = None) -> Iterator[Draft]:
    """Merges of open facts of one slot that say the same: near by cosine, and different in no number, name, sign or other word.

    Where one says a little more, their cosine must reach the embedder's threshold for duplicates. Where each word has its counterpart the
    words have decided already, and the cosine need only be that of one matter. Two plain statements between which the cosine leaves hardly a
    doubt may also differ in ordinary words that are not known to be alike.

    The survivor says at least as much as each of the others, and nothing that is more trusted is merged into what is less.
    """
    texts = texts or Wordings(snapshot.facts)
    for block in blocks((place, _slot(fact)) for place, fact in enumerate(snapshot.facts) if _may_merge(fact, snapshot)):
        yield from _merges(snapshot, block, texts)


def repeated_elsewhere(snapshot: Snapshot, texts: Wordings | None = None, *, without: frozenset[FactId] = frozenset()) -> Iterator[Draft]:
    """Demotions of plain statements that another fact, filed in another slot, says as well.

    Whom a plain statement is about is a guess, and that no better predicate says it too, so one thing said twice can stand in two slots.
    Two plain statements are held against each other as in one slot; what has a better predicate must say it word by word.
    Slots have timelines of their own, and a fact cannot close with one of another slot: so nothing is merged, and the plain one (of two,
    the one that says less, or was recorded later) only leaves the latest searches. `without` are facts that are in another proposal of the
    same run.
    """
    texts = texts or Wordings(snapshot.facts)
    places = [place for place, fact in enumerate(snapshot.facts) if _may_merge(fact, snapshot)]
    if all(snapshot.facts[place].predicate != STATES for place in places):
        return
    taken = set(without | snapshot.kept)
    for near in near_pairs(snapshot, places, texts, snapshot.thresholds.conflict_candidate):
        found = _elsewhere(snapshot, near, texts)
        if found is not None and taken.isdisjoint(fact.id for fact in found):
            taken.update(fact.id for fact in found)
            yield _repeated(*found, near.cosine)


def _elsewhere(snapshot: Snapshot, near: Near, texts: Wordings) -> tuple[Fact, Fact] | None:
    """Of two facts of different slots the one that would stay and the plain one that would not; `None` where neither may stand for the other."""
    one, other = snapshot.facts[near.first], snapshot.facts[near.second]
    said = texts[near.first], texts[near.second]
    if not (_may_stand_for(one, other) and said[0].fixed == said[1].fixed and names_its_subject(*said)):
        return None
    if one.predicate == other.predicate:
        kept = _survivor(one, other, _judged(snapshot, near, texts))
    else:
        kept = (other if one.predicate == STATES else one) if compare(*said, exact=True).same else None
    again = one if kept is other else other
    return None if kept is None or outranks(again.trust, kept.trust) else (kept, again)


def _may_stand_for(one: Fact, other: Fact) -> bool:
    """Whether one of two facts is a plain statement, and they were said in another slot, in another sentence, and in the same way."""
    is_one_sentence = one.span is not None and (one.episode_id, one.span) == (other.episode_id, other.span)
    is_plain = STATES in {one.predicate, other.predicate}
    return is_plain and not is_one_sentence and _slot(one)[:2] != _slot(other)[:2] and _slot(one)[2:] == _slot(other)[2:]


def _repeated(kept: Fact, again: Fact, cosine: float) -> Draft:
    return Draft(
        kind=ProposalKind.DEMOTION,
        entity=again.subject,
        facts=(again,),
        rests_on=(kept,),
        cosine=round(cosine, 4),
        scores=(("cosine", max(0.0, min(1.0, round(cosine, 4)))),),
        reason=f"It says the same as “{kept.fact_text}”, which is filed under {kept.subject} and stays. It would stay findable for past "
        "dates and when cold facts are included.",
    )


def _judged(snapshot: Snapshot, near: Near, texts: Wordings) -> Comparison:
    """What the words of two facts tell, and their cosine where it has a say."""
    one, other = snapshot.facts[near.first], snapshot.facts[near.second]
    found = same_statement(one, other, (near.first, near.second), texts)
    if found.same and found.says_more and near.cosine < snapshot.thresholds.duplicate:
        return replace(found, differs=Differs.WORD)
    if one.predicate == STATES and _hardly_differs(found, near.cosine, texts[near.first], snapshot.thresholds):
        return Comparison(differs=None)
    return found


def same_statement(one: Fact, other: Fact, texts: tuple[int, int], read: Wordings) -> Comparison:
    """Hold two facts of one slot against each other, by their texts, and where they have values by these too."""
    said = compare(read[texts[0]], read[texts[1]])
    if one.predicate == STATES or said.differs in _BY_TEXT:
        return said
    return compare(wording(one.object), wording(other.object), exact=True)


_BY_TEXT = frozenset({Differs.NUMBER, Differs.NEGATION})
_WORDS_OF_A_STATEMENT = 8


def _hardly_differs(found: Comparison, cosine: float, said: Wording, thresholds: CosineThresholds) -> bool:
    """Whether the words that two statements do not share move their vectors so little that they may say the same.

    One other word moves a long statement less than a short one. So what is missing from a cosine of 1 is taken times the words of the
    statement for each word in doubt; the `near_certain` cosine is that of one word in a statement of a common length. Other languages than
    that of a thesaurus are left out: there nothing else tells red from blue.
    """
    if not (found.doubtful and said.lexicon.has_thesaurus and cosine >= thresholds.duplicate):
        return False
    doubt = (1.0 - cosine) * (found.shared + found.doubtful) / found.doubtful
    return doubt <= (1.0 - thresholds.near_certain) * _WORDS_OF_A_STATEMENT


def _slot(fact: Fact) -> tuple[str, str, str, str]:
    return name_key(fact.subject), fact.predicate, fact.polarity, fact.modality


def _may_merge(fact: Fact, snapshot: Snapshot) -> bool:
    is_open = fact.is_latest and fact.valid_to is None and fact.record_kind is RecordKind.FACT
    return is_open and fact.id not in snapshot.held and not fact.flags


def _merges(snapshot: Snapshot, block: Sequence[int], texts: Wordings) -> Iterator[Draft]:
    facts = snapshot.facts
    partners: dict[int, list[tuple[Near, int]]] = defaultdict(list)
    for near in near_pairs(snapshot, block, texts, snapshot.thresholds.conflict_candidate):
        one, other = facts[near.first], facts[near.second]
        if (
            _is_repeated(one, other)
            or frozenset((one.id, other.id)) in snapshot.refused
            or texts[near.first].fixed != texts[near.second].fixed
        ):
            continue
        found = _judged(snapshot, near, texts)
        survivor = _survivor(one, other, found)
        if survivor is not None:
            kept, merged = (near.first, near.second) if survivor is one else (near.second, near.first)
            partners[kept].append((near, merged))
    yield from _drafts(snapshot, partners, texts)


def _is_repeated(one: Fact, other: Fact) -> bool:
    """Whether they are exact duplicates, which a run merges by itself."""
    return value_key(one.object or one.fact_text) == value_key(other.object or other.fact_text) and one.trust is other.trust


def _survivor(one: Fact, other: Fact, found: Comparison) -> Fact | None:
    if not found.same:
        return None
    if one.trust is not other.trust:
        trusted = other if outranks(other.trust, one.trust) else one
        says_less = found.says_more == (1 if trusted is one else -1)
        return None if says_less else trusted
    if found.says_more:
        return other if found.says_more > 0 else one
    return min((one, other), key=lambda fact: (fact.valid_at, fact.recorded_at, fact.id))


def _drafts(snapshot: Snapshot, partners: dict[int, list[tuple[Near, int]]], texts: Wordings) -> Iterator[Draft]:
    """Each survivor with those that it can stand for, the one with most of them first; no fact is in two of the drafts."""
    facts, taken = snapshot.facts, set[FactId]()
    for kept, found in sorted(partners.items(), key=lambda item: (-len(item[1]), item[0])):
        if facts[kept].id in taken:
            continue
        chosen = [(near, merged) for near, merged in found if facts[merged].id not in taken][: _MOST - 1]
        if chosen:
            members = (kept, *(merged for _, merged in chosen))
            taken.update(facts[place].id for place in members)
            yield _draft(members, min(near.cosine for near, _ in chosen), texts)


def _draft(places: tuple[int, ...], cosine: float, texts: Wordings) -> Draft:
    facts = tuple(texts.facts[place] for place in places)
    survivor, others = facts[0], facts[1:]
    more = [compare(texts[place], texts[places[0]]).only_second for place in places[1:]]
    extra = shown(dict.fromkeys(word for words in more for word in words))
    says = f"The first also says “{extra}”. " if extra else ""
    return Draft(
        kind=ProposalKind.MERGE,
        entity=survivor.subject,
        facts=facts,
        cosine=round(cosine, 4),
        scores=(("cosine", max(0.0, min(1.0, round(cosine, 4)))),),
        reason=f"{_count(len(facts))} say the same in other words. {says}The first would be kept, and the "
        f"{'other stays' if len(others) == 1 else 'others stay'} in its history.",
    )


def _count(number: int) -> str:
    return "These two" if number == 2 else f"These {number}"
