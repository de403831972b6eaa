"""The small pattern language of the rule packs, compiled to one regular expression each.

A pattern is a regular expression (always matched against a whole clause, ignoring case) with these additions:

    a space       one or more blanks (none or more in a pack with `spaces = false`)
    (a|b)         a group that captures nothing; `?`, `*`, `+` and `|` mean what they mean in `re`
    {S}           the subject, optional, and after it any run of the pack's auxiliaries and adverbs (`[aux]`)
    {X}           only that run
    {O} {T:job}   a slot with a name (capitals), and the class its text must belong to
    {O:@diet}     a slot whose text must be one of a word list of the pack
    <work>        any form of a verb in `[verbs]`, and adverbs or a negation right after it; which form it was decides the tense
    %kin%         any word of a list in `[words]`
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

_TOKEN = re.compile(
    r"\{(?P<slot>[A-Z][A-Z0-9]*)(?::(?P<kind>@?[\w-]+))?\}|(?<!\?P)<(?P<verb>[a-z][\w-]*)>|%(?P<list>[\w-]+)%|(?P<blank> +)|(?<!\\)\((?!\?)"
)
_FREE = r".{1,200}?"
_SUBJECT = r"[^;:?!\n]{1,70}?"
_MOST_BEFORE, _MOST_AFTER = 7, 4
"""How many auxiliaries and adverbs stand before a verb, and adverbs after it: no language has more, and "are are are ..." would take a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """What a pack contributes to its patterns."""

    spaces: bool
    words: Mapping[str, Sequence[str]]
    verbs: Mapping[str, Mapping[str, Sequence[str]]]
    """verb -> form (`present`, `ing`, `past`, `future`, `conditional`) -> spellings"""
    auxiliaries: Sequence[str]
    adverbs: Sequence[str] = ()
    """Those of the auxiliaries that may also follow the verb."""


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A pattern as a regular expression, the classes of its slots, and the forms of its verbs that tell where to try it."""

    source: str
    body: str
    kinds: Mapping[str, str]
    verb_words: tuple[str, ...]

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Compiled on first use, for most patterns of a pack are never tried; raises `PatternError` when it is no regular expression."""
        try:
            return re.compile(self.body, re.IGNORECASE)
        except re.error as error:
            raise PatternError(f"pattern {self.source!r} is no regular expression: {error}") from error


class PatternError(ValueError):
    """A pattern names a list or verb its pack does not have, or is no regular expression."""


def alternation(words: Sequence[str], *, spaces: bool) -> str:
    """An alternation of literal words, longest first, each bounded by word edges where the language has them."""
    return _alternation(tuple(words), spaces=spaces)


@lru_cache(maxsize=1024)
def _alternation(words: tuple[str, ...], *, spaces: bool) -> str:
    blank = r"\s+" if spaces else r"\s*"
    body = _tree([tuple(blank if sign == " " else re.escape(sign) for sign in word) for word in set(words)])
    return rf"(?<!\w)(?:{body})(?!\w)" if spaces else f"(?:{body})"


def _tree(words: Collection[tuple[str, ...]]) -> str:
    """Words that begin alike as one: "is", "isn't" and "it" as `i(?:s(?:n't)?|t)`, so that most places of a text are passed over at once."""
    heads = sorted({word[0] for word in words if word})
    branches = [head + _tree([word[1:] for word in words if word[:1] == (head,)]) for head in heads]
    if len(branches) == 1 and all(words):
        return branches[0]
    body = f"(?:{'|'.join(branches)})"
    return body if all(words) else f"{body}?" if branches else ""


def compile_pattern(source: str, grammar: Grammar) -> Pattern:
    """Expand one pattern; raises `PatternError` when it names a verb or list the pack does not have."""
    return _Compiler(source, grammar).run()


class _Compiler:
    def __init__(self, source: str, grammar: Grammar) -> None:
        self._source = source
        self._grammar = grammar
        self._kinds: dict[str, str] = {}
        self._verb_words: list[str] = []
        self._verbs = 0

    def run(self) -> Pattern:
        parts: list[str] = []
        position = 0
        brings_blank = False
        for token in _TOKEN.finditer(self._source):
            parts.append(self._source[position : token.start()])
            swallowed = brings_blank and token["blank"] and token.start() == position
            position = token.end()
            if not swallowed:
                parts.append(self._expand(token))
            brings_blank = token["slot"] in {"S", "X"}
        parts.append(self._source[position:])
        body = rf"\s*{_unskip(''.join(parts))}[\s.!…。！~]*"
        return Pattern(source=self._source, body=body, kinds=self._kinds, verb_words=tuple(self._verb_words))

    def _expand(self, token: re.Match[str]) -> str:
        if token["slot"]:
            return self._slot(token["slot"], token["kind"] or "any")
        if token["verb"]:
            return self._verb(token["verb"])
        if token["list"]:
            return self._list(token["list"])
        if token["blank"]:
            return self._blank
        return "(?:"

    @property
    def _blank(self) -> str:
        return r"(?:\s+)" if self._grammar.spaces else r"\s*"

    def _slot(self, name: str, kind: str) -> str:
        run = rf"(?P<X>(?:{alternation(self._grammar.auxiliaries, spaces=self._grammar.spaces)}{self._blank}){{0,{_MOST_BEFORE}}})"
        if name == "X":
            return run
        if name == "S":
            return rf"(?:{self._no_auxiliary}(?P<S>{_SUBJECT}){self._blank})?{run}"
        self._kinds[name] = kind
        if kind.startswith("@"):
            return f"(?P<{name}>{self._list(kind[1:])})"
        return f"(?P<{name}>{_FREE})"

    @property
    def _no_auxiliary(self) -> str:
        """Without blanks "now live" would read as a subject "now": none begins with an auxiliary there, nor with a `preposition`."""
        words = [*self._grammar.auxiliaries, *self._grammar.words.get("preposition", ())]
        return "" if self._grammar.spaces else rf"(?!{alternation(words, spaces=False)})"

    def _verb(self, name: str) -> str:
        forms = self._grammar.verbs.get(name)
        if forms is None:
            raise PatternError(f"pattern {self._source!r} uses the verb <{name}>, which [verbs] does not have")
        self._verbs += 1
        choices: list[str] = []
        for form, words in forms.items():
            if self._verbs == 1:
                self._verb_words.extend(words)
            choices.append(f"(?P<{form}_{self._verbs}>{alternation(words, spaces=self._grammar.spaces)})")
        return f"(?:{'|'.join(choices)}){self._run_after()}"

    def _run_after(self) -> str:
        """The adverbs and negations a verb may be followed by: "am not", "is now"."""
        if not self._grammar.spaces or not self._grammar.adverbs:
            return ""
        return rf"(?P<Y{self._verbs}>(?:\s+{alternation(self._grammar.adverbs, spaces=True)}){{0,{_MOST_AFTER}}})"

    def _list(self, name: str) -> str:
        words = self._grammar.words.get(name)
        if not words:
            raise PatternError(f"pattern {self._source!r} uses the list %{name}%, which [words] does not have")
        return alternation(words, spaces=self._grammar.spaces)


def _unskip(body: str) -> str:
    """Undo a doubled blank that an optional group leaves behind."""
    return body.replace(r"(?:\s+)(?:\s+)", r"(?:\s+)").replace(r"\s*\s*", r"\s*")


def forms_of(match: re.Match[str]) -> frozenset[str]:
    """The verb forms a match used, e.g. `{"past"}`."""
    return frozenset(name.partition("_")[0] for name, text in match.groupdict().items() if text and name[-1:].isdigit() and "_" in name)
