"""How a sentence and its clauses relate to the world: mood first, then act, polarity and modality of each match."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from lean_memory.domain import Act, Instant, Modality, Polarity
from lean_memory.extraction.clauses import Clause
from lean_memory.extraction.pack import Pack, Rule
from lean_memory.extraction.pattern import forms_of

_QUOTE = re.compile(
    r"[\"“«„「『](?P<said>[^\"”»“」』]{2,300})[\"”»“」』]|(?<![\w’'])['‘](?P<single>[^'‘’\n]{2,200}(?:['’](?=\w)[^'‘’\n]{0,200}){0,4})['’](?!\w)"
)


class Mood(Enum):
    """What a sentence is; only statements can give asserted facts."""

    STATEMENT = auto()
    REPORT = auto()
    HYPOTHESIS = auto()
    QUESTION = auto()
    COMMAND = auto()
    CHATTER = auto()
    INSTRUCTION = auto()
    """Text that tries to steer an assistant, such as "ignore previous instructions"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one match of a rule says about its value."""

    act: Act = Act.ASSERT
    polarity: Polarity = Polarity.POSITIVE
    modality: Modality = Modality.ASSERTED
    additive: bool = False
    perfect: bool = False
    """It began in the past and goes on: "have lived"."""
    passing: bool = False
    """It holds for a short while, beside what holds else: "for two weeks"."""


def mood(sentence: str, pack: Pack) -> Mood:
    """The mood of a sentence whose contractions are opened."""
    if pack.has_cue("instruction", sentence):
        return Mood.INSTRUCTION
    kept = pack.has_cue("keep", sentence) is not None
    if not kept and (sentence.rstrip("\"'”’») ").endswith(("?", "？")) or pack.has_cue("question", sentence)):
        return Mood.REPORT if is_reported(sentence, pack) else Mood.QUESTION
    if pack.has_cue("hypothetical", sentence):
        return Mood.HYPOTHESIS
    if is_reported(sentence, pack) and not pack.has_cue("denied", sentence):
        return Mood.REPORT if pack.has_cue("reported", sentence) or len(unquoted(sentence).split()) > 2 else Mood.CHATTER
    if not kept and _is_command(sentence, pack):
        return Mood.COMMAND
    return Mood.CHATTER if pack.has_cue("chatter", sentence) or pack.has_cue("joke_end", sentence) else Mood.STATEMENT


def _is_command(sentence: str, pack: Pack) -> bool:
    """Whether something is to be done now; "from now on ..." is to be remembered, and "wait, no" corrects."""
    if pack.has_cue("standing", sentence) or pack.has_cue("correction", sentence):
        return False
    return pack.has_cue("command", sentence) is not None


def is_reported(sentence: str, pack: Pack) -> bool:
    """Whether somebody else's words are given: a verb of saying, or a quotation in the first person."""
    if pack.has_cue("reported", sentence):
        return True
    first = pack.cues.get("first_inside")
    return first is not None and any(first.search(found["said"] or found["single"] or "") for found in _QUOTE.finditer(sentence))


def unquoted(sentence: str) -> str:
    """The sentence with its quotations blanked, same length."""
    return _QUOTE.sub(lambda found: " " * len(found[0]), sentence)


def read(match: re.Match[str], rule: Rule, clause: Clause, pack: Pack, t_ref: Instant) -> Reading:
    """Act, polarity and modality of a rule's match in a clause."""
    forms = forms_of(match)
    run = " ".join(text for name, text in match.groupdict().items() if text and (name == "X" or name.startswith("Y")))
    effects = pack.effects(run) if run else set[str]()
    if rule.timeless:
        effects.discard("past")
    effects |= {
        effect
        for effect in ("past", "planned", "hypothetical", "ended", "negative", "additive", "continuing")
        if pack.has_cue(effect, clause.whole)
    }
    if pack.tenseless and not (rule.event or rule.timeless or rule.dates) and is_bygone(clause, t_ref):
        effects.add("past")
    negative = "negative" in effects and "ended" not in effects
    modality = _modality(forms, effects, rule, clause, t_ref)
    passing = modality is Modality.ASSERTED and "perfect" not in effects and pack.has_cue("passing", clause.whole) is not None
    return Reading(
        act=Act.RETRACT if "ended" in effects else Act.ASSERT,
        polarity=Polarity.NEGATIVE if negative else Polarity.POSITIVE,
        modality=modality,
        additive=clause.additive or "additive" in effects or passing,
        perfect="perfect" in effects,
        passing=passing,
    )


def is_bygone(clause: Clause, t_ref: Instant) -> bool:
    """Whether a time that is over is named for what goes on: "in 2018 I work at Acme", in a language whose verbs have no past."""
    return any(date.closes is not None and date.closes <= t_ref and not date.since for date in clause.dates)


def _modality(forms: frozenset[str], effects: set[str], rule: Rule, clause: Clause, t_ref: Instant) -> Modality:
    if "hypothetical" in effects or "conditional" in forms:
        return Modality.HYPOTHETICAL
    if "ended" in effects:
        return Modality.ASSERTED
    if "past" not in effects and _is_planned(forms, effects, rule, clause, t_ref):
        return Modality.PLANNED
    if "past" in effects or (not rule.dates and any(date.ends is not None and date.ends <= t_ref for date in clause.dates)):
        return Modality.PAST
    if forms & {"past"} and not (rule.event or rule.timeless):
        continues = "perfect" in effects and ("continuing" in effects or any(date.since for date in clause.dates))
        return Modality.ASSERTED if continues else Modality.PAST
    return Modality.ASSERTED


def _is_planned(forms: frozenset[str], effects: set[str], rule: Rule, clause: Clause, t_ref: Instant) -> bool:
    if "planned" in effects or "future" in forms:
        return True
    if rule.event and "ing" in forms and "perfect" not in effects:
        return True
    return not rule.dates and any(date.begins is not None and date.begins > t_ref for date in clause.dates)
