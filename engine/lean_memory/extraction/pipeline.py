"""Text to candidates: prose, sentences, clauses, then the passes in order over one analysis. Pure: no clock, no store, no model."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from lean_memory.domain import (
    BESIDE_INSTRUCTIONS,
    INSTRUCTION_LIKE,
    USER,
    Act,
    Candidate,
    Instant,
    Modality,
    Source,
    Span,
    Trust,
    trust_of,
)
from lean_memory.extraction import pack as packs
from lean_memory.extraction.antecedents import completed
from lean_memory.extraction.clauses import clauses, opened
from lean_memory.extraction.corrections import bare_value, corrected, denied, recounted, split_other, taken_back
from lean_memory.extraction.dates import Anchor
from lean_memory.extraction.instructions import steering
from lean_memory.extraction.languages import language
from lean_memory.extraction.mentions import mentioned
from lean_memory.extraction.modality import Mood, is_reported, mood, unquoted
from lean_memory.extraction.pack import Pack
from lean_memory.extraction.plain import is_heading, plain
from lean_memory.extraction.prose import prose
from lean_memory.extraction.rules import Place, apply_rules
from lean_memory.extraction.said import Said
from lean_memory.extraction.scene import Scene
from lean_memory.extraction.secrets import has_marker
from lean_memory.extraction.sentences import Sentence, passages, sentences
from lean_memory.extraction.several import side_by_side
from lean_memory.extraction.statements import go_on, leading_subject, statement

__all__ = ["Extraction", "Recent", "extract", "own_words", "passages"]

_DEFAULT_LANGUAGE = "en"
_MOST_CLAUSES = 20_000
_LONGEST_INTERJECTION = 40
_LAST_SAID = 400
_LABELLED = re.compile(r"[^\W\d_][\w -]{0,24}[:：]\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """The last few episodes, for pronouns and corrections that follow up: their texts and what they gave, newest last."""

    texts: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    just_said: bool = True
    """Whether the newest is of the same talk: "just kidding" is about nothing that was said long ago."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The candidates of a text in its order, and what is to be said about the text as a whole, e.g. `instruction-like`."""

    candidates: tuple[Candidate, ...]
    flags: tuple[str, ...] = ()


def extract(text: str, *, t_ref: Instant, tz: str, source: Source, recent: Recent | None = None) -> Extraction:
    """What a text says, as candidates; questions, commands, small talk, hypotheses, code and logs give none.

    `t_ref` is when it was said and `tz` the IANA name of the zone its dates are read in. Spans are offsets into `text`.
    """
    before = recent or Recent()
    run = _Run(anchor=Anchor(t_ref=t_ref, tz=tz), recent=Said.of(before.candidates), just_said=before.just_said)
    run.scene.recall(before.candidates)
    spans = steering(text)
    for sentence in sentences(prose(text)):
        if not _lies_in(sentence, spans):
            run.take(sentence)
    said = side_by_side(run.found, packs.load(run.code) if run.code in packs.available() else None)
    candidates = _trusted(said, source, run.own_roles)
    if not (spans or run.steers):
        return Extraction(candidates=_distinct(candidates))
    wary = candidates if source is Source.USER else _distrusted(candidates)
    return Extraction(candidates=_distinct(wary), flags=(INSTRUCTION_LIKE,))


def own_words(sentence: str, said: tuple[str, str, str]) -> str | None:
    """What a sentence says of one of its facts alone, where a rule can tell: "I work as a designer" of "I work at Hooli as a designer".

    `said` is the fact's subject, predicate and object. `None` where no rule finds it in the sentence or in what would be left of it.
    """
    told = _by_itself(sentence, said)
    return told if told and told != sentence and _by_itself(told, said) else None


def _by_itself(sentence: str, said: tuple[str, str, str]) -> str | None:
    run = _Run(anchor=Anchor(t_ref=Instant(0), tz="UTC"), recent=Said(), apart=True)
    for each in sentences(sentence):
        run.take(each)
    wanted = (said[0], said[1], said[2].casefold())
    return next((one.fact_text for one in run.found if (one.subject, one.predicate, one.object.casefold()) == wanted), None)


@dataclass(slots=True, kw_only=True)
class _Run:
    """One walk over a text."""

    anchor: Anchor
    recent: Said
    """What the last messages gave."""
    just_said: bool = True
    """Whether the newest of them is of the same talk."""
    scene: Scene = field(default_factory=Scene)
    found: Said = field(default_factory=Said)
    steers: bool = False
    """Whether a sentence tells an assistant what to do."""
    code: str = _DEFAULT_LANGUAGE
    own_roles: set[str] = field(default_factory=set[str])
    """How the languages of the text call the speaker's relatives without a name."""
    heading: str = ""
    """What the items that follow are of: "Things I avoid:"."""
    is_profile: bool = False
    """The lines tell who the speaker is."""
    corrects: bool = False
    """An interjection such as "Oops!" has announced a correction."""
    is_reworded: bool = False
    """The sentence is not read as it stands, so that its clauses have no places of their own."""
    has_told: bool = False
    """A sentence of this text has said something."""
    told_last: list[int] = field(default_factory=list[int])
    """The numbers of what the last sentence that said something gave, for the "just kidding" that may follow it."""
    before: str = ""
    """The last sentences, questions too, for what the next leaves out."""
    read: set[tuple[str, str, str | None]] = field(default_factory=set[tuple[str, str, str | None]])
    apart: bool = False
    """Each fact is told without the others of its sentence."""
    left: int = _MOST_CLAUSES
    """How many clauses may still be read, so that a text of any length costs a bounded time; the rest is indexed only."""

    def take(self, sentence: Sentence) -> None:
        key = (self.heading if sentence.is_item else "", sentence.text, sentence.speaker)
        if key in self.read or self.left <= 0:
            return
        self.read.add(key)
        self.left -= 1
        self.code = language(sentence.text, before=self.code)
        if self.code not in packs.available():
            return
        pack = packs.load(self.code)
        self.own_roles.add(pack.roles[0])
        if self._announces(sentence, pack):
            return
        said = _without_question(sentence, pack)
        told = self._in_full(self._plain(said, pack), pack)
        self.before = f"{self.before} {sentence.text}"[-_LAST_SAID:]
        self.is_reworded = told is not said
        self._take(told, pack)

    def _announces(self, sentence: Sentence, pack: Pack) -> bool:
        """Whether the sentence only introduces others: a heading, or "Oops!" before what is put right."""
        if sentence.is_heading or (not sentence.is_item and is_heading(sentence.text)):
            self.heading = sentence.text.rstrip(" :：")
            self.is_profile = pack.has_cue("profile", self.heading) is not None
            return True
        if not sentence.is_item and not _LABELLED.match(sentence.text):
            self.heading = ""
        if len(sentence.text) <= _LONGEST_INTERJECTION and pack.has_cue("correction_alone", sentence.text):
            self.corrects = True
            return True
        return False

    def _plain(self, sentence: Sentence, pack: Pack) -> Sentence:
        """The sentence in plain words; an item may need the heading it stands under."""
        if self.heading and not self.is_profile:
            whole = f"{self.heading}: {sentence.text}"
            told = plain(whole, pack, profile=False)
            if told != whole:
                return replace(sentence, text=told)
        elif not self.heading and pack.has_cue("profile", sentence.text):
            self.is_profile = True
        told = plain(sentence.text, pack, profile=self.is_profile)
        return sentence if told == sentence.text else replace(sentence, text=told)

    def _unsay(self, sentence: Sentence) -> None:
        """Takes back what the last sentence said, here or in the message just before: it was a joke."""
        if not self.has_told and self.just_said:
            self._keep([replace(candidate, span=sentence.span, fact_text=sentence.text) for candidate in taken_back(self.recent)], sentence)
        for number in self.told_last if self.has_told else ():
            if number in self.found:
                self.found.take_out(number)
        self.told_last = []

    def _in_full(self, sentence: Sentence, pack: Pack) -> Sentence:
        """The sentence with what it leaves out because it was named just before."""
        text = completed(sentence.text, self.before, pack)
        return sentence if text == sentence.text else replace(sentence, text=text)

    def _take(self, sentence: Sentence, pack: Pack) -> None:
        self.scene.speaker = sentence.speaker
        self.scene.is_lost = False
        if not pack.drops_subject or sentence.is_item or sentence.speaker:
            self.scene.last = None
        words = opened(sentence.text, pack)
        joke = pack.has_cue("joke", words)
        if joke:
            self._unsay(sentence)
        kind = Mood.CHATTER if joke and joke.end() == len(words) else mood(words, pack)
        if kind is Mood.INSTRUCTION:
            self.steers = True
        elif kind is Mood.REPORT:
            told, rest = _before_report(sentence, pack)
            if told is not None:
                self._statement(told, pack)
            if rest is not None:
                self._report(rest, pack)
        elif kind is Mood.STATEMENT:
            self._statement(sentence, pack)

    def _report(self, sentence: Sentence, pack: Pack) -> None:
        for clause in clauses(sentence.text, sentence.span.start, pack, self.anchor)[:1]:
            whole = replace(clause, is_alone=True)
            place = Place(sentence=sentence, clause=whole, pack=pack, scene=self.scene, t_ref=self.anchor.t_ref)
            kept = statement(place, reported=True)
            if kept:
                self._keep([replace(kept, object=sentence.text[:160], fact_text=sentence.text)], sentence)
            said = leading_subject(place) if unquoted(sentence.text) == sentence.text else None
            if said is not None and said.kind == "person":
                self.scene.note(said.name, said.kind, said.role)

    def _statement(self, sentence: Sentence, pack: Pack) -> None:
        self.told_last, self.has_told = [], True
        text, other = split_other(unquoted(sentence.text) if _has_long_quote(sentence.text) else sentence.text, pack)
        corrects, self.corrects = self.corrects, False
        is_denied = pack.has_cue("denied", opened(sentence.text, pack)) is not None
        for said in clauses(text, sentence.span.start, pack, self.anchor):
            self.left -= 1
            clause = replace(said, corrects=said.corrects or corrects)
            corrects = pack.has_cue("correction_alone", clause.raw) is not None
            if corrects:
                continue
            place = Place(sentence=sentence, clause=clause, pack=pack, scene=self.scene, t_ref=self.anchor.t_ref, apart=self.apart)
            made = apply_rules(place)
            if is_denied:
                self._keep(denied(made), sentence)
                continue
            contrasted = pack.has_cue("contrast", clause.raw) is not None
            if other and made and self._was_said(other, made, clause.corrects or contrasted):
                made = [replace(c, act=Act.CORRECT, corrects=other) if c.rule != "tie" and c.act is Act.ASSERT else c for c in made]
            if clause.corrects or (not clause.is_alone and contrasted) or (other and not made):
                made = self._correct(made, place, other)
            if not made and (clause.corrects or contrasted) and (count := recounted(clause, pack, self.found, self.recent)):
                made = [count]
            go_on(place, made)
            made.extend(mentioned(place, made))
            self._keep(made or self._kept(place), sentence)

    def _keep(self, made: Sequence[Candidate], sentence: Sentence) -> None:
        self.told_last.extend(
            self.found.add(replace(candidate, span=sentence.span) if self.is_reworded else candidate) for candidate in made
        )

    def _kept(self, place: Place) -> list[Candidate]:
        """The clause as it is, where no rule knows it; its subject goes on into the next clause all the same."""
        kept = statement(place)
        subject = leading_subject(place)
        if subject:
            self.scene.note(subject.name, subject.kind, subject.role)
        self.scene.last = self.scene.last or subject
        return [kept] if kept else []

    def _was_said(self, other: str, made: Sequence[Candidate], contrasted: bool) -> bool:
        """Whether "X, not Y" takes back a Y: it opens with "actually", or Y is what was said before."""
        slots = {(candidate.subject, candidate.predicate) for candidate in made}
        return contrasted or self.recent.has(slots, other) or self.found.has(slots, other)

    def _correct(self, made: Sequence[Candidate], place: Place, other: str | None) -> list[Candidate]:
        if made:
            return corrected(made, self.found, self.recent)
        value = bare_value(place.clause, place.pack, self.found, self.recent, other=other)
        return [value] if value else []


def _without_question(sentence: Sentence, pack: Pack) -> Sentence:
    """What is told before something is asked: "I am down to two cups - do you think that helps?"."""
    asked = pack.has_cue("asked_after", sentence.text) if sentence.text.endswith(("?", "？")) else None
    if asked is None:
        return sentence
    start, end = sentence.span.start, sentence.span.start + asked.end("told")
    return replace(sentence, text=asked["told"], span=Span(start=start, end=end))


def _before_report(sentence: Sentence, pack: Pack) -> tuple[Sentence | None, Sentence | None]:
    """What is told before somebody else's words, and those where it is said whose: "I live in Bergen and my mum says I should move"."""
    found = pack.has_cue("told_before", sentence.text)
    if found is None or is_reported(opened(found["told"], pack), pack):
        return None, sentence
    start, parts = sentence.span.start, (found.span("told"), found.span("rest"))
    told, rest = (replace(sentence, text=sentence.text[a:b], span=Span(start=start + a, end=start + b)) for a, b in parts)
    return told, rest if found["who"] else None


def _has_long_quote(text: str) -> bool:
    blanked = unquoted(text)
    return sum(1 for before, after in zip(text, blanked, strict=True) if before != after) > 40


def _trusted(found: Iterable[Candidate], source: Source, own_roles: Collection[str]) -> list[Candidate]:
    """Trust by source; an assistant says nothing about itself, and little about the world can be built on it."""
    trust = trust_of(source)
    if source is not Source.ASSISTANT:
        return [replace(candidate, trust=trust) for candidate in found]
    return [
        replace(candidate, trust=trust, confidence=candidate.confidence * 0.5, is_inference=True)
        for candidate in found
        if candidate.subject != USER and not any(_is_role(candidate.subject, template) for template in own_roles)
    ]


def _lies_in(sentence: Sentence, spans: Sequence[Span]) -> bool:
    """Whether one of the spans, which are in order and apart, touches a sentence."""
    place = bisect_left(spans, sentence.span.end, key=lambda span: span.start) - 1
    return place >= 0 and spans[place].end > sentence.span.start


def _distrusted(found: Iterable[Candidate]) -> list[Candidate]:
    """What a document or an assistant says beside words that steer: least trusted, and nothing gives way to it."""
    return [
        replace(
            candidate,
            trust=Trust.IMPORTED,
            confidence=candidate.confidence * 0.5,
            additive=True,
            reasons=(*candidate.reasons, BESIDE_INSTRUCTIONS),
        )
        for candidate in found
        if candidate.act is Act.ASSERT
    ]


def _is_role(subject: str, template: str) -> bool:
    """Whether a subject is somebody without a name, called by the template "user's {role}"."""
    before, _, after = template.partition("{role}")
    return subject.startswith(before) and subject.endswith(after) and bool(before or after)


def _distinct(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates without repetitions; hypotheses are not kept, nor values that a secret was taken out of."""
    kept: dict[tuple[str, ...], Candidate] = {}
    for candidate in found:
        if candidate.modality is Modality.HYPOTHETICAL or has_marker(candidate.object):
            continue
        key = (candidate.subject, candidate.predicate, candidate.object.casefold(), candidate.act, candidate.polarity, candidate.modality)
        kept.setdefault(key, candidate)
    return tuple(kept.values())
