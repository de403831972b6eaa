"""What is wrong with what was given, as one sentence that names it: never the words of a library, and never what it held."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

HALF_CHARACTER = "holds half a character (a lone surrogate): re-encode it and try again"

_NAMED = 5
_LONGEST = 60
_BRANCHES = frozenset({"int", "str", "float", "bool", "constrained-int", "constrained-str"})
"""How pydantic names the branches of a union, behind the name of what was given."""

Details = Mapping[str, Any]

_SENTENCES: Mapping[str, Callable[[Details], str]] = {
    "missing": lambda _: "is missing",
    "missing_argument": lambda _: "is missing",
    "missing_keyword_only_argument": lambda _: "is missing",
    "extra_forbidden": lambda _: "is not known here",
    "string_too_short": lambda ctx: (
        "may not be empty" if ctx["min_length"] == 1 else f"must have at least {ctx['min_length']:,} characters"
    ),
    "string_too_long": lambda ctx: f"may have at most {ctx['max_length']:,} characters",
    "too_short": lambda ctx: "may not be empty" if ctx["min_length"] == 1 else f"must have at least {ctx['min_length']:,} entries",
    "too_long": lambda ctx: f"may have at most {ctx['max_length']:,} entries",
    "greater_than_equal": lambda ctx: f"must be at least {ctx['ge']:,}",
    "greater_than": lambda ctx: f"must be more than {ctx['gt']:,}",
    "less_than_equal": lambda ctx: f"may be at most {ctx['le']:,}",
    "less_than": lambda ctx: f"must be less than {ctx['lt']:,}",
    "literal_error": lambda ctx: f"must be {ctx['expected']}",
    "string_unicode": lambda _: HALF_CHARACTER,
    "string_pattern_mismatch": lambda _: "does not have the form of one",
    "json_invalid": lambda _: "is not valid JSON",
    "value_error": lambda ctx: str(ctx["error"]),
}
_KINDS: Mapping[str, str] = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def sentence(errors: Iterable[Mapping[str, Any]], *, placed: bool = False) -> str:
    """What pydantic found wrong, in plain words; nothing was done. `placed`: each place begins with the part of an HTTP request."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for error in errors:
        found.setdefault(_name(error["loc"][1 if placed else 0 :]), []).append(error)
    said = [f"{name or ('The body' if placed else 'What was sent')} {_trouble(held)}" for name, held in list(found.items())[:_NAMED]]
    return f"{'; '.join(said)}. Nothing was done."


def strange(known: Iterable[str], arguments: Iterable[str]) -> str | None:
    """A sentence about arguments that are not known, and which are; None where all are known."""
    names = list(known)
    others = [name for name in arguments if name not in names]
    if not others:
        return None
    told = ", ".join(f"`{name[:_LONGEST]}`" for name in others[:_NAMED])
    likely = [near[0] for name in others[:_NAMED] if (near := difflib.get_close_matches(name[:_LONGEST], names, n=1))]
    meant = f" Was {' and '.join(f'`{name}`' for name in dict.fromkeys(likely))} meant?" if likely else ""
    has = f"it takes {', '.join(f'`{name}`' for name in names)}" if names else "it takes none"
    return f"This tool has no argument {told}; {has}.{meant} Nothing was done."


def _name(place: tuple[str | int, ...]) -> str:
    parts = list(place)
    while len(parts) > 1 and parts[-1] in _BRANCHES:
        parts.pop()
    named = ".".join(str(part) for part in parts if not isinstance(part, int) or len(parts) > 1)
    return f"`{named}`" if named else ""


def _trouble(errors: list[Mapping[str, Any]]) -> str:
    kinds = list(dict.fromkeys(_KINDS[error["type"]] for error in errors if error["type"] in _KINDS))
    for error in errors:
        made = _SENTENCES.get(error["type"])
        if made is not None:
            return made(error.get("ctx", {}))
    return f"must be {' or '.join(kinds)}" if kinds else "cannot be used as it is"
