"""Whether two sentences say the same: numbers, names, signs and every other word must find their counterpart, in the same order.

A cosine finds candidates and decides nothing. Two words are counterparts when they are equal, inflected forms of one, one word written
as two, or listed as saying the same. Anything else that only one of the two says is a difference, and the kind of it is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from lean_memory.maintenance.lexicon import Lexicon
from lean_memory.maintenance.wording import PASSIVE, Kind, Word, Wording

_MORE = 3
"""One sentence may have one ordinary word more for each so many that both have."""


class Differs(StrEnum):
    """In what two sentences differ, the gravest first."""

    NUMBER = "number"
    NEGATION = "negation"
    SIGN = "sign"
    """Possibility, intention, direction, quantity, person, or who does it to whom."""
    OPPOSITE = "opposite"
    NAME = "name"
    WORD = "word"
    ORDER = "order"
    """The same words, said of each other the other way round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What comparing two sentences found; they say the same where `differs` is `None`."""

    differs: Differs | None
    only_first: tuple[Word, ...] = ()
    only_second: tuple[Word, ...] = ()
    shared: int = 0
    """How many words found their counterpart."""

    @property
    def same(self) -> bool:
        return self.differs is None

    @property
    def says_more(self) -> int:
        """-1 if the first sentence says more than the second, 1 the other way round, else 0."""
        return bool(self.only_second) - bool(self.only_first)

    @property
    def doubtful(self) -> int:
        """How many words of either sentence at most are not known to have a counterpart, where they may have one: none are names or numbers,
        or change or own what they stand before. 0 where there are others, or as many as of those that have one.
        """
        most = max(len(self.only_first), len(self.only_second))
        words = (*self.only_first, *self.only_second)
        may_be = self.differs is Differs.WORD and all(word.kind is Kind.WORD and not word.leads for word in words)
        return most if may_be and most < self.shared else 0


def compare(first: Wording, second: Wording, *, exact: bool = False) -> Comparison:
    """Hold two sentences against each other; with `exact` neither may say more than the other."""
    found = _compare(first, second, exact=exact)
    if found.differs is not Differs.SIGN or (PASSIVE in first.keys) is (PASSIVE in second.keys):
        return found
    told = _compare(_active(first), second, exact=exact) if PASSIVE in first.keys else _compare(first, _active(second), exact=exact)
    return told if told.same else found


def _active(said: Wording) -> Wording:
    """The passive as the active: "The roof was mended by two friends in May" as "two friends mended the roof in May"."""
    words = said.words
    at = next(place for place, word in enumerate(words) if word.key == PASSIVE)
    ends = next((place for place in range(at + 1, len(words)) if words[place].kind in _BOUNDS), len(words))
    doers, verb, done_to, rest = words[at + 1 : ends], words[at - 1 : at], words[: max(0, at - 1)], words[ends:]
    return replace(said, words=(*doers, *verb, *done_to, *rest), keys=said.keys - {PASSIVE})


_BOUNDS = frozenset({Kind.SIGN, Kind.RELATION})


def _compare(first: Wording, second: Wording, *, exact: bool) -> Comparison:
    pairs = _counterparts(first, second)
    paired = frozenset(pairs.values())
    left = tuple(word for place, word in enumerate(first.words) if place not in pairs and word.kind is not Kind.LIGHT)
    right = tuple(word for place, word in enumerate(second.words) if place not in paired and word.kind is not Kind.LIGHT)
    shared = sum(first.words[place].kind not in _SLIGHT for place in pairs)
    spaced = first.spaced and second.spaced
    differs = _in_words(left, right, first.lexicon, shared=shared, may_say_more=not exact and spaced)
    if differs is None and not _same_order(first, second, pairs, spaced=spaced):
        differs = Differs.ORDER
    only_first, only_second = (tuple(word for word in side if word.kind not in _SLIGHT) for side in (left, right))
    return Comparison(differs=differs, only_first=only_first, only_second=only_second, shared=shared)


_SLIGHT = frozenset({Kind.LIGHT, Kind.RELATION, Kind.JOINT})


def _in_words(left: Sequence[Word], right: Sequence[Word], known: Lexicon, *, shared: int, may_say_more: bool) -> Differs | None:
    """The gravest difference in what only one of the two sentences says."""
    words = [word for word in (*left, *right) if word.kind not in _SLIGHT]
    kinds = {word.kind for word in words}
    grave = _grave(left, right, known, kinds)
    if grave is not None or not words:
        return grave
    one_sided = all(word.kind in _SLIGHT for word in left) or all(word.kind in _SLIGHT for word in right)
    allowed = may_say_more and one_sided and Kind.CRITICAL not in kinds and not any(word.leads for word in words)
    if allowed and len(words) * _MORE <= shared:
        return None
    return Differs.NAME if Kind.NAME in kinds else Differs.WORD


def _grave(left: Sequence[Word], right: Sequence[Word], known: Lexicon, kinds: set[Kind]) -> Differs | None:
    """What no two sentences that say the same differ in, however much they share."""
    if Kind.NUMBER in kinds:
        return Differs.NUMBER
    if Kind.SIGN in kinds:
        return Differs.NEGATION if any(word.key in _NEGATIONS for word in (*left, *right)) else Differs.SIGN
    if all(any(word.kind is Kind.PERSON for word in side) for side in (left, right)):
        return Differs.SIGN
    if any(frozenset({one.key, other.key}) in known.opposites for one in left for other in right):
        return Differs.SIGN
    if any(_contrary(one, other) for one in left for other in right):
        return Differs.OPPOSITE
    return None


_NEGATIONS = frozenset({"not!", "ended!"})


def names_its_subject(*accounts: Wording) -> bool:
    """Whether no account speaks of somebody by a pronoun that could be anybody, so that it can be held against one of another subject.

    One that stands behind a name is taken to be of the sentence itself.
    """
    return not any(_speaks_of_anybody(each) for each in accounts)


def _speaks_of_anybody(said: Wording) -> bool:
    first = next((word for word in said.words if word.kind is Kind.NAME or word.key in _ANYBODY), None)
    return first is not None and first.kind is not Kind.NAME


_ANYBODY = frozenset({"he!", "she!", "they!"})


def is_counterpart(one: Word, other: Word) -> bool:
    """Whether two words say the same by themselves: equal, inflected forms or spellings of one, or listed as such."""
    return one.key == other.key or _inflected(one, other) or _listed(one, other)


def _counterparts(first: Wording, second: Wording) -> dict[int, int]:
    """The place in the second sentence of each word's counterpart, surest ones first."""
    pairs: dict[int, int] = {}
    free = _by_key(second.words)
    for place, word in enumerate(first.words):
        if free.get(word.key):
            found = max(free[word.key], key=lambda each: (_neighbours(first.words, place, second.words, each), -each))
            free[word.key].remove(found)
            pairs[place] = found
    taken = set(pairs.values())
    for alike in (_inflected, _listed, _implied):
        waiting = [place for place in range(len(second.words)) if place not in taken]
        if not waiting or len(pairs) == len(first.words):
            break
        for place, word in enumerate(first.words):
            found = next((each for each in waiting if alike(word, second.words[each])), None) if place not in pairs else None
            if found is not None:
                pairs[place] = found
                taken.add(found)
                waiting.remove(found)
    _pair_compounds(first.words, second.words, pairs, taken)
    _pair_initials(first.words, second.words, pairs, taken)
    return pairs


def _neighbours(first: Sequence[Word], place: int, second: Sequence[Word], other: int) -> int:
    """How many of the words beside two words are the same."""
    sides = ((place + step, other + step) for step in (-1, 1))
    return sum(0 <= one < len(first) and 0 <= two < len(second) and first[one].key == second[two].key for one, two in sides)


def _by_key(words: Sequence[Word]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        places.setdefault(word.key, []).append(place)
    return places


def _inflected(one: Word, other: Word) -> bool:
    return not one.forms.stems.isdisjoint(other.forms.stems)


def _listed(one: Word, other: Word) -> bool:
    return one.kind is other.kind and not one.forms.same.isdisjoint(other.forms.same)


def _implied(one: Word, other: Word) -> bool:
    """Whether one is a way of doing the other: who chops it cuts it."""
    mine, theirs = one.forms, other.forms
    return not (mine.wider.isdisjoint(theirs.narrower) and mine.narrower.isdisjoint(theirs.wider))


def _contrary(one: Word, other: Word) -> bool:
    return any(-number in other.forms.contrary for number in one.forms.contrary) or not one.forms.rivals.isdisjoint(other.forms.rivals)


def _pair_compounds(first: Sequence[Word], second: Sequence[Word], pairs: dict[int, int], taken: set[int]) -> None:
    """One word written as two: "sunglasses" and "sun glasses". Both halves count as paired with the whole."""
    for place in range(len(first) - 1):
        if place not in pairs and place + 1 not in pairs:
            joined = first[place].key + first[place + 1].key
            found = next((each for each, word in enumerate(second) if each not in taken and word.key == joined), None)
            if found is not None:
                pairs[place] = pairs[place + 1] = found
                taken.add(found)
    for each in range(len(second) - 1):
        if each not in taken and each + 1 not in taken:
            joined = second[each].key + second[each + 1].key
            place = next((at for at, word in enumerate(first) if at not in pairs and word.key == joined), None)
            if place is not None:
                pairs[place] = each
                taken.update((each, each + 1))


def _pair_initials(first: Sequence[Word], second: Sequence[Word], pairs: dict[int, int], taken: set[int]) -> None:
    """A name and its initials: "Supreme Court" and "SC". Every word of the name counts as paired with them."""
    free = [place for place in range(len(first)) if place not in pairs]
    left = [place for place in range(len(second)) if place not in taken]
    for place in free:
        if run := _spelled_out(first[place], second, left):
            pairs[place] = run[0]
            taken.update(run)
            left = [each for each in left if each not in run]
    for each in left:
        if run := _spelled_out(second[each], first, [place for place in free if place not in pairs]):
            pairs.update(dict.fromkeys(run, each))
            taken.add(each)


def _spelled_out(word: Word, words: Sequence[Word], free: Sequence[int]) -> list[int]:
    """The places, among the free ones, of names in a row whose initials a word is; none where there are none."""
    size = len(word.shown)
    if word.kind is not Kind.NAME or size < 2 or not (word.shown.isalpha() and word.shown.isupper()):
        return []
    runs = ([place + step for step in range(size)] for place in free)
    found = (run for run in runs if set(run) <= set(free) and _are_initials(word.shown, [words[each] for each in run]))
    return next(found, list[int]())


def _are_initials(letters: str, words: Sequence[Word]) -> bool:
    return all(word.kind is Kind.NAME and word.shown[0] == letter for letter, word in zip(letters, words, strict=True))


def _same_order(first: Wording, second: Wording, pairs: dict[int, int], *, spaced: bool) -> bool:
    """Whether the words stand in the same order, or phrases stand elsewhere: "in 1995, ...", "at school".

    A phrase may move where it begins with a relation or behind a comma, or is the whole beginning or end of one of the sentences. Who said
    it may stand anywhere, and two that are joined by "and" either way round.
    """
    tellers = {place for place in _tellers(first) if pairs.get(place) in _tellers(second)}
    places = [place for place in sorted(pairs) if first.words[place].kind not in _ANYWHERE and place not in tellers]
    order = _ranks([pairs[place] for place in places])
    stretches = [{place: pairs[place] for place in places[start:end]} for start, end in _turned(order)]
    return all(spaced and _is_swap(first, second, each, whole=len(each) == len(places)) for each in stretches)


def _tellers(said: Wording) -> set[int]:
    """The places of "said", and of the name before it."""
    told = [place for place, word in enumerate(said.words) if word.key == _SAID]
    return {place for each in told for place in (each, *_name_before(said, each))}


def _name_before(said: Wording, place: int) -> Iterator[int]:
    for before in range(place - 1, -1, -1):
        if said.words[before].kind is not Kind.NAME:
            return
        yield before
        if said.words[before].opens:
            return


def _turned(order: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where the order is another: the smallest stretches that hold the same places turned round."""
    start = farthest = 0
    for at, rank in enumerate(order):
        farthest = max(farthest, rank)
        if farthest == at:
            if at > start:
                yield start, at + 1
            start = at + 1


def _is_swap(first: Wording, second: Wording, pairs: Mapping[int, int], *, whole: bool) -> bool:
    """Whether the pairs of a stretch are two phrases that have changed places, and may."""
    moved, places = _ranks(list(pairs.values())), list(pairs)
    cut = next((at for at in range(1, len(moved)) if moved[at] != moved[at - 1] + 1), len(moved))
    if [*moved[cut:], *moved[:cut]] != sorted(moved):
        return False
    one, other = places[0], places[cut]
    if whole and len(moved) > 3:
        return True
    if any(_follows(first, each, Kind.RELATION) or _follows(second, pairs[each], Kind.RELATION) for each in (one, other)):
        return True
    if first.words[other].opens or second.words[pairs[one]].opens:
        return True
    return _follows(first, other, Kind.JOINT) and _follows(second, pairs[one], Kind.JOINT)


_SAID = "said!"
_ANYWHERE = frozenset({Kind.LIGHT, Kind.JOINT})


def _follows(wording: Wording, place: int, kind: Kind) -> bool:
    """Whether a word is, or stands behind, one of a kind."""
    return any(wording.words[at].kind is kind for at in (place, place - 1) if at >= 0)


def _ranks(places: Sequence[int]) -> list[int]:
    """The places as 0, 1, 2 … in their order; the two halves of a compound share a place and keep theirs."""
    order = sorted(range(len(places)), key=lambda at: (places[at], at))
    ranks = [0] * len(places)
    for rank, at in enumerate(order):
        ranks[at] = rank
    return ranks


def shown(words: Iterable[Word]) -> str:
    """The words as they stand in the text, for a sentence to a person."""
    return ", ".join(word.shown for word in words)


def marks(said: Wording) -> frozenset[str]:
    """Keys of a sentence of which two sentences that say the same have some in common: its ordinary words and names, uninflected."""
    kinds = {Kind.WORD, Kind.NAME}
    return frozenset(min(word.forms.stems, key=lambda stem: (len(stem), stem)) for word in said.words if word.kind in kinds)
