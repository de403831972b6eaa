"""Every pack's own tests: what a sentence of the language gives, and what it must not give."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from zoneinfo import ZoneInfo

import pytest

from lean_memory.domain import Act, Candidate, Instant, Modality, Polarity, Source
from lean_memory.extraction import pack as packs
from lean_memory.extraction.pipeline import Recent, extract

ACTS = {"!": Act.RETRACT, "^": Act.CORRECT}


@dataclass(frozen=True, slots=True, kw_only=True)
class PackTest:
    code: str
    text: str
    t_ref: str = "2026-03-10T09:30:00Z"
    tz: str = "UTC"
    before: str = ""
    expect: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    none: bool = False


def pack_tests() -> list[PackTest]:
    made: list[PackTest] = []
    for code in sorted(packs.available()):
        data = tomllib.loads(files("lean_memory.extraction.packs").joinpath(f"{code}.tests.toml").read_text("utf-8"))
        for row in data["test"]:
            rest = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
            made.append(PackTest(code=code, **rest))
    return made


def moment(iso: str) -> Instant:
    return Instant(int(datetime.fromisoformat(iso.replace("Z", "+00:00")).timestamp() * 1000))


def day(instant: Instant | None, tz: str) -> str:
    return datetime.fromtimestamp(instant / 1000, ZoneInfo(tz)).date().isoformat() if instant is not None else ""


def fits(candidate: Candidate, wanted: str, tz: str) -> bool:
    subject, predicate, *rest = [part.strip() for part in wanted.split("|")]
    sign = predicate[0] if predicate[0] in "-!^" else ""
    value = rest[0] if rest else ""
    marks = rest[1].split() if len(rest) > 1 else []
    modality = next((mark[1:] for mark in marks if mark.startswith("~")), "asserted")
    begins = next((mark[1:] for mark in marks if mark.startswith("@")), None)
    ends = next((mark[1:] for mark in marks if mark.startswith("<")), None)
    return (
        candidate.subject == subject
        and candidate.predicate == predicate.lstrip("-!^")
        and candidate.act is ACTS.get(sign, Act.ASSERT)
        and candidate.polarity is (Polarity.NEGATIVE if sign == "-" else Polarity.POSITIVE)
        and candidate.modality is Modality(modality)
        and (not rest or candidate.object.casefold() == value.casefold())
        and (begins is None or day(candidate.valid_at, tz) == begins)
        and (ends is None or day(candidate.valid_to, tz) == ends)
    )


@pytest.mark.parametrize("case", pack_tests(), ids=lambda case: f"{case.code}: {case.text[:60]}")
def test_the_pack_reads_the_sentence(case: PackTest) -> None:
    t_ref = moment(case.t_ref)
    recent = Recent()
    if case.before:
        earlier = extract(case.before, t_ref=t_ref, tz=case.tz, source=Source.USER)
        recent = Recent(texts=(case.before,), candidates=earlier.candidates)
    found = extract(case.text, t_ref=t_ref, tz=case.tz, source=Source.USER, recent=recent).candidates
    shown = [
        f"{c.subject} | {c.predicate} | {c.object} | {c.act} {c.polarity} {c.modality} {day(c.valid_at, case.tz)}<{day(c.valid_to, case.tz)}"
        for c in found
    ]
    for wanted in case.expect:
        assert any(fits(candidate, wanted, case.tz) for candidate in found), (wanted, shown)
    current = [c for c in found if c.modality is Modality.ASSERTED and c.act is not Act.RETRACT]
    for unwanted in case.forbid:
        subject, predicate, *value = [part.strip() for part in unwanted.split("|")]
        hits = [c for c in current if c.polarity is Polarity.POSITIVE and subject in {c.subject, "*"} and predicate in {c.predicate, "*"}]
        assert not [c for c in hits if not value or value[0].casefold() in c.object.casefold()], (unwanted, shown)
    if case.none:
        assert not current, shown


@pytest.mark.parametrize("code", sorted(packs.available()))
def test_every_pattern_of_the_pack_is_a_regular_expression(code: str) -> None:
    pack = packs.load(code)
    for pattern in [*(pattern for rule in pack.rules for pattern in rule.patterns), *(noun.pattern for noun in pack.nouns)]:
        assert pattern.regex.groups >= 0, pattern.source
