"""What the later passes look at: each sentence that states or reports something, with what the rules made of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lean_memory.domain import USER, Candidate, Instant, Modality, Polarity
from lean_memory.extraction import pack as packs
from lean_memory.extraction.clauses import Clause, clauses, opened
from lean_memory.extraction.dates import Anchor
from lean_memory.extraction.languages import language
from lean_memory.extraction.modality import Mood, is_bygone, mood
from lean_memory.extraction.pack import Pack
from lean_memory.extraction.prose import prose
from lean_memory.extraction.secrets import has_marker
from lean_memory.extraction.sentences import Sentence, sentences

_DEFAULT_LANGUAGE = "en"
_MOST_SENTENCES = 2_000
"""How many sentences of one text the later passes look at; the rules read more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A sentence that states or reports something; `candidates` are those whose span begins in it."""

    sentence: Sentence
    pack: Pack
    is_report: bool = False
    candidates: tuple[Candidate, ...] = field(default=())

    @property
    def text(self) -> str:
        return self.sentence.text

    @property
    def self_name(self) -> str:
        """Whom "I" stands for."""
        return self.sentence.speaker or USER


def told(text: str, candidates: Iterable[Candidate] = ()) -> list[Told]:
    """The sentences of a text that can give facts, in order, each with the candidates that came from it."""
    kept: list[tuple[Sentence, Pack, bool]] = []
    code = _DEFAULT_LANGUAGE
    for sentence in sentences(prose(text)):
        code = language(sentence.text, before=code)
        # A model would make a value of the marker of a secret.
        if sentence.is_heading or code not in packs.available() or has_marker(sentence.text):
            continue
        pack = packs.load(code)
        kind = mood(opened(sentence.text, pack), pack)
        if kind in {Mood.STATEMENT, Mood.REPORT}:
            kept.append((sentence, pack, kind is Mood.REPORT))
        if len(kept) == _MOST_SENTENCES:
            break
    made = _by_sentence([sentence for sentence, _, _ in kept], candidates)
    return [
        Told(sentence=sentence, pack=pack, is_report=is_report, candidates=tuple(made[number]))
        for number, (sentence, pack, is_report) in enumerate(kept)
    ]


def clause_at(said: Told, position: int, anchor: Anchor) -> Clause | None:
    """The clause of a sentence that a character of the text lies in, the last one that begins before it."""
    found = clauses(said.text, said.sentence.span.start, said.pack, anchor)
    return next((clause for clause in reversed(found) if clause.span.start <= position), None)


def stance(clause: Clause, pack: Pack, t_ref: Instant) -> tuple[Polarity, Modality] | None:
    """How a clause relates to the world when no rule has read its verb; `None` where it tells nothing that holds, held or will hold.

    The guards of the rules, without the form of a matched verb: when in doubt a clause is past, not present.
    """
    effects = pack.effects(clause.full) | {
        effect for effect in ("past", "planned", "hypothetical", "ended", "negative") if pack.has_cue(effect, clause.whole)
    }
    if "ended" in effects or pack.has_cue("hypothetical_clause", clause.full) or pack.has_cue("hypothetical", clause.whole):
        return None
    polarity = Polarity.NEGATIVE if "negative" in effects or pack.has_cue("negated", clause.full) else Polarity.POSITIVE
    return polarity, _modality(clause, pack, effects, t_ref)


def _modality(clause: Clause, pack: Pack, effects: set[str], t_ref: Instant) -> Modality:
    if "planned" in effects or any(date.begins is not None and date.begins > t_ref for date in clause.dates):
        return Modality.PLANNED
    over = any(date.ends is not None and date.ends <= t_ref for date in clause.dates) or (pack.tenseless and is_bygone(clause, t_ref))
    return Modality.PAST if over or "past" in effects or is_past(clause.full, pack) else Modality.ASSERTED


def is_past(text: str, pack: Pack) -> bool:
    """Whether the first verb that shows a tense shows a past one."""
    past, present = pack.has_cue("past_like", text), pack.has_cue("present_like", text)
    return past is not None and (present is None or past.start() < present.start())


def _by_sentence(kept: Sequence[Sentence], candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    starts = [sentence.span.start for sentence in kept]
    made: list[list[Candidate]] = [[] for _ in kept]
    for candidate in candidates:
        number = bisect_right(starts, candidate.span.start) - 1
        if number >= 0 and candidate.span.start < kept[number].span.end:
            made[number].append(candidate)
    return made
