"""Notes about somebody, as other memories keep them, told as sentences that stand alone."""

from __future__ import annotations

import re

_SELF = frozenset({"user", "the user", "default_user", "default user", "me", "myself", "i", "user_1"})
THE_USER = "User"

_FIRST = re.compile(r"(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)(?P<rest>.*)", re.DOTALL)
_HOLDS = re.compile(r"(?P<what>[^\W\d_][\w '’/-]{0,60}?) (?P<verb>is|are|was|were) ", re.IGNORECASE)
_ALONE = re.compile(r"(?:the |an? |this |that |these |there |he |she |it |they |we |i |my |you |his |her |its |their |our )", re.IGNORECASE)
_NOUNS_GO_ON = frozenset({"is", "are", "was", "were", "of", "and", "or", "can", "will", "have", "with", "for"})
_VERBS = frozenset(
    ["is", "was", "has", "had", "does", "did", "can", "cannot", "will", "would", "should", "must", "may", "might", "became", "began", "bought",
     "built", "chose", "did", "drove", "felt", "found", "gave", "got", "grew", "knew", "left", "lost", "made", "met", "ran", "read", "said", "saw",
     "sold", "spent", "spoke", "studied", "taught", "thought", "told", "took", "went", "won", "wrote"]
)  # fmt: skip
_NO_VERBS = frozenset(
    {"this", "its", "his", "hers", "ours", "yours", "always", "sometimes", "perhaps", "besides", "news", "thus", "plus", "needed"}
)


def name_of(name: str) -> str:
    """How sentences name an entity: the person whose memory it is, or the name with spaces."""
    spaced = " ".join(name.replace("_", " ").split())
    return THE_USER if name.strip().casefold() in _SELF or spaced.casefold() in _SELF else spaced


def told_of(name: str, note: str, *, is_named: bool = True) -> str:
    """A note about an entity as a sentence: the name is put before a note that begins with a verb or with what the entity has.

    A note that is a sentence of its own stays as it is, after the name where `is_named`.
    """
    note = note.strip()
    spaced = note.replace("_", " ").casefold()
    if not note or spaced.startswith((name.casefold(), name.casefold().removeprefix("the "))):
        return _ended(note)
    first = _FIRST.match(note)
    if first is not None and _is_verb(first["word"], first["rest"]):
        return _ended(f"{name} {_lowered(first['word'])}{first['rest']}")
    if _HOLDS.match(note) and not _ALONE.match(note):
        return _ended(f"{name}'s {_lowered(note)}" if is_named or _is_plain(note) else note)
    return _ended(f"{name} – {note}" if is_named else note)


def _is_verb(word: str, rest: str) -> bool:
    low = word.lower()
    after = rest.split(maxsplit=1)[0].lower() if rest.split() else ""
    if low in _VERBS:
        return True
    if low in _NO_VERBS or not low.isascii() or after in _NOUNS_GO_ON:
        return False
    return (len(low) > 3 and low.endswith("s") and not low.endswith(("ss", "us", "is"))) or (len(low) > 4 and low.endswith("ed"))


def _is_plain(note: str) -> bool:
    """Whether a note begins with a common noun, as “Name is Alex” does and “Alex is tall” may not."""
    return _FIRST_NOUN.match(note) is not None


_FIRST_NOUN = re.compile(
    r"(?:full |first |last |middle |favou?rite |current |preferred |native |home |phone |e-?mail |work )*"
    r"(?:name|nickname|age|birthday|job|occupation|profession|employer|city|address|number|email|language|hobby|hobbies|pet|diet|goal|partner|"
    r"wife|husband|son|daughter|brother|sister|mother|father|dog|cat|colou?r|food|drink|movie|book|sport|music|timezone|title|role|team) ",
    re.IGNORECASE,
)


def _lowered(text: str) -> str:
    """With a small letter at the beginning, unless the word is written in capitals."""
    word = text.split(maxsplit=1)[0] if text.split() else text
    return text if word.isupper() and len(word) > 1 else text[:1].lower() + text[1:]


def _ended(text: str) -> str:
    return text if not text or text[-1] in ".!?…。！？:;" else f"{text}."
