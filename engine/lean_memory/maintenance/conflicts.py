"""Facts that contradict each other and may both be current: a person is asked which one holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from lean_memory.domain import STATES, Cardinality, Fact, FactId, Modality, Polarity, RecordKind, name_key, value_key
from lean_memory.extraction import vocabulary
from lean_memory.maintenance.candidates import Wordings, blocks, near_pairs
from lean_memory.maintenance.difference import Comparison, Differs, compare, names_its_subject, shown
from lean_memory.maintenance.drafts import Draft, Snapshot
from lean_memory.maintenance.wording import Kind, Word, Wording, wording
from lean_memory.proposals import BOTH, ProposalKind

_LONGEST_VALUE = 3
"""Words of a stretch that one account has in the place of another."""
_FURTHEST = 2 * _LONGEST_VALUE + 2
"""Two accounts of one matter do not differ in more words, inflected and related ones among them."""
_SHARED = 2
_SHARED_ACROSS = 3
"""Words that two accounts must share, among them a name where their subjects are not the same."""
_MOST = 6


def conflicts(snapshot: Snapshot, texts: Wordings | None = None) -> Iterator[Draft]:
    """Asserted facts of which only one can hold, or that say the contrary of each other; nearest first within a matter."""
    texts = texts or Wordings(snapshot.facts)
    taken: set[FactId] = set()
    for draft in (*_rival_values(snapshot), *_contraries(snapshot), *_accounts(snapshot, texts)):
        if taken.isdisjoint(draft.fact_ids):
            taken.update(draft.fact_ids)
            yield draft


def contradiction(one: Wording, other: Wording, *, across: bool = False) -> Comparison | None:
    """What two accounts of one matter contradict each other in, if they do: all they say is the same but one stretch in one place.

    That is a denial, or a number, an opposite or a name behind a verb of what can be so in one way only. `across`: the accounts may be
    about different subjects, so that they must share a name, too.
    """
    if len(one.keys ^ other.keys) > _FURTHEST:
        return None
    found = compare(one, other, exact=True)
    if found.differs is None or found.shared < (_SHARED_ACROSS if across else _SHARED):
        return None
    if across and not _share_a_name(one, other):
        return None
    match found.differs:
        case Differs.NEGATION:
            return found if len(found.only_first) + len(found.only_second) == 1 else None
        case Differs.NUMBER:
            is_alike = _are_all(Kind.NUMBER, found)
        case Differs.OPPOSITE:
            is_alike = len(found.only_first) == len(found.only_second) == 1
        case Differs.NAME:
            is_alike = not across and _are_all(Kind.NAME, found)
        case _:
            is_alike = False
    is_said = _is_said(one, found.only_first) and _is_said(other, found.only_second)
    return found if is_alike and is_said and _is_one_place(one, other, found) else None


def _is_said(said: Wording, words: Sequence[Word]) -> bool:
    """Whether the words are what is said, not what it is said of: behind the verb, or a time or an amount with its unit."""
    if said.says_from is not None and all(word.at > said.says_from for word in words):
        return True
    return all(word.kind is Kind.NUMBER and not word.key.isdecimal() for word in words)


def _is_open(fact: Fact, snapshot: Snapshot) -> bool:
    is_asserted = fact.modality is Modality.ASSERTED and fact.record_kind is RecordKind.FACT and not fact.flags
    return is_asserted and fact.is_latest and fact.valid_at <= snapshot.now and fact.id not in snapshot.held


def _rival_values(snapshot: Snapshot) -> Iterator[Draft]:
    """Values of a slot that holds one, from sources of different trust: what is less trusted never retires the other by itself.

    Values from equally trusted sources were kept side by side because the person said so ("also").
    """
    found: dict[Hashable, list[Fact]] = defaultdict(list)
    for fact in snapshot.facts:
        is_single = vocabulary.cardinality(fact.predicate) is Cardinality.FUNCTIONAL
        if is_single and fact.polarity is Polarity.POSITIVE and _is_open(fact, snapshot):
            found[name_key(fact.subject), fact.predicate].append(fact)
    for facts in found.values():
        values = list({value_key(fact.object): fact for fact in reversed(facts)}.values())[::-1][:_MOST]
        if len(values) > 1 and len({fact.trust for fact in values}) > 1:
            yield _draft(tuple(values), f"Only one of these can hold for {facts[0].subject}, and they come from different sources.")


def _contraries(snapshot: Snapshot) -> Iterator[Draft]:
    """The same value said and denied in one slot, or said with predicates that are each other's opposite."""
    matters: dict[Hashable, list[Fact]] = defaultdict(list)
    for fact in snapshot.facts:
        if fact.predicate != STATES and fact.object and _is_open(fact, snapshot):
            opposite = vocabulary.opposite(fact.predicate)
            matters[name_key(fact.subject), min(fact.predicate, opposite or fact.predicate)].append(fact)
    for facts in matters.values():
        # Reading values takes time, and hardly anything is ever denied.
        yield from _contraries_of(facts) if len({_stance(fact) for fact in facts}) > 1 else ()


def _contraries_of(facts: Sequence[Fact]) -> Iterator[Draft]:
    values: dict[Hashable, dict[bool, Fact]] = defaultdict(dict)
    for fact in facts:
        values[_plain(fact.object)][_stance(fact)] = fact
    for stances in values.values():
        if len(stances) > 1:
            yield _draft(tuple(stances.values()), "One of these says the contrary of the other.")


def _plain(value: str) -> tuple[str, ...]:
    return tuple(word.key for word in wording(value).words)


def _stance(fact: Fact) -> bool:
    """Whether a fact speaks for its value, as far as its predicate and polarity say."""
    opposite = vocabulary.opposite(fact.predicate)
    is_first = opposite is None or fact.predicate < opposite
    return is_first is (fact.polarity is Polarity.POSITIVE)


def _accounts(snapshot: Snapshot, texts: Wordings) -> Iterator[Draft]:
    """Statements without a better predicate, of one subject or of several, that tell the same matter differently."""
    stated = [(place, fact) for place, fact in enumerate(snapshot.facts) if fact.predicate == STATES and _is_open(fact, snapshot)]
    for block in blocks((place, name_key(fact.subject)) for place, fact in stated):
        yield from _contradictions(snapshot, block, texts, across=False)
    yield from _contradictions(snapshot, [place for place, _ in stated], texts, across=True)


def _contradictions(snapshot: Snapshot, block: Sequence[int], texts: Wordings, *, across: bool) -> Iterator[Draft]:
    facts = snapshot.facts
    for near in near_pairs(snapshot, block, texts, snapshot.thresholds.conflict_candidate):
        one, other = facts[near.first], facts[near.second]
        if across and name_key(one.subject) == name_key(other.subject):
            continue
        found = contradiction(texts[near.first], texts[near.second], across=across)
        if found is not None:
            yield _draft((one, other), _told(found), near.cosine)


def _told(found: Comparison) -> str:
    first, second = shown(found.only_first), shown(found.only_second)
    if found.differs is Differs.NEGATION:
        return "One of these says what the other denies."
    return f"These tell the same with “{first}” and with “{second}”."


def _share_a_name(one: Wording, other: Wording) -> bool:
    """Whether both name the same thing, and neither speaks of somebody by a pronoun that could be anybody."""
    keys = [{word.key for word in each.words if word.kind is Kind.NAME} for each in (one, other)]
    return bool(keys[0] & keys[1]) and names_its_subject(one, other)


def _are_all(kind: Kind, found: Comparison) -> bool:
    return all(word.kind is kind for word in (*found.only_first, *found.only_second))


def _is_one_place(one: Wording, other: Wording, found: Comparison) -> bool:
    """Whether what only one of the accounts says stands in one stretch, and in the same place in both."""
    first, second = _stretch(one, found.only_first), _stretch(other, found.only_second)
    return first is not None and first == second


def _stretch(said: Wording, words: Sequence[Word]) -> int | None:
    """How many other words stand before the words, where they are one short stretch; `None` where they are not."""
    if not words or len(words) > _LONGEST_VALUE:
        return None
    counted = [word for word in said.words if word.kind not in {Kind.LIGHT, Kind.RELATION, Kind.JOINT}]
    places = [place for place, word in enumerate(counted) if any(word is each for each in words)]
    return places[0] if places and places[-1] - places[0] == len(places) - 1 else None


def _draft(facts: tuple[Fact, ...], reason: str, cosine: float | None = None) -> Draft:
    choices = tuple(fact.object if fact.predicate != STATES and fact.object else fact.fact_text for fact in facts)
    if len(set(choices)) < len(choices):
        choices = tuple(fact.fact_text for fact in facts)
    rounded = None if cosine is None else round(cosine, 4)
    return Draft(
        kind=ProposalKind.CONFLICT,
        entity=facts[0].subject,
        facts=facts,
        cosine=rounded,
        scores=() if rounded is None else (("cosine", max(0.0, min(1.0, rounded))),),
        reason=f"{reason} Which one is right, or do both hold?",
        choices=(*choices, BOTH),
    )
