"""Relations a clause gives away in passing: "I live in Ghent with my girlfriend Noor" names a partner."""

from __future__ import annotations

from collections.abc import Sequence

from lean_memory.domain import Candidate
from lean_memory.extraction.rules import Place, tie_candidates
from lean_memory.extraction.scene import Subject, Tie, is_name
from lean_memory.extraction.vocabulary import object_type

_TITLES = frozenset({"Mr.", "Mrs.", "Ms.", "Dr.", "Prof.", "St."})


def mentioned(place: Place, made: Sequence[Candidate]) -> list[Candidate]:
    """Ties named anywhere in the clause that the rules did not already make; the people become known to the scene."""
    pattern = place.pack.cues.get("mention")
    if pattern is None:
        return []
    known = {(candidate.predicate, candidate.object) for candidate in made}
    found: list[Candidate] = []
    for match in pattern.finditer(place.clause.full):
        role, name = match["K"].casefold(), _name(match["N"], place)
        predicate = place.pack.kin.get(role)
        if not predicate or not name:
            continue
        place.scene.note(name, object_type(predicate) or "person", role)
        if (predicate, name) not in known and not any(c.object == name for c in made):
            tie = Tie(subject=place.scene.self_name, predicate=predicate, object=name)
            # the clause is about its own subject, so it can stand as it is
            subject = place.scene.last or Subject(name=place.scene.self_name, said=place.pack.first)
            named = Subject(name=subject.name, said=subject.said, stands_alone=subject.stands_alone, ties=(tie,))
            found.extend(tie_candidates(named, place, match[0]))
    return found


def _name(text: str, place: Place) -> str:
    """The leading capitalised words."""
    words: list[str] = []
    for word in text.split():
        if not is_name(word.strip(",.;:!"), place.pack):
            break
        words.append(word if word in _TITLES else word.strip(",.;:!"))
        if word[-1:] in ",.;:!" and word not in _TITLES:
            break
    name = " ".join(words)
    return name[:-2] if name.endswith(("'s", "’s")) else name
