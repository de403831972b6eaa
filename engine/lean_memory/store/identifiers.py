"""Ids that sort by the moment they were made."""

from __future__ import annotations

import secrets

from lean_memory.domain import Instant

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH = 26


def new_uid(moment: Instant, serial: int = 0) -> str:
    """A unique id of 26 characters: 48 bits of time, 16 of `serial` (the order within one moment), 64 of chance, in Crockford's base 32."""
    number = ((moment & 0xFFFF_FFFF_FFFF) << 80) | ((serial & 0xFFFF) << 64) | secrets.randbits(64)
    digits: list[str] = []
    for _ in range(_LENGTH):
        number, rest = divmod(number, 32)
        digits.append(_DIGITS[rest])
    return "".join(reversed(digits))
