"""The first pass: tries the rules of the pack on a clause and makes candidates of what they match."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lean_memory.domain import USER, Act, Candidate, Cardinality, Instant, Modality, Polarity
from lean_memory.extraction import vocabulary
from lean_memory.extraction.clauses import Clause
from lean_memory.extraction.modality import Reading, read
from lean_memory.extraction.names import predicate_name
from lean_memory.extraction.objects import accepts, clean, items
from lean_memory.extraction.pack import Emit, Pack, Rule
from lean_memory.extraction.pattern import forms_of
from lean_memory.extraction.rewriting import apart, phrase, standalone
from lean_memory.extraction.scene import Scene, Subject, Tie, resolve
from lean_memory.extraction.sentences import Sentence

_KINDS = {
    "person": frozenset({"person"}),
    "living": frozenset({"person", "animal"}),
    "animal": frozenset({"animal"}),
    "thing": frozenset({"thing", "organization", "place"}),
}
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the rules are tried: a clause of a sentence, in its language, said at a moment."""

    sentence: Sentence
    clause: Clause
    pack: Pack
    scene: Scene
    t_ref: Instant
    apart: bool = False
    """Each candidate is to be told in a sentence of its own, without what else the clause says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hit:
    """A rule's pattern that fits, with the text of its slots."""

    rule: Rule
    match: re.Match[str]
    kinds: Mapping[str, str]
    parts: Mapping[str, str]


def apply_rules(place: Place) -> list[Candidate]:
    """The candidates of the first rule that fits the clause (and of those marked `also` before it)."""
    made: list[Candidate] = []
    clause = place.clause
    transient = place.pack.has_cue("transient", clause.full) is not None
    for number in _called(clause.full, place.pack):
        rule = place.pack.rules[number]
        if (transient and not (rule.event or rule.timeless)) or not _is_time_for(rule, clause, place.pack):
            continue
        found = next((drafts for text in _texts(rule, clause) for drafts in _tried(rule, text, place)), None)
        if found:
            made.extend(found)
            if not rule.also:
                break
    return made


def _is_time_for(rule: Rule, clause: Clause, pack: Pack) -> bool:
    if rule.when == "since":
        return any(date.since for date in clause.dates)
    return not rule.when or pack.has_cue(rule.when, clause.whole) is not None


def _texts(rule: Rule, clause: Clause) -> tuple[str, ...]:
    """The forms of the clause a rule is tried on."""
    if clause.bare == clause.full or not rule.dates:
        return (clause.bare,)
    if rule.dates == "value":
        return (clause.bare, clause.full)
    last = clause.dates[-1]
    return (clause.bare,) if last.since and last.end >= len(clause.full) else (clause.full,)


def _called(text: str, pack: Pack) -> list[int]:
    """The numbers of the rules whose cue occurs, in the pack's order."""
    lowered = text.casefold()
    numbers = set(pack.word_cues.get("", ()))
    for word in set(_WORD.findall(lowered)) if pack.spaces else ():
        numbers.update(pack.word_cues.get(word, ()))
    for cue, called in pack.text_cues.items():
        if cue in lowered:
            numbers.update(called)
    return sorted(numbers)


def _tried(rule: Rule, text: str, place: Place) -> Iterator[list[Candidate]]:
    for pattern in rule.patterns:
        match = pattern.regex.fullmatch(text)
        if match is None:
            continue
        parts = {name: words.strip() for name, words in match.groupdict().items() if words and name[0].isupper()}
        drafts = _drafts(_Hit(rule=rule, match=match, kinds=pattern.kinds, parts=parts), place)
        if drafts:
            yield drafts
            return


def _drafts(hit: _Hit, place: Place) -> list[Candidate]:
    subject = _subject(hit, place)
    if subject is None or not _fits(hit, place.pack):
        return []
    reading = read(hit.match, hit.rule, place.clause, place.pack, place.t_ref)
    if hit.rule.steady and reading.modality is Modality.PLANNED:
        return []
    drafts: list[Candidate] = []
    for number, emit in enumerate(hit.rule.emits):
        made = _emitted(emit, hit, subject, reading, place)
        if not made and number == 0:
            return []
        drafts.extend(made)
    # 我有个女儿叫朵朵，今年五岁: one who is brought up by name goes on
    names = "S" not in hit.match.re.groupindex or (len(drafts) == 1 and place.pack.has_cue("pivot", place.clause.full) is not None)
    _remember(subject, drafts, place.scene, names=names, role=hit.parts.get("K", ""), joining=_and(place.pack))
    return [*tie_candidates(subject, place), *drafts]


def _fits(hit: _Hit, pack: Pack) -> bool:
    """Whether the slots that name a predicate or an owner hold what their class takes."""
    return all(
        accepts(kind, hit.parts[slot], pack)
        for slot, kind in hit.kinds.items()
        if slot in hit.parts and kind in {"attribute", "relation", "name"} and slot in "APB"
    )


def _subject(hit: _Hit, place: Place) -> Subject | None:
    scene, rule, said = place.scene, hit.rule, hit.parts.get("S")
    said = None if place.pack.aux.get((said or "").casefold()) == "neutral" else said  # "just moved to ..." leaves it out
    if "S" not in hit.match.re.groupindex:
        slot = rule.emits[0].subject
        return _other_subject("=user" if slot == "S" else slot, hit.parts, place)
    relative = place.clause.is_relative and said is None
    subject = resolve(said, place.pack, scene, relative=relative, dropped=_may_drop(hit, place))
    if subject is None or not _agrees(hit, subject, place):
        return None
    is_self = subject.name == scene.self_name
    if (rule.subject == "first" and not is_self) or (rule.subject == "other" and is_self):
        return None
    wanted = _KINDS.get(rule.subject)
    return None if wanted and subject.kind not in wanted else subject


def _may_drop(hit: _Hit, place: Place) -> bool:
    """ "Moved to Cork" is about the speaker; "move to Cork" without a subject is a command, and "playing chess is fun" a remark."""
    if hit.rule.subject == "first" or place.pack.drops_subject:
        return True
    if place.clause.span.start > place.sentence.span.start:
        return False
    if place.pack.has_cue("past_like", place.clause.full.partition(" ")[0]):
        return True
    forms = forms_of(hit.match)
    return hit.rule.drops or "past" in forms or ("ing" in forms and not place.pack.has_cue("remark", place.clause.full))


def _agrees(hit: _Hit, subject: Subject, place: Place) -> bool:
    """Whether verb and subject go together, where the language tells: "Ana likes", never "events like" or "is like"."""
    pack = place.pack
    run = hit.parts.get("X", "")
    present = next((text for name, text in hit.match.groupdict().items() if text and name.startswith("present")), None)
    if present is None or present.casefold() in pack.word_sets.get("be", frozenset()):
        return True
    if pack.has_cue("no_present_after", run):
        return False
    if run or subject.name == place.scene.self_name or not subject.said:
        return True
    return not pack.has_cue("base_form", present) or pack.has_cue("plural", subject.said) is not None


def _emitted(emit: Emit, hit: _Hit, subject: Subject, reading: Reading, place: Place) -> list[Candidate]:
    predicate = predicate_name(emit.predicate, hit.parts, place.pack)
    stay = vocabulary.predicate(predicate).passing if reading.passing else None
    predicate, reading = stay or predicate, replace(reading, passing=stay is not None)
    about = (
        subject
        if emit.subject in {"S", hit.rule.emits[0].subject} and emit.subject != "=user"
        else _other_subject(emit.subject, hit.parts, place)
    )
    if not predicate or about is None:
        return []
    if (emit.predicate.startswith("@~") or emit.multi is False) and reading.polarity is Polarity.NEGATIVE:
        return []  # "we never meet on Mondays" measures nothing, "I have never bought a house" is no state of anything
    values = _subjects(hit, subject, place.pack) if emit.object == "=S" else _values(emit, predicate, hit, place.pack)
    drafts = [_candidate(one, predicate, value, hit.rule, place, reading=reading) for one in _each(about, hit, place) for value in values]
    if place.apart:
        drafts = [_told_apart(draft, emit, hit, about, place) for draft in drafts] if len(drafts) > 1 or len(hit.rule.emits) > 1 else drafts
    return [_read_into(draft, emit, reading, hit.parts, place.pack) for draft in drafts]


def _told_apart(draft: Candidate, emit: Emit, hit: _Hit, about: Subject, place: Place) -> Candidate:
    """The candidate, told in what is left of the clause without the slots of other predicates."""
    slot, others = _slot_of(emit, hit), {_slot_of(other, hit): other.predicate for other in hit.rule.emits if other is not emit}
    others.pop("", None)
    if emit.predicate in others.values():
        return draft
    listed = draft.object if len(items(hit.parts.get(slot, ""), place.pack)) > 1 and draft.object != hit.parts[slot] else None
    own = replace(place.clause, full=apart(hit.match, slot, others, listed), is_alone=False)
    named = about if draft.subject == about.name else replace(about, name=draft.subject, stands_alone=False)
    return replace(draft, fact_text=standalone(place.sentence, own, named, place.pack, place.scene))


def _slot_of(emit: Emit, hit: _Hit) -> str:
    """The slot that an emit's object comes from; empty where it is none."""
    return next((slot for slot in emit.object.partition(":")[0].split("|") if slot in hit.parts), "")


def _each(subject: Subject, hit: _Hit, place: Place) -> Sequence[Subject]:
    """The people of "Yuki and Hana", one by one."""
    may_be_many = (
        hit.rule.subject in {"person", "living", "any"}
        and subject.kind == "person"
        and (subject.ties or subject.name in (hit.parts.get("S"), place.scene.group))
    )
    names = items(subject.name, place.pack) if may_be_many else ()
    if len(names) < 2 or not all(accepts("name", name, place.pack) for name in names):
        return (subject,)
    return [replace(subject, name=name) for name in names]


def _other_subject(slot: str, parts: Mapping[str, str], place: Place) -> Subject | None:
    scene = place.scene
    slot = next((name for name in slot.split("|") if name in parts or name.startswith("=")), "")
    if slot == "=owner":
        slot = "P" if "P" in parts else "=user"
    if slot == "=user":
        return Subject(name=scene.self_name, kind="person", said=place.pack.first, stands_alone=scene.speaker is None)
    said = parts.get(slot)
    if not said:
        return None
    known = resolve(said, place.pack, scene)
    if known:
        return known
    pronouns = place.pack.word_sets.get("third", frozenset()) | place.pack.word_sets.get("first", frozenset())
    if any(word.casefold() in pronouns for word in said.split()[:3]):
        return None
    name = clean(said, place.pack, "verbatim")
    return Subject(name=name, said=said) if name else None


def _values(emit: Emit, predicate: str, hit: _Hit, pack: Pack) -> Sequence[str]:
    if emit.object.startswith("="):
        return (emit.object[1:],)
    names, _, wanted = emit.object.partition(":")
    slot = next((slot for slot in names.split("|") if slot in hit.parts), None)
    if slot is None:
        return ("",) if emit.object.endswith("|=") else ()
    kind = wanted or hit.kinds.get(slot, "any")
    takes_list = vocabulary.takes_list(predicate) if emit.takes_list is None else emit.takes_list
    values = items(hit.parts[slot], pack, kind) if takes_list else (clean(hit.parts[slot], pack, kind),)
    kept = [value for value in values if accepts(kind, value, pack)]
    return kept if kept and kept[0] == values[0] else ()


def _subjects(hit: _Hit, subject: Subject, pack: Pack) -> Sequence[str]:
    """The subject as a value: "Hugo and Mia are my cousins" names two."""
    said = items(hit.parts.get("S", ""), pack)
    return said if len(said) > 1 and all(accepts("name", value, pack) for value in said) else [subject.name]


def _candidate(subject: Subject, predicate: str, value: str, rule: Rule, place: Place, *, reading: Reading) -> Candidate:
    clause = place.clause
    entry = vocabulary.predicate(predicate)
    dates = [] if rule.dates else [date for date in clause.dates if not date.lasting or reading.perfect]
    doubts = tuple(date.doubt for date in dates if date.doubt)
    hedged = place.pack.has_cue("hedge", clause.whole) is not None
    return Candidate(
        subject=subject.name,
        subject_type=subject.kind,
        predicate=predicate,
        object=value,
        object_type=entry.object_type,
        fact_text=standalone(place.sentence, clause, subject, place.pack, place.scene),
        span=clause.span if not clause.is_alone else place.sentence.span,
        cardinality=entry.cardinality,
        salience=entry.salience,
        confidence=rule.confidence * (0.5 if doubts else 1.0) * (0.6 if hedged else 1.0),
        valid_at=next((date.begins for date in dates if date.begins is not None), None),
        valid_to=next((date.ends for date in dates if date.ends is not None), _until(clause, place.t_ref) if reading.passing else None),
        rule=rule.id,
        reasons=(*doubts, *(("said with doubt",) if hedged else ())),
    )


def _until(clause: Clause, t_ref: Instant) -> Instant | None:
    """When "for two weeks" from now is over."""
    past = next((date.begins for date in clause.dates if date.lasting and date.begins is not None), None)
    return Instant(2 * t_ref - past) if past is not None else None


def _read_into(candidate: Candidate, emit: Emit, reading: Reading, parts: Mapping[str, str], pack: Pack) -> Candidate:
    act = emit.act or reading.act
    polarity, modality = emit.polarity or reading.polarity, emit.modality or reading.modality
    corrects = clean(parts[emit.corrects], pack) if emit.corrects and emit.corrects in parts else None
    if act is Act.RETRACT:
        polarity = Polarity.POSITIVE
        modality = Modality.ASSERTED if modality is Modality.PAST else modality
        if candidate.object.casefold() in pack.word_sets.get("any", frozenset()):
            candidate = replace(candidate, object="")
    return replace(
        candidate,
        act=Act.CORRECT if corrects else act,
        polarity=polarity,
        modality=modality,
        corrects=corrects,
        additive=reading.additive and act is Act.ASSERT and emit.multi is not False,
        cardinality=candidate.cardinality if emit.multi is None else (Cardinality.MULTI if emit.multi else Cardinality.FUNCTIONAL),
        object_type=emit.object_kind or candidate.object_type,
        valid_at=candidate.valid_at if emit.dated else None,
        valid_to=candidate.valid_to if emit.dated else None,
    )


def tie_candidates(subject: Subject, place: Place, words: str = "") -> list[Candidate]:
    """The relations a subject's noun phrase, or the `words` that name somebody, give away, as candidates."""
    made: list[Candidate] = []
    words = words or subject.said
    for tie in (one for whole in subject.ties for one in _each_tie(whole, place.pack)):
        entry = vocabulary.predicate(tie.predicate)
        if entry.cardinality is Cardinality.FUNCTIONAL and place.pack.has_cue("once_tie", words):
            continue  # "my late first husband, Arnold" is no spouse now
        made.append(
            Candidate(
                subject=tie.subject,
                subject_type="person",
                predicate=tie.predicate,
                object=tie.object,
                object_type=entry.object_type or "person",
                fact_text=phrase(words, place.pack, place.scene)
                if place.apart and tie.object in words
                else standalone(place.sentence, place.clause, subject, place.pack, place.scene),
                span=place.sentence.span,
                cardinality=entry.cardinality,
                salience=entry.salience,
                confidence=0.85,
                rule="tie",
            )
        )
    return made


def _each_tie(tie: Tie, pack: Pack) -> Sequence[Tie]:
    """ "My friends Kim and Lee" are two."""
    names = items(tie.object, pack)
    return [replace(tie, object=name) for name in names] if len(names) > 1 and all(accepts("name", name, pack) for name in names) else [tie]


def _and(pack: Pack) -> str:
    return next(iter(pack.words.get("and", ())), "&")


def _remember(subject: Subject, drafts: Sequence[Candidate], scene: Scene, *, names: bool, role: str, joining: str) -> None:
    """`names`: the clause has no subject slot, so that "my sister is called Ana" goes on about Ana."""
    named = next((draft for draft in drafts[:1] if names and draft.object_type in {"person", "animal"} and draft.act is Act.ASSERT), None)
    scene.last = Subject(name=named.object, kind=named.object_type or "person") if named else subject
    if subject.name not in (USER, scene.self_name):
        scene.note(subject.name, subject.kind, subject.role)
    people = [draft.object for draft in drafts if draft.object_type == "person" and draft.act is Act.ASSERT]
    if len(people) > 1:
        scene.group = f" {joining} ".join(people)
    for draft in drafts:
        if draft.object_type in {"person", "animal"} and draft.act is Act.ASSERT and draft.polarity is Polarity.POSITIVE:
            scene.note(draft.object, draft.object_type, role)
