"""Notes about somebody, as other memories keep them, told as sentences that stand alone.

What is noted about the person whose memory it is becomes what they would say themselves, which is what extraction understands best.
"""

from __future__ import annotations

import re

USER = "user"
"""The name by which the person goes here."""

_SELF = frozenset({"user", "the user", "default_user", "default user", "me", "myself", "i", "user_1"})
_FIRST = re.compile(r"(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)(?P<rest>.*)", re.DOTALL)
_HOLDS = re.compile(r"[^\W\d_][\w '’/-]{0,60}? (?:is|are|was|were) ", re.IGNORECASE)
_ALONE = re.compile(r"(?:the |an? |this |that |these |there |he |she |it |they |we |i |my |you |his |her |its |their |our )", re.IGNORECASE)
_THE_USER = re.compile(r"(?:the )?user(?P<own>['’]s)? ", re.IGNORECASE)
_AND = re.compile(
    r"(?P<before>,? (?:and|but) )(?P<word>works|lives|likes|loves|prefers|has|is|plays|wants|needs|enjoys|speaks|uses|owns|studies)(?= )"
)
_NOUNS_GO_ON = frozenset({"is", "are", "was", "were", "of", "and", "or", "can", "will", "have", "with", "for"})
_VERBS = frozenset(
    ["is", "was", "has", "had", "does", "did", "can", "cannot", "will", "would", "should", "must", "may", "might", "became", "began", "bought",
     "built", "chose", "drove", "felt", "found", "gave", "got", "grew", "knew", "left", "lost", "made", "met", "ran", "read", "said", "saw",
     "sold", "spent", "spoke", "taught", "thought", "told", "took", "went", "won", "wrote"]
)  # fmt: skip
_NO_VERBS = frozenset(
    {"this", "its", "his", "hers", "ours", "yours", "always", "sometimes", "perhaps", "besides", "news", "thus", "plus", "needed"}
)
_OWN_FORMS = {"is": "am", "has": "have", "does": "do", "goes": "go", "was": "was"}
_OWN_NOUN = re.compile(
    r"(?:full |first |last |middle |favou?rite |current |preferred |native |home |phone |e-?mail |work )*"
    r"(?:name|nickname|age|birthday|job|occupation|profession|employer|city|address|number|email|language|hobby|hobbies|pet|diet|goal|partner|"
    r"wife|husband|son|daughter|brother|sister|mother|father|dog|cat|colou?r|food|drink|movie|book|sport|music|timezone|title|role|team) ",
    re.IGNORECASE,
)


def name_of(name: str) -> str:
    """How sentences name an entity: the person whose memory it is, or the name with spaces."""
    spaced = " ".join(name.replace("_", " ").split())
    return USER if name.strip().casefold() in _SELF or spaced.casefold() in _SELF else spaced


def told_of(name: str, note: str) -> str:
    """A note about an entity as a sentence: the name is put before a note that begins with a verb or with what the entity has.

    One that begins with the name stays as it is, and what is none of this stands after the name and a dash.
    """
    note = note.strip()
    if name == USER:
        return told_by_the_user(note)
    if not note or note.replace("_", " ").casefold().startswith(name.casefold()):
        return _ended(note)
    first = _FIRST.match(note)
    if first is not None and _is_verb(first["word"], first["rest"]):
        return _ended(f"{name} {_lowered(note)}")
    if _HOLDS.match(note) and not _ALONE.match(note):
        return _ended(f"{name}'s {_lowered(note)}")
    return _ended(f"{name} – {note}")


def told_by_the_user(note: str) -> str:
    """A note about the person as they would say it; one that is about somebody or something else stays as it is."""
    named = _THE_USER.match(note)
    own = note[named.end() :] if named else note
    if named is not None and named["own"]:
        return _ended(f"My {_lowered(own)}")
    first = _FIRST.match(own)
    if first is not None and (_is_verb(first["word"], first["rest"]) or named is not None):
        rest = _AND.sub(lambda m: m["before"] + _own_form(m["word"]), first["rest"])
        return _ended(f"I {_own_form(_lowered(first['word']))}{rest}")
    return _ended(f"My {_lowered(own)}" if _HOLDS.match(own) and _OWN_NOUN.match(own) else own)


def _own_form(verb: str) -> str:
    """A verb of the third person in the first: `works` is `work`, `studies` is `study`."""
    if verb in _OWN_FORMS:
        return _OWN_FORMS[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith(("ss", "us", "is")) and verb not in _VERBS else verb


def _is_verb(word: str, rest: str) -> bool:
    low = word.lower()
    after = rest.split(maxsplit=1)[0].lower() if rest.split() else ""
    if low in _VERBS:
        return True
    if low in _NO_VERBS or not low.isascii() or after in _NOUNS_GO_ON:
        return False
    return (len(low) > 3 and low.endswith("s") and not low.endswith(("ss", "us", "is"))) or (len(low) > 4 and low.endswith("ed"))


def _lowered(text: str) -> str:
    """With a small letter at the beginning, unless the word is written in capitals."""
    word = text.split(maxsplit=1)[0] if text.split() else text
    return text if word.isupper() and len(word) > 1 else text[:1].lower() + text[1:]


def _ended(text: str) -> str:
    return text if not text or text[-1] in ".!?…。！？:;" else f"{text}."
