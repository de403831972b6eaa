"""Who is spoken of: resolves the subject of a clause, and remembers who was named for the pronouns that follow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lean_memory.domain import USER, Candidate
from lean_memory.extraction.naming import naming
from lean_memory.extraction.pack import Pack
from lean_memory.extraction.vocabulary import object_type

_MOST_MENTIONS = 50
_WORD = re.compile(r"\w+")
_BRACKETED = re.compile(r"\s*\((\w[^()]{0,39})\)")
_THINGS = frozenset({"thing", "organization", "place", "animal"})
_LIVING = frozenset({"person", "animal"})
_ASIDE = re.compile(r"^(?P<head>[^,，]+?)\s*[,，]\s*(?P<aside>[^,，]{1,60}?)\s*[,，]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """A relation that a noun phrase gives away: "my sister Ana" says who Ana is."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Whom a clause is about; `said` is what stands in the text in its place, empty when nothing does."""

    name: str
    kind: str = "thing"
    said: str = ""
    stands_alone: bool = True
    """The text itself names it, so the sentence needs no rewriting."""
    ties: tuple[Tie, ...] = ()
    role: str = ""
    """The kinship word it was named by, which tells "he" from "she"."""


@dataclass(slots=True, kw_only=True)
class Scene:
    """What the text has named so far; one is made for each `extract`."""

    speaker: str | None = None
    last: Subject | None = None
    mentions: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])
    """Names with their kinds, newest last: as many as a pronoun may look back on."""
    earlier: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Those of them that were named before this text, and not in it."""
    known: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Everybody named so far, by the name in small letters."""
    group: str = ""
    """The people named together last, "Rosa and Emilio", for a "they"."""
    roles: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The words that say what somebody is to somebody: Ana -> "sister"."""
    is_lost: bool = False
    """The last clause was about somebody who cannot be told, and so is what goes on without a subject."""

    def note(self, name: str, kind: str, role: str = "") -> None:
        if name in (USER, self.speaker):
            return
        mention = self.known[name.casefold()] = (name, kind)
        self.mentions.pop(mention, None)
        self.earlier.discard(mention)
        self.mentions[mention] = None
        if len(self.mentions) > _MOST_MENTIONS:
            del self.mentions[next(iter(self.mentions))]
        if role:
            self.roles[name] = frozenset(_WORD.findall(role.casefold()))

    def recall(self, candidates: Sequence[Candidate]) -> None:
        """Takes up the names of earlier candidates."""
        for candidate in candidates:
            if candidate.subject != USER:
                self.note(candidate.subject, candidate.subject_type)
            kind = candidate.object_type or object_type(candidate.predicate)
            if kind in {"person", "animal"}:
                self.note(candidate.object, kind, candidate.fact_text)
        self.earlier = set(self.mentions)

    def latest(self, kinds: frozenset[str]) -> tuple[str, str] | None:
        return next((mention for mention in reversed(self.mentions) if not kinds or mention[1] in kinds), None)

    @property
    def self_name(self) -> str:
        return self.speaker or USER


def is_name(text: str, pack: Pack) -> bool:
    """Whether text reads as a proper name."""
    words = text.split()
    banned = pack.word_sets.get("not_subject", frozenset())
    if not words or len(words) > 6 or text.casefold() in banned or words[0].casefold() in banned or not any(c.isalpha() for c in text):
        return False
    pronouns = pack.word_sets.get("first", frozenset()) | pack.word_sets.get("third", frozenset())
    if (any(word.casefold() in pronouns for word in words) and not pack.has_cue("numbered_name", text)) or words[-1] in naming(
        "no_last_name"
    ):
        return False
    if not pack.cased:
        return len(text) <= 24 and not any(character in text for character in "，。、；：") and not pack.has_cue("not_name", text)
    return words[0][:1].isupper() and all(
        w[:1].isupper() or w[:1].isdigit() or not w[:1].isalpha() or w.casefold() in naming("particles") for w in words
    )


def resolve(said: str | None, pack: Pack, scene: Scene, *, relative: bool = False, dropped: bool = False) -> Subject | None:
    """Whom the words are about, or `None` when that cannot be told.

    No words: the last subject goes on (`relative`: the last name), else the speaker when a subject may be `dropped`.
    """
    if relative:
        named = scene.latest(frozenset())
        return Subject(name=named[0], kind=named[1], stands_alone=False) if named else None
    if not said or not said.strip():
        if scene.is_lost:
            return None
        if scene.last:
            return Subject(name=scene.last.name, kind=scene.last.kind, stands_alone=False)
        return _self(scene, "", alone=False) if dropped else None
    return _spoken(said.strip(), pack, scene)


def _spoken(words: str, pack: Pack, scene: Scene) -> Subject | None:
    bracket = _BRACKETED.search(words)
    if bracket and bracket[1].split()[0].casefold() in pack.word_sets.get("my", frozenset()):
        words = _BRACKETED.sub(r", \1,", words)
    said = words.rstrip(",，、 ")
    called = said.replace("，", ",").rpartition(",")[2].strip()
    if called != said and called.casefold() in pack.word_sets.get("first", frozenset()) | pack.word_sets.get("third", frozenset()):
        said = called  # "Gina, I ...": the name is who is spoken to
    key = said.casefold()
    if key in pack.word_sets.get("first", frozenset()) or pack.has_cue("and_me", said):
        return _self(scene, said, alone=scene.speaker is None)
    if key in pack.word_sets.get("third", frozenset()):
        return _pronoun(said, key, pack, scene)
    found = _noun(said, pack, scene)
    if found is None and (aside := _ASIDE.match(words)):
        found = _with_aside(aside["head"], aside["aside"], said, pack, scene)
    if found is None:
        found = _named(said, pack, scene)
    return found


def _named(said: str, pack: Pack, scene: Scene) -> Subject | None:
    """Somebody by name; one who is known already may be spelled small."""
    known = scene.known.get(said.casefold())
    if known:
        return Subject(name=known[0], kind=known[1], said=said)
    return Subject(name=said, kind="person", said=said) if is_name(said, pack) else None


def _self(scene: Scene, said: str, *, alone: bool) -> Subject:
    return Subject(name=scene.self_name, kind="person", said=said, stands_alone=alone)


def _pronoun(said: str, key: str, pack: Pack, scene: Scene) -> Subject | None:
    if key in pack.word_sets.get("pointing", frozenset()):
        return None
    if key in pack.word_sets.get("it", frozenset()):
        named = scene.latest(_THINGS)
    elif key in pack.word_sets.get("they", frozenset()):
        is_one = len({name for name, _ in scene.mentions}) == 1
        named = scene.latest(frozenset()) if is_one else (scene.group, "person") if scene.group else None
    else:
        named = _fitting(key, pack, scene)
    return Subject(name=named[0], kind=named[1], said=said, stands_alone=False) if named else None


def _fitting(key: str, pack: Pack, scene: Scene) -> tuple[str, str] | None:
    """The latest of those named whose role goes with the pronoun; nobody whose role speaks against it.

    A pet that this text names comes before people of an earlier one: "we have a dog called Biscuit, he's a beagle" tells nothing of my husband.
    """
    pair = (pack.word_sets.get("female", frozenset[str]()), pack.word_sets.get("male", frozenset[str]()))
    wanted, other = pair if key in pack.word_sets.get("she", frozenset()) else pair[::-1]
    living = [mention for mention in reversed(scene.mentions) if mention[1] in _LIVING]
    roles = [scene.roles.get(name, frozenset[str]()) for name, _ in living]
    fitting = [mention for mention, role in zip(living, roles, strict=True) if role & wanted]
    neutral = [mention for mention, role in zip(living, roles, strict=True) if not role & other]
    pets = [mention for mention in neutral if mention[1] == "animal" and mention not in scene.earlier]
    if pets and not any(mention not in scene.earlier for mention in fitting):
        return pets[0]
    return next(iter((*fitting, *neutral)), None)


def _with_aside(head: str, aside: str, said: str, pack: Pack, scene: Scene) -> Subject | None:
    """ "My mom, Dolores" names her; "my colleague Ana, no relation to my sister" sets her apart from the Ana known."""
    found = _noun(head, pack, scene)
    if found and (is_name(aside, pack) or all(is_name(name, pack) for name in items_of(aside, pack))):
        ties = tuple(Tie(subject=tie.subject, predicate=tie.predicate, object=aside) for tie in _role_tie(head, pack, scene))
        return Subject(name=aside, kind="person", said=said, ties=ties)
    if found is None and is_name(head, pack):
        ties = tuple(Tie(subject=tie.subject, predicate=tie.predicate, object=head) for tie in _role_tie(aside, pack, scene))
        found = Subject(name=head, kind="person", said=said, ties=ties)
    if found and pack.has_cue("other_person", aside):
        role = next((tie.predicate.removesuffix("_of") for tie in found.ties), "other")
        name = f"{found.name} ({role})"
        ties = tuple(Tie(subject=tie.subject, predicate=tie.predicate, object=name) for tie in found.ties)
        return Subject(name=name, kind=found.kind, said=said, ties=ties)
    return Subject(name=found.name, kind=found.kind, said=said, ties=found.ties) if found else None


def items_of(text: str, pack: Pack) -> Sequence[str]:
    """The names of "Hedda and Rune"."""
    pattern = pack.cues.get("list")
    return pattern.split(text) if pattern else [text]


def _role_tie(head: str, pack: Pack, scene: Scene) -> tuple[Tie, ...]:
    for noun in pack.nouns:
        match = noun.pattern.regex.fullmatch(head)
        role = match.groupdict().get("K") if match else None
        if match and role:
            owner = match.groupdict().get("P") or scene.self_name
            return (Tie(subject=owner, predicate=pack.kin.get(role.casefold(), "knows"), object=role),)
    return ()


def _noun(said: str, pack: Pack, scene: Scene) -> Subject | None:
    for noun in pack.nouns:
        match = noun.pattern.regex.fullmatch(said)
        if match is None:
            continue
        parts = {name: text.strip() for name, text in match.groupdict().items() if text}
        named, owner = parts.get("N"), parts.get("P")
        if (named and not is_name(named, pack)) or (owner and not is_name(owner, pack)):
            continue
        whose = owner or scene.self_name
        if named and "K" in parts:
            tie = Tie(subject=whose, predicate=pack.kin.get(parts["K"].casefold(), "knows"), object=named)
            kind = object_type(tie.predicate) or "person"
            return Subject(name=named, kind=kind, said=said, ties=(tie,), role=parts["K"])
        if named:
            return Subject(name=named, kind="person", said=said)
        if any(pack.verb_like.search(parts[slot]) or _has_pronoun(parts[slot], pack) for slot in "RT" if slot in parts):
            continue
        if "K" in parts or "R" in parts:
            role = parts.get("K") or parts["R"]
            kind = object_type(pack.kin.get(role.casefold(), "")) or "person" if "K" in parts else _role_kind(role, pack)
            return Subject(
                name=pack.roles[whose != USER].format(owner=whose, role=role.lower()), kind=kind, said=said, role=parts.get("K", "")
            )
        if "T" in parts:
            return Subject(name=parts["T"], kind="thing", said=said)
    return None


def _role_kind(role: str, pack: Pack) -> str:
    """ "My boss" and "the plumber" are people, "my office" is none."""
    job = pack.classes.get("job")
    is_person = role.casefold() in pack.word_sets.get("person_roles", frozenset()) or (job is not None and job.accepts(role))
    return "person" if is_person else "thing"


def _has_pronoun(words: str, pack: Pack) -> bool:
    """Whether a would-be noun phrase is too long or speaks of a person by pronoun, so that it is none."""
    said = [word.strip(",").casefold() for word in words.split()]
    pronouns = pack.word_sets.get("first", frozenset()) | pack.word_sets.get("third", frozenset())
    return "," in words or len(said) > 5 or len(words) > 50 or any(word in pronouns for word in said)
