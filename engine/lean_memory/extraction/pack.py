"""Rule packs: everything the rules know of one language, as data, read on first use and compiled once.

A pack is `packs/<code>.toml`; its own tests are `packs/<code>.tests.toml`. The sections of a pack:

    code, spaces, cased, first    language code; words are parted by blanks; names begin with a capital; how the speaker is written ("I")
    tenseless       verbs have no past: a time that is over makes what goes on past
    topic           what follows a name that is put before a sentence without a subject (ja: "は")
    drops_subject   a sentence without a subject goes on about the last one, and in the beginning is about the speaker
    variants        groups of characters that stand for each other ("们們 说說説"), see `variants.py`
    [roles]         how somebody without a name is called: `own = "我{role}"` the speaker's, `of = "{owner}的{role}"` somebody's
    [macros]        "@NAME" -> what stands for it in the patterns of nouns and rules
    [words]         named word lists. The engine itself reads `first`, `my`, `third`, `their`, `not_subject`, `not_value`, `and`, `article`, `abbreviations`, `preposition` (no subject begins with one)
    [kin]           kinship and acquaintance words -> predicate (`sister = "has_sibling"`); [kin_former] those of people who no longer are (`ex-wife`)
    [verbs]         name = { present, ing, past, future, conditional }, each a list (or a string of words) of spellings
    [aux]           words between subject and verb, by effect: neutral, perfect, past, planned, hypothetical, negative, ended, additive
    [cues]          regular expressions over a clause or sentence, by effect; `packs/README.md` lists them
    [contractions]  regular expression -> replacement, in order, before anything else ("i'm" -> "I am")
    [rewrites]      regular expression -> replacement over a sentence whose contractions are opened; each is tried once, in order, see `plain.py`
    [profile]       the same, for the lines of what the speaker tells of themselves ("city: Oslo")
    [self]          how a part of "I am Ana, 34, a nurse" becomes a sentence: regular expression -> what goes before it
    [same]          word -> the word it counts as in the name of a slot ("film" and "movie")
    [singular]      regular expression -> replacement for the end of a noun of several; the first that fits counts
    [closings]      regular expression -> replacement for what is written out of opened clauses ("je habite" -> "j'habite")
    [person]        first-person words -> third person with `{}` for the name, for "Caroline: I ..."
    [clauses]       `joints` between clauses and `starts` that a new clause begins with
    [cut]           where an object ends, per slot class (`any` for all): regular expressions
    [class.NAME]    what text a slot class takes: words, endings, except
    [attributes]    spellings of an attribute -> its predicate (`"phone number" = "phone"`)
    [dates]         see `dates.py`
    [[noun]]        noun phrases that can be a subject: see `Noun`
    [[antecedent]]  what a sentence leaves out because it was named before: see `antecedents.py`
    [[rule]]        see `Rule`
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import cast

from lean_memory.domain import Act, Modality, Polarity
from lean_memory.extraction.pattern import Grammar, Pattern, alternation, compile_pattern
from lean_memory.extraction.variants import spelled_out

EFFECTS = ("neutral", "perfect", "past", "planned", "hypothetical", "negative", "ended", "additive")

_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Emit:
    """One candidate a rule makes: predicate (or `@A`, the slot that names it; `@~A`: its words that carry content, see `names.content`), and the slots of subject and object."""

    predicate: str
    subject: str = "S"
    object: str = "O"
    """A slot, or the first present of `O|O1` (`O|=`: or nothing), `O:class` to read it as a class, `=text` for a fixed object, `=S`: the subject."""
    act: Act | None = None
    polarity: Polarity | None = None
    modality: Modality | None = None
    takes_list: bool | None = None
    multi: bool | None = None
    """`False`: one value, also where "also" is said ("I also finished Dune")."""
    corrects: str | None = None
    object_kind: str | None = None
    dated: bool = True
    """A time that the clause names is that of the fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Patterns that say the same thing, and what they give.

    `cues`: words of which one must occur before the patterns are tried (default: the forms of each pattern's first verb; none: always tried).
    `subject`: `any`; `first` (no subject means the speaker, as in "vivo en ..."); `person`, `thing`: what {S} must be; `none`.
    `event`: the past form tells what is so now ("moved to"), and the -ing form what is planned.
    `timeless`: the past form tells what stays true ("was founded by").
    `dates`: `value` also tries the clause with its dates in, because the object may be one; `keep` leaves all but a final "since ..." in.
    `when`: a cue the clause must have, or `since`: it must have a date from when on. `drops`: the speaker may be left out ("dont eat pork").
    `also`: later rules are tried as well. `steady`: a plan or hope of it is no fact ("I'd like to know ...").
    """

    id: str
    patterns: tuple[Pattern, ...]
    emits: tuple[Emit, ...]
    cues: tuple[str, ...]
    subject: str = "any"
    event: bool = False
    timeless: bool = False
    dates: str = ""
    also: bool = False
    steady: bool = False
    drops: bool = False
    when: str = ""
    confidence: float = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotClass:
    """What text a slot of this class takes; `except_` wins, then whole words, then endings of the head word."""

    words: frozenset[str]
    endings: tuple[str, ...]
    except_: frozenset[str]
    head_before: re.Pattern[str]

    def accepts(self, text: str) -> bool:
        lowered = text.casefold().strip()
        head = self.head_before.split(lowered, maxsplit=1)[0].strip()
        last = head.rpartition(" ")[2]
        if head in self.except_ or last in self.except_:
            return False
        return head in self.words or last in self.words or (bool(self.endings) and last.endswith(self.endings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Noun:
    """A pattern for a noun phrase: {K} a kinship word, {N} its name, {P} whose it is, {T} a thing, {R} a role without a name."""

    pattern: Pattern
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pack:
    """One language, compiled."""

    code: str
    spaces: bool
    cased: bool
    first: str
    topic: str
    tenseless: bool
    drops_subject: bool
    roles: tuple[str, str]
    """Templates for the speaker's relative and somebody's."""
    words: Mapping[str, tuple[str, ...]]
    word_sets: Mapping[str, frozenset[str]]
    kin: Mapping[str, str]
    kin_former: Mapping[str, str]
    verbs: Mapping[str, Mapping[str, tuple[str, ...]]]
    aux: Mapping[str, str]
    """auxiliary -> its effect"""
    aux_any: re.Pattern[str]
    cues: Mapping[str, re.Pattern[str]]
    contractions: tuple[tuple[re.Pattern[str], str], ...]
    closings: tuple[tuple[re.Pattern[str], str], ...]
    rewrites: tuple[tuple[re.Pattern[str], str], ...]
    profile: tuple[tuple[re.Pattern[str], str], ...]
    singular: tuple[tuple[re.Pattern[str], str], ...]
    same: Mapping[str, str]
    self_parts: tuple[tuple[re.Pattern[str], str], ...]
    self_leads: tuple[str, ...]
    """"I am ", and "I am a " for an occupation without an article."""
    person: tuple[tuple[re.Pattern[str], str], ...]
    joints: re.Pattern[str]
    verb_like: re.Pattern[str]
    cut: Mapping[str, re.Pattern[str]]
    classes: Mapping[str, SlotClass]
    attributes: Mapping[str, str]
    dates: Mapping[str, object]
    nouns: tuple[Noun, ...]
    antecedents: tuple[tuple[re.Pattern[str], re.Pattern[str], str], ...]
    rules: tuple[Rule, ...]
    word_cues: Mapping[str, tuple[int, ...]]
    """word -> the numbers of the rules it calls for; the empty word calls for those always tried."""
    text_cues: Mapping[str, tuple[int, ...]]
    """The same for cues that are looked for as substrings: phrases, and every cue of a language without blanks."""

    def effects(self, run: str) -> set[str]:
        """The effects of a run of auxiliaries; "would love to" counts as itself, not as "would"."""
        return {self.aux.get(" ".join(found[0].casefold().split()), "neutral") for found in self.aux_any.finditer(run)}

    def has_cue(self, name: str, text: str) -> re.Match[str] | None:
        return self.cues.get(name, _NEVER).search(text)


@cache
def load(code: str) -> Pack:
    """The pack of a language; raises `FileNotFoundError` when there is none and `PatternError` when a pattern is wrong."""
    data = tomllib.loads(files("lean_memory.extraction.packs").joinpath(f"{code}.toml").read_text("utf-8"))
    return _Loader(spelled_out(data)).pack()


@cache
def available() -> frozenset[str]:
    """Codes of the languages that have a pack."""
    names = (entry.name for entry in files("lean_memory.extraction.packs").iterdir())
    return frozenset(name.removesuffix(".toml") for name in names if name.endswith(".toml") and not name.endswith(".tests.toml"))


class _Loader:
    """Turns the parsed file into values; everything below sees typed data only."""

    def __init__(self, data: Mapping[str, object]) -> None:
        self._data = data
        self._spaces = bool(data.get("spaces", True))
        self._words = {name: _strings(value) for name, value in self._table("words").items()}
        for table in ("kin", "kin_former"):
            self._words.setdefault(table, tuple(self._table(table)))
        self._verbs = {name: self._verb(value) for name, value in self._table("verbs").items()}
        self._aux = {effect: _strings(self._table("aux").get(effect, ())) for effect in EFFECTS}
        self._grammar = Grammar(
            spaces=self._spaces,
            words=self._words,
            verbs=self._verbs,
            auxiliaries=[word for words in self._aux.values() for word in words] or ["\x00"],
            adverbs=[word for effect in ("neutral", "negative", "additive", "ended") for word in self._aux[effect]],
        )

    def pack(self) -> Pack:
        clauses, roles, rules = self._table("clauses"), self._table("roles"), tuple(self._rule(row) for row in self._rows("rule"))
        return Pack(
            code=str(self._data["code"]),
            spaces=self._spaces,
            cased=bool(self._data.get("cased", True)),
            first=str(self._data.get("first", "I")),
            topic=str(self._data.get("topic", "")),
            **{name: bool(self._data.get(name, False)) for name in ("tenseless", "drops_subject")},
            roles=(str(roles.get("own", "user's {role}")), str(roles.get("of", "{owner}'s {role}"))),
            words=self._words,
            word_sets={name: frozenset(word.casefold() for word in words) for name, words in self._words.items()},
            kin={word.casefold(): str(value) for word, value in self._table("kin").items()},
            kin_former={word.casefold(): str(value) for word, value in self._table("kin_former").items()},
            verbs=self._verbs,
            aux={" ".join(word.casefold().split()): effect for effect in reversed(EFFECTS) for word in self._aux[effect]},
            aux_any=self._any_of(self._grammar.auxiliaries),
            cues={name: _joined(_strings(value, split=False), self._expand) for name, value in self._table("cues").items()},
            contractions=self._verbatim("contractions"),
            closings=self._verbatim("closings"),
            rewrites=self._replacements("rewrites"),
            profile=self._replacements("profile"),
            singular=self._replacements("singular"),
            same={word.casefold(): str(value) for word, value in self._table("same").items()},
            self_parts=self._replacements("self"),
            self_leads=self._words.get("self_leads", ("", "")),
            person=self._replacements("person"),
            joints=self._joints(_strings(clauses.get("joints", ()), split=False), _strings(clauses.get("starts", ()), split=False)),
            verb_like=self._verb_like(_strings(clauses.get("verbs", ()), split=False)),
            cut={name: _joined(_strings(value, split=False), self._expand) for name, value in self._table("cut").items()},
            classes={name: self._slot_class(cast("Mapping[str, object]", row)) for name, row in self._table("class").items()},
            attributes={key.casefold(): str(value) for key, value in self._table("attributes").items()},
            dates=self._table("dates"),
            nouns=tuple(self._noun(row) for row in self._rows("noun")),
            antecedents=tuple(self._antecedent(row) for row in self._rows("antecedent")),
            rules=rules,
            word_cues={cue: numbers for cue, numbers in _index(rules).items() if not cue or self._is_word(cue)},
            text_cues={cue: numbers for cue, numbers in _index(rules).items() if cue and not self._is_word(cue)},
        )

    def _rows(self, name: str) -> list[Mapping[str, object]]:
        return cast("list[Mapping[str, object]]", self._data.get(name, []))

    def _verbatim(self, table: str) -> tuple[tuple[re.Pattern[str], str], ...]:
        return tuple((re.compile(key, re.IGNORECASE), str(value)) for key, value in self._table(table).items())

    def _replacements(self, table: str) -> tuple[tuple[re.Pattern[str], str], ...]:
        return tuple((re.compile(self._expand(key), re.IGNORECASE), str(value)) for key, value in self._table(table).items())

    def _is_word(self, cue: str) -> bool:
        return self._spaces and re.fullmatch(r"[^\W_]+(?:-[^\W_]+)*", cue) is not None

    def _table(self, name: str) -> Mapping[str, object]:
        return cast("Mapping[str, object]", self._data.get(name, {}))

    def _verb(self, value: object) -> Mapping[str, tuple[str, ...]]:
        return {form: _strings(words) for form, words in cast("Mapping[str, object]", value).items()}

    def _any_of(self, words: Sequence[str]) -> re.Pattern[str]:
        return re.compile(alternation(words, spaces=self._spaces), re.IGNORECASE)

    def _expand(self, source: str) -> str:
        """`%list%` and `<verb>` inside a plain regular expression."""

        def words_of(match: re.Match[str]) -> str:
            if match[1]:
                return alternation(self._words[match[1]], spaces=self._spaces)
            return alternation([word for words in self._verbs[match[2]].values() for word in words], spaces=self._spaces)

        return re.sub(r"%([\w-]+)%|(?<!\?P)<([a-z][\w-]*)>", words_of, source)

    def _all_verbs(self, *forms: str) -> list[str]:
        return [word for verb in self._verbs.values() for form in forms for word in verb.get(form, ())]

    def _joints(self, joints: Sequence[str], starts: Sequence[str]) -> re.Pattern[str]:
        if not joints:
            return _NEVER
        verbs = self._all_verbs("present", "past", "future")
        begins = [self._expand(start).replace("@verb", alternation(verbs, spaces=self._spaces) if verbs else "(?!)") for start in starts]
        ahead = f"(?={'|'.join(begins)})" if begins else ""
        expanded = (self._expand(joint) for joint in joints)
        # a joint that begins with blanks begins where they do; from every one of them a long run of blanks would be tried again
        once = [rf"(?<!\s){joint}" if joint.startswith(r"\s") else joint for joint in expanded]
        return re.compile(f"(?:{'|'.join(once)}){ahead}", re.IGNORECASE)

    def _verb_like(self, extra: Sequence[str]) -> re.Pattern[str]:
        finite = [word for effect in ("perfect", "past", "planned", "hypothetical", "ended") for word in self._aux[effect]]
        words = self._all_verbs("present", "past", "ing", "future", "conditional", "perfect") + finite
        parts = [alternation(words, spaces=self._spaces)] if words else []
        return re.compile("|".join([*parts, *(self._expand(item) for item in extra)]) or "(?!)", re.IGNORECASE)

    def _slot_class(self, row: Mapping[str, object]) -> SlotClass:
        heads = _strings(row.get("head_before", ()), split=False)
        words = [word for item in _strings(row.get("words", ()), split=False) for word in self._words.get(item.removeprefix("@"), (item,))]
        return SlotClass(
            words=frozenset(word.casefold() for word in words),
            endings=tuple(word.casefold() for word in _strings(row.get("endings", ()))),
            except_=frozenset(word.casefold() for word in _strings(row.get("except", ()), split=False)),
            head_before=_joined(heads, self._expand),
        )

    def _noun(self, row: Mapping[str, object]) -> Noun:
        return Noun(pattern=self._compiled(str(row["pattern"])), owner=str(row.get("owner", "user")))

    def _antecedent(self, row: Mapping[str, object]) -> tuple[re.Pattern[str], re.Pattern[str], str]:
        at, named = (re.compile(self._expand(str(row[key])), re.IGNORECASE) for key in ("at", "named"))
        return at, named, str(row["told"])

    def _compiled(self, source: str) -> Pattern:
        for name, meaning in self._table("macros").items():
            source = source.replace(name, str(meaning))
        return compile_pattern(source, self._grammar)

    def _rule(self, row: Mapping[str, object]) -> Rule:
        sources = _strings(row.get("patterns", row.get("pattern", ())), split=False)
        patterns = tuple(self._compiled(source) for source in sources)
        cues = _strings(row.get("cues", ()), split=False) or tuple(word for pattern in patterns for word in pattern.verb_words)
        emits = row.get("emit", [row])
        return Rule(
            id=str(row["id"]),
            patterns=patterns,
            emits=tuple(_emit(cast("Mapping[str, object]", item)) for item in cast("list[object]", emits)),
            cues=tuple(dict.fromkeys(cue.casefold() for cue in self._listed(cues))),
            subject=str(row.get("subject", "any")),
            event=bool(row.get("event", False)),
            timeless=bool(row.get("timeless", False)),
            dates=str(row.get("dates", "")),
            also=bool(row.get("also", False)),
            steady=bool(row.get("steady", False)),
            drops=bool(row.get("drops", False)),
            when=str(row.get("when", "")),
            confidence=float(str(row.get("confidence", 0.9))),
        )

    def _listed(self, cues: Sequence[str]) -> Sequence[str]:
        """Cues with `%list%` and `<verb>` replaced by their words."""
        found: list[str] = []
        for cue in cues:
            if cue.startswith("%"):
                found.extend(self._words[cue.strip("%")])
            elif cue.startswith("<"):
                found.extend(word for words in self._verbs[cue.strip("<>")].values() for word in words)
            else:
                found.append(cue)
        return found


def _emit(row: Mapping[str, object]) -> Emit:
    corrects, kind = row.get("corrects"), row.get("type")
    return Emit(
        predicate=str(row["predicate"]),
        subject=str(row.get("subject_slot", "S")),
        object=str(row.get("object", "O")),
        act=Act(str(row["act"])) if "act" in row else None,
        polarity=Polarity(str(row["polarity"])) if "polarity" in row else None,
        modality=Modality(str(row["modality"])) if "modality" in row else None,
        takes_list=bool(row["list"]) if "list" in row else None,
        multi=bool(row["multi"]) if "multi" in row else None,
        corrects=str(corrects) if corrects else None,
        object_kind=str(kind) if kind else None,
        dated=bool(row.get("dated", True)),
    )


def _index(rules: Sequence[Rule]) -> Mapping[str, tuple[int, ...]]:
    index: dict[str, list[int]] = {}
    for number, rule in enumerate(rules):
        for cue in rule.cues or ("",):
            index.setdefault(cue, []).append(number)
    return {cue: tuple(numbers) for cue, numbers in index.items()}


def _strings(value: object, *, split: bool = True) -> tuple[str, ...]:
    """A list of strings; a single string is one item, or its words when `split`."""
    if isinstance(value, str):
        return tuple(value.split()) if split else (value,)
    return tuple(str(item) for item in cast("Sequence[object]", value))


def _joined(sources: Sequence[str], expand: Callable[[str], str]) -> re.Pattern[str]:
    """Any of the patterns, in order: neighbours that begin alike are put together, so that `re` tries their beginning once at each place."""
    alike = groupby(sources, lambda source: (source.startswith("^"), source.startswith(r"\b")))
    groups = (f"(?:{'|'.join(f'(?:{expand(source)})' for source in group)})" for _, group in alike)
    return re.compile("|".join(groups) or "(?!)", re.IGNORECASE)
