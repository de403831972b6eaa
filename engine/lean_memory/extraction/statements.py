"""The fallback: a durable statement that no rule knows is kept whole, as `states`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from lean_memory.domain import STATES, Act, Candidate, Modality, Polarity
from lean_memory.extraction import vocabulary
from lean_memory.extraction.clauses import Clause, closed
from lean_memory.extraction.modality import is_bygone
from lean_memory.extraction.objects import clean
from lean_memory.extraction.pack import Pack
from lean_memory.extraction.rewriting import standalone
from lean_memory.extraction.rules import Place
from lean_memory.extraction.scene import Scene, Subject, resolve

_LONGEST_OBJECT = 160
_MOST_VERBS = 4
_OWNER = re.compile(r"['’]s\s*$")
"""What reads like "Ana's late" but names an owner where a verb follows: "the novel's hero lives"."""


def statement(place: Place, *, reported: bool = False) -> Candidate | None:
    """The clause as a `states` candidate, or `None` when it is nothing to keep."""
    clause, pack = place.clause, place.pack
    subject = _subject(clause, pack, place.scene)
    if subject is None or not _is_durable(clause, subject, pack, place.scene, reported=reported):
        return None
    modality = Modality.REPORTED if reported else _modality(clause, pack, place)
    perfect = "perfect" in pack.effects(clause.full)
    dated = [
        date for date in clause.dates if (not date.lasting or perfect) and (date.since or modality in {Modality.PAST, Modality.PLANNED})
    ]
    told = standalone(place.sentence, clause, subject, pack, place.scene)
    entry = vocabulary.predicate(STATES)
    return Candidate(
        subject=subject.name,
        subject_type=subject.kind,
        predicate=STATES,
        object=closed(clause.full, pack)[:_LONGEST_OBJECT],
        fact_text=told,
        span=place.sentence.span if clause.is_alone else clause.span,
        act=Act.ASSERT,
        polarity=Polarity.NEGATIVE if pack.has_cue("negated", clause.full) else Polarity.POSITIVE,
        modality=modality,
        cardinality=entry.cardinality,
        salience=entry.salience,
        confidence=0.6,
        valid_at=next((date.begins for date in dated if date.begins is not None), None),
        valid_to=next((date.ends for date in clause.dates if date.ends is not None), None),
        rule="states",
        reasons=tuple(date.doubt for date in clause.dates if date.doubt),
    )


def leading_subject(place: Place) -> Subject | None:
    """Whom the words before the clause's first verb name, if anybody; `somebody` nobody knows is called as they were."""
    head = _head(place.clause.full, place.pack)
    nobody = _somebody(head, place.clause, place.pack)
    if nobody is not None and len(nobody.name) > len(head):
        return nobody
    bare = place.pack.aux_any.sub("", head).strip()
    known = resolve(head, place.pack, place.scene) or resolve(bare, place.pack, place.scene) if bare else None
    if known is None and place.clause.dates:
        undated = _head(place.clause.bare, place.pack)  # "last month I fell and moved ..." goes on about me
        known = resolve(undated, place.pack, place.scene) if undated and undated != head else None
    return known or nobody


def go_on(place: Place, made: Sequence[Candidate]) -> None:
    """Notes whom a next clause without a subject is about, where the rules took this one for a statement of the speaker about the world.

    "The heroine lives in Vienna" may tell the speaker where she is; "and works at a bakery" does not tell where the speaker works.
    """
    pack, scene = place.pack, place.scene
    if made and (pack.drops_subject or (scene.last is not None and scene.last.name != scene.self_name)):
        return  # "my brother is called Li" has said already who goes on
    head = _head(place.clause.full, pack)
    if any(candidate.object and candidate.object in head for candidate in made):
        return  # "photography is my passion": the value stands first
    if (not head and not pack.has_cue("somebody", place.clause.full)) or _is_self(head, made, pack):
        return
    subject = leading_subject(place)
    if subject is not None and subject.kind == "thing":
        scene.note(subject.name, subject.kind)
    if subject is not None:
        scene.last = subject
    elif not made and head.casefold() in pack.word_sets.get("third", frozenset()):
        scene.is_lost, scene.last = True, None


def _is_self(head: str, made: Sequence[Candidate], pack: Pack) -> bool:
    """Whether the words before the verb are the speaker, or, as in "my name is Ana", what the speaker has or is."""
    words = head.casefold().split()
    if not words:
        return False
    if head.casefold() in pack.word_sets.get("first", frozenset()) or pack.has_cue("and_me", head):
        return True
    my = pack.word_sets.get("my", frozenset[str]())
    own = words[0] in my if pack.spaces else words[0].startswith(tuple(my))
    return own and any(candidate.predicate in vocabulary.predicates() for candidate in made)


def _somebody(head: str, clause: Clause, pack: Pack) -> Subject | None:
    """ "Some people", "the guy next door": nobody who is known, and not the speaker.

    Longer than the head where that ends within a noun: 说 is a verb, but not in 小说的主角.
    """
    found = pack.has_cue("somebody", clause.full)
    if found is None:
        return None
    said = found[0] if len(found[0]) > len(head) else head
    name = clean(said, pack, "verbatim")
    is_nobody = not name or name.casefold() in pack.word_sets.get("not_subject", frozenset())
    return None if is_nobody else Subject(name=name, kind="person", said=said)


@lru_cache(maxsize=64)
def _head(text: str, pack: Pack) -> str:
    """The words before the first verb; "Benedikt signs ..." has a name before a verb that no list knows. Kept for a while: it is asked for thrice."""
    named = pack.has_cue("named_verb", text)
    if named:
        return named["N"]
    first = None
    for verb in islice(pack.verb_like.finditer(text), _MOST_VERBS):
        if not _OWNER.search(verb[0]):
            return text[: verb.start()].strip()
        first = first or verb
    return text[: first.start()].strip() if first else ""


def _subject(clause: Clause, pack: Pack, scene: Scene) -> Subject | None:
    """The words before the first verb when they name somebody; otherwise what is said is said by the speaker about the world."""
    head = _head(clause.full, pack)
    nobody = _somebody(head, clause, pack)
    known = nobody if nobody is not None and len(nobody.name) > len(head) else resolve(head, pack, scene) if head else None
    if known:
        return known
    if head and not _is_about_the_world(head, pack):
        first = head.split()[0]
        return resolve(first, pack, scene) if first.casefold() in pack.word_sets.get("their", frozenset()) else None
    if not head and not clause.is_alone and not _is_first(clause.full, pack) and (scene.is_lost or scene.last is not None):
        return Subject(name=scene.last.name, kind=scene.last.kind, stands_alone=False) if scene.last and not scene.is_lost else None
    return Subject(name=scene.self_name, kind="person", said=head or pack.first, stands_alone=scene.speaker is None)


def _is_about_the_world(head: str, pack: Pack) -> bool:
    """Whether the words before the verb speak of nobody by pronoun: "the sea", not "its colour"."""
    third = pack.word_sets.get("third", frozenset())
    return head.split(maxsplit=1)[0].casefold() not in third and head.casefold() not in third


def _is_first(text: str, pack: Pack) -> bool:
    """Whether it begins with "I" or "we", before a verb no list knows."""
    return text.partition(" ")[0].casefold() in pack.word_sets.get("first", frozenset())


def _is_durable(clause: Clause, subject: Subject, pack: Pack, scene: Scene, *, reported: bool) -> bool:
    text = clause.full
    enough = len(text.split()) >= 3 if pack.spaces else len(text) >= 5
    if enough and pack.has_cue("standing", clause.whole):
        return True
    if (
        not enough
        or (pack.has_cue("opinion", text) and not reported)
        or pack.has_cue("transient", text)
        or pack.has_cue("chatter", text)
        or pack.has_cue("second", text)
    ):
        return False
    if not (pack.verb_like.search(text) or any(pack.has_cue(cue, text) for cue in ("durable", "past_like", "named_verb", "generic"))):
        return False
    named = subject.name != scene.self_name
    mine = pack.has_cue("mine", text) is not None
    if _is_past(text, pack) and not reported and not named and not mine:
        return False
    return named or mine or reported or any(pack.has_cue(cue, text) for cue in ("durable", "generic"))


def _modality(clause: Clause, pack: Pack, place: Place) -> Modality:
    if pack.has_cue("hypothetical_clause", clause.full):
        return Modality.HYPOTHETICAL
    mine = pack.has_cue("mine", clause.full) is not None
    if pack.has_cue("planned", clause.full) or (
        mine and any(date.begins is not None and date.begins > place.t_ref for date in clause.dates)
    ):
        return Modality.PLANNED
    if any(date.ends is not None and date.ends <= place.t_ref for date in clause.dates):
        return Modality.PAST
    if pack.tenseless and is_bygone(clause, place.t_ref):
        return Modality.PAST
    return Modality.PAST if pack.has_cue("past", clause.full) or _is_past(clause.full, pack) else Modality.ASSERTED


def _is_past(text: str, pack: Pack) -> bool:
    """Whether the first verb that shows a tense shows a past one."""
    past, present = pack.has_cue("past_like", text), pack.has_cue("present_like", text)
    return past is not None and (present is None or past.start() < present.start())
