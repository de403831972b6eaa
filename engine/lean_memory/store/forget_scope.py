"""How far a forgetting reaches: which rows go, and what is cut out of which episode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

import apsw

from lean_memory.domain import USER, EpisodeId, Instant, Polarity, Span, name_key
from lean_memory.errors import InvalidInputError, NotFoundError, quoted
from lean_memory.store.cutting import is_wordless, overlap, sentence_around
from lean_memory.store.entities import same_entities
from lean_memory.store.episodes import episode_row, passages_of
from lean_memory.store.mentions import Names, Sentences
from lean_memory.store.places import Places
from lean_memory.store.wording import Phrases, Words, words_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A row of `fact` or `evidence`, as far as forgetting cares."""

    row: int
    subject: int
    predicate: str
    object: str
    object_key: str
    polarity: Polarity
    text: str
    episode: int
    span: Span
    object_entity: int | None = None
    fact: int | None = None
    """For evidence: the fact it confirms or closes."""
    retracts: bool = False


@dataclass(slots=True)
class Scope:
    """What is to be erased. `meant` are the facts the person means; `facts` adds those that cannot be kept without showing what was meant."""

    meant: dict[int, Statement] = field(default_factory=dict[int, Statement])
    facts: dict[int, Statement] = field(default_factory=dict[int, Statement])
    evidence: dict[int, Statement] = field(default_factory=dict[int, Statement])
    implied: set[int] = field(default_factory=set[int])
    """Those of the evidence that only follow from a sentence which may stay: they go, the sentence need not."""
    cuts: dict[int, set[Span]] = field(default_factory=dict[int, set[Span]])
    """By row of the episode."""
    entities: set[int] = field(default_factory=set[int])
    """Entities that are themselves to go."""
    sentences: set[str] = field(default_factory=set[str])
    """Texts that must not stand anywhere afterwards."""

    def told(self) -> list[Statement]:
        """The statements whose words go: all but those that are only implied."""
        return [*self.facts.values(), *(said for row, said in self.evidence.items() if row not in self.implied)]

    def size(self) -> int:
        """Grows with every reach further."""
        return len(self.facts) + len(self.meant) + len(self.evidence) + sum(len(spans) for spans in self.cuts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What is to go beyond one thing: a sentence, or all that a client passed on, or was said from `since` up to `until`, or both."""

    sentence: str | None = None
    client: str | None = None
    since: Instant | None = None
    until: Instant | None = None


_FACT = "SELECT id, subject_id, predicate, object, object_key, polarity, fact_text, episode_id, span_start, span_end, object_id, NULL, 0 FROM fact"
_EVIDENCE = """
    SELECT id, subject_id, predicate, object, object_key, polarity, fact_text, episode_id, span_start, span_end, NULL, fact_id, act = 'retract'
    FROM evidence
"""
_Row = tuple[int, int, str, str, str, str, str, int, int, int, int | None, int | None, int]


def find_scope(
    con: apsw.Connection,
    *,
    fact_id: str | None = None,
    episode_id: str | None = None,
    entity: str | None = None,
    reach: Reach | None = None,
) -> Scope:
    """What is erased when a fact (or a passage, by the id under which it was served), an episode or an entity is, or what `reach` covers."""
    finder = ScopeFinder(con)
    if reach is not None:
        return finder.of_sentence(reach.sentence) if reach.sentence is not None else finder.of_episodes(_covered(con, reach))
    if fact_id is not None:
        return _of_served(con, finder, fact_id)
    if episode_id is not None:
        return finder.of_episode(episode_row(con, EpisodeId(episode_id)))
    if entity is None:
        raise InvalidInputError("Say what to forget: a fact, an episode or an entity. Nothing was changed.")
    if not name_key(entity):
        raise InvalidInputError("The name of the entity to forget is empty. Nothing was changed; give its name.")
    scope = finder.of_entity(entity)
    if not scope.entities and not scope.size():
        raise NotFoundError(f"Nothing is known of “{quoted(entity)}” in this namespace; nothing was changed.")
    return scope


def _covered(con: apsw.Connection, reach: Reach) -> list[int]:
    rows = con.execute(
        "SELECT id FROM episode WHERE (?1 IS NULL OR client = ?1) AND (?2 IS NULL OR t_ref >= ?2) AND (?3 IS NULL OR t_ref < ?3) ORDER BY id",
        (reach.client, reach.since, reach.until),
    ).fetchall()
    if not rows:
        raise NotFoundError("Nothing was said there: no text in this namespace is of that client and time. Nothing was changed.")
    return [row[0] for row in cast("list[tuple[int]]", rows)]


def _of_served(con: apsw.Connection, finder: ScopeFinder, served: str) -> Scope:
    row = cast("int | None", con.execute("SELECT id FROM fact WHERE uid = ?", (served,)).get)
    if row is not None:
        return finder.of_fact(row)
    episode, _, passage = served.partition(".")
    if passage.isascii() and passage.isdigit():
        episode_ = episode_row(con, EpisodeId(episode))
        for piece in passages_of(con, episode_):
            if piece.row == int(passage):
                return finder.of_stretch(episode_, piece.span)
    raise NotFoundError(f"There is no fact or passage {quoted(served)} in this namespace; it may have been forgotten. Nothing was changed.")


class ScopeFinder:
    """Follows what the person means to all that says the same, and to all that cannot be kept without it."""

    def __init__(self, con: apsw.Connection) -> None:
        self._con = con
        self._scope = Scope()
        self._names: set[str] = set()
        self._places = Places(con)
        self._looked_for: set[str] = set()
        self._followed: set[int] = set()
        self._texts: dict[int, str] = {}
        self._words: dict[int, Words] = {}

    def of_fact(self, row: int) -> Scope:
        """A fact: every statement of it, in whatever words, and every place where its sentence stands."""
        self._mean(_facts(self._con, "WHERE id = ?", (row,)))
        return self._spread()

    def of_episode(self, row: int) -> Scope:
        """An episode: all of its text, and what was learned from it."""
        text = self._text(row)
        self._mean(_facts(self._con, "WHERE episode_id = ?", (row,)))
        self._add_evidence(_evidence(self._con, "WHERE episode_id = ?", (row,)))
        self._cut(row, Span(start=0, end=len(text)))
        return self._spread()

    def of_episodes(self, rows: Iterable[int]) -> Scope:
        """Several episodes: all of their texts, and what was learned from them."""
        for row in rows:
            self._mean(_facts(self._con, "WHERE episode_id = ?", (row,)))
            self._add_evidence(_evidence(self._con, "WHERE episode_id = ?", (row,)))
            self._cut(row, Span(start=0, end=len(self._text(row))))
        return self._spread()

    def of_sentence(self, sentence: str) -> Scope:
        """A sentence in its own words: every place where it stands, and what was learned there. Raises `NotFoundError`."""
        self._scope.sentences.add(sentence)
        self._same_words()
        for episode, cuts in list(self._scope.cuts.items()):
            for span in cuts:
                inside = "WHERE episode_id = ? AND span_start < ? AND span_end > ?"
                said = _facts(self._con, inside, (episode, span.end, span.start))
                self._mean(fact for fact in said if span.start <= fact.span.start and fact.span.end <= span.end)
        scope = self._spread()
        if not scope.size():
            raise NotFoundError(f"“{quoted(sentence)}” was not said in this namespace in these words; nothing was changed.")
        return scope

    def of_stretch(self, episode: int, span: Span) -> Scope:
        """A stretch of an episode, such as a passage."""
        inside = "WHERE episode_id = ? AND span_start < ? AND span_end > ?"
        self._mean(_facts(self._con, inside, (episode, span.end, span.start)))
        self._add_evidence(_evidence(self._con, inside, (episode, span.end, span.start)))
        self._cut(episode, span)
        return self._spread()

    def of_entity(self, name: str) -> Scope:
        """An entity: every statement about it, and every sentence that names it."""
        key = name_key(name)
        rows = same_entities(self._con, key)
        self._scope.entities.update(rows)
        for row in rows:
            self._mean(_facts(self._con, "WHERE subject_id = ?1 OR object_id = ?1", (row,)))
            self._add_evidence(_evidence(self._con, "WHERE subject_id = ?", (row,)))
        if key != USER:
            self._mean(_facts(self._con, "WHERE object_key = ?", (key,)))
            self._add_evidence(_evidence(self._con, "WHERE object_key = ?", (key,)))
            spelled = cast("list[tuple[str]]", self._con.execute(f"SELECT name FROM entity WHERE id IN ({_list(rows)})").fetchall())
            self._names = {name, *(row[0] for row in spelled)}
        return self._spread()

    def _spread(self) -> Scope:
        size = -1
        while size != self._scope.size():
            size = self._scope.size()
            self._same_statements()
            self._same_words()
            self._summaries()
            self._what_shows_it()
        return self._scope

    def _mean(self, statements: Iterable[Statement]) -> None:
        for said in statements:
            self._scope.meant[said.row] = said
            self._add_fact(said)

    def _add_fact(self, said: Statement) -> None:
        if said.row not in self._scope.facts:
            self._scope.facts[said.row] = said
            self._cut_statement(said)

    def _add_evidence(self, statements: Iterable[Statement]) -> None:
        for said in statements:
            if said.row not in self._scope.evidence:
                self._scope.evidence[said.row] = said
                if said.retracts and self._is_implied(said):
                    self._scope.implied.add(said.row)
                else:
                    self._cut_statement(said)

    def _is_implied(self, said: Statement) -> bool:
        """Whether a retraction ("I dislike X" ends "likes X") only follows from a fact of the same sentence, which stays."""
        of_same_sentence = "WHERE episode_id = ? AND span_start = ? AND span_end = ? AND object_key = ?"
        found = _facts(self._con, of_same_sentence, (said.episode, said.span.start, said.span.end, said.object_key))
        return any(fact.row not in self._scope.facts for fact in found)

    def _cut_statement(self, said: Statement) -> None:
        self._scope.sentences.add(said.text)
        self._cut(said.episode, self._own_words(said))

    def _own_words(self, said: Statement) -> Span:
        """The part of a statement's span that is its own words, where the rest of the span says nothing of its object."""
        source = self._text(said.episode)[said.span.start : said.span.end]
        at = source.casefold().find(said.text.casefold()) if len(source.casefold()) == len(source) else -1
        if at < 0:
            return said.span
        rest = source[:at] + " " + source[at + len(said.text) :]
        if said.object and said.object.casefold() in rest.casefold():
            return said.span
        return Span(start=said.span.start + at, end=said.span.start + at + len(said.text))

    def _cut(self, episode: int, span: Span) -> None:
        self._scope.cuts.setdefault(episode, set()).add(span)

    def _same_statements(self) -> None:
        for said in [said for row, said in self._scope.meant.items() if row not in self._followed]:
            self._followed.add(said.row)
            same = (said.subject, said.predicate, said.object_key)
            if said.object_key:
                self._mean(_facts(self._con, "WHERE subject_id = ? AND predicate = ? AND object_key = ?", same, said.polarity))
                self._add_evidence(_evidence(self._con, "WHERE subject_id = ? AND predicate = ? AND object_key = ?", same))
            alike = "WHERE (superseded_by = ?1 AND end_reason = 'duplicate') OR id = (SELECT superseded_by FROM fact WHERE id = ?1 AND end_reason = 'duplicate')"
            self._mean(_facts(self._con, alike, (said.row,)))
            # A retraction of the whole slot names nothing and stays.
            self._add_evidence(_evidence(self._con, "WHERE fact_id = ? AND NOT (act = 'retract' AND object_key = '')", (said.row,)))

    def _same_words(self) -> None:
        """Every place where the words stand, also where nothing was made of them."""
        new = self._scope.sentences - self._looked_for
        self._looked_for |= new
        self._find(sorted(new), Sentences(new))
        names, self._names = self._names, set()
        self._find(sorted(names), Names(names), whole_sentences=True)

    def _find(self, phrases: Sequence[str], wanted: Sentences | Names, *, whole_sentences: bool = False) -> None:
        episodes, facts = self._places.of(phrases)
        for episode in sorted(episodes):
            text = self._text(episode)
            if not self._goes_whole(episode):
                for span in wanted.spans(text, self._words_of(episode)):
                    self._cut(episode, sentence_around(text, span) if whole_sentences else span)
            evidence = _evidence(self._con, "WHERE episode_id = ?", (episode,))
            self._add_evidence(said for said in evidence if said.row not in self._scope.evidence and any(wanted.spans(said.text)))
        for said in _facts(self._con, f"WHERE id IN ({_list(facts - self._scope.facts.keys())})", ()):
            if any(wanted.spans(said.text)):
                self._add_fact(said)

    def _goes_whole(self, episode: int) -> bool:
        return Span(start=0, end=len(self._text(episode))) in self._scope.cuts.get(episode, ())

    def _summaries(self) -> None:
        """What was made from a forgotten fact says it too."""
        if self._scope.facts:
            made = f"WHERE id IN (SELECT fact_id FROM derivation WHERE source_id IN ({_list(self._scope.facts)}))"
            for said in _facts(self._con, made, ()):
                self._add_fact(said)

    def _what_shows_it(self) -> None:
        """Other statements of the sentences that are cut, where their texts hold what is erased."""
        gone = _by_episode((*self._scope.facts.values(), *self._scope.evidence.values()))
        for episode, cuts in list(self._scope.cuts.items()):
            erased = gone.get(episode, [])
            for said in _facts(self._con, "WHERE episode_id = ?", (episode,)):
                if said.row not in self._scope.facts and self._shows(said, cuts, erased):
                    self._add_fact(said)
            others = [e for e in _evidence(self._con, "WHERE episode_id = ?", (episode,)) if e.row not in self._scope.evidence]
            self._add_evidence(said for said in others if self._shows(said, cuts, erased))

    def _shows(self, said: Statement, cuts: Iterable[Span], erased: Iterable[Statement]) -> bool:
        text, source = said.text.casefold(), self._text(said.episode)
        near = [span for span in cuts if overlap(said.span, span)]
        if not near:
            return False
        gone = {other.object for other in erased if any(overlap(other.span, span) for span in near)}
        gone |= {other.object for other in self._scope.meant.values()}
        stretches = {source[span.start : span.end].strip() for span in near}
        if any(word.casefold() in text for word in stretches | gone if not is_wordless(word)):
            return True
        # Of a sentence that a line break parts, a piece is left as a statement of its own.
        piece = Phrases([words_of(said.text).keys])
        return all(map(is_wordless, gone)) and any(any(piece.find(words_of(stretch))) for stretch in stretches)

    def _text(self, episode: int) -> str:
        if episode not in self._texts:
            self._texts[episode] = cast("str", self._con.execute("SELECT text FROM episode WHERE id = ?", (episode,)).get)
        return self._texts[episode]

    def _words_of(self, episode: int) -> Words:
        if episode not in self._words:
            self._words[episode] = words_of(self._text(episode))
        return self._words[episode]


def _by_episode(statements: Iterable[Statement]) -> dict[int, list[Statement]]:
    found: dict[int, list[Statement]] = {}
    for said in statements:
        found.setdefault(said.episode, []).append(said)
    return found


def _facts(con: apsw.Connection, where: str, given: tuple[int | str, ...], polarity: Polarity | None = None) -> list[Statement]:
    found = [_statement(row) for row in cast("list[_Row]", con.execute(f"{_FACT} {where}", given).fetchall())]
    return [said for said in found if polarity is None or said.polarity is polarity]


def _evidence(con: apsw.Connection, where: str, given: tuple[int | str, ...]) -> list[Statement]:
    return [_statement(row) for row in cast("list[_Row]", con.execute(f"{_EVIDENCE} {where}", given).fetchall())]


def _statement(row: _Row) -> Statement:
    return Statement(
        row=row[0],
        subject=row[1],
        predicate=row[2],
        object=row[3],
        object_key=row[4],
        polarity=Polarity(row[5]),
        text=row[6],
        episode=row[7],
        span=Span(start=row[8], end=row[9]),
        object_entity=row[10],
        fact=row[11],
        retracts=bool(row[12]),
    )


def _list(rows: Iterable[int]) -> str:
    return ", ".join(str(int(row)) for row in rows)
