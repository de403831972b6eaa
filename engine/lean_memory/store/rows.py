"""From rows to domain values, once, at the edge."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from lean_memory.domain import (
    BESIDE_INSTRUCTIONS,
    INSTRUCTION_LIKE,
    STATES,
    USER,
    EndReason,
    Episode,
    EpisodeId,
    Fact,
    FactId,
    Instant,
    Modality,
    Polarity,
    RecordKind,
    Source,
    Span,
    Tier,
    Trust,
    trust_of,
)

_FactRow = tuple[
    int, str, str, str, str, str, int, int | None, int, int | None, int, str | None, str, str,
    float, float, int, str, str, str, str, str | None, int, int, str, str, str,
]  # fmt: skip

_FACT = """
    f.id, f.uid, s.name, f.predicate, f.object, f.fact_text, {valid_at}, {valid_to}, f.recorded_at, {closed_at}, {is_latest},
    n.uid, f.polarity, f.modality, f.confidence, f.salience, f.is_inference, f.record_kind, {tier}, f.trust, e.uid, {end_reason},
    f.span_start, f.span_end, f.found_by, f.rule, f.reasons
"""
_AT_VERSION = "CASE WHEN v.fact_id IS NULL THEN f.{now} ELSE v.{then} END"

FACT_COLUMNS = _FACT.format(
    valid_at="f.valid_at",
    valid_to="f.valid_to",
    closed_at="f.retired_at",
    is_latest="f.is_latest",
    tier="f.tier",
    end_reason="f.end_reason",
)
"""The columns of a fact as it stands now: `f` is the fact, `s` its subject, `e` its episode, `n` what came after it."""

CURRENT_FACT = f"""
    SELECT {FACT_COLUMNS}
    FROM fact f JOIN entity s ON s.id = f.subject_id JOIN episode e ON e.id = f.episode_id LEFT JOIN fact n ON n.id = f.superseded_by
"""
"""Facts as they stand now; `f` is the fact."""

KEPT_HOT = """
    SELECT CASE WHEN h.end_reason = 'duplicate' THEN coalesce(h.superseded_by, h.id) ELSE h.id END
    FROM kept k JOIN fact h ON h.id = k.fact_id WHERE k.how = 'hot'
"""
"""The rows of the facts that the person wants kept hot; what stands for one by a merge is kept for as long as it does."""

KNOWN = {
    column: _AT_VERSION.format(now=column, then="closed_at" if column == "retired_at" else column)
    for column in ("valid_at", "valid_to", "retired_at", "is_latest", "struck", "superseded_by", "end_reason", "tier")
}
"""What the changing columns of a fact were at the moment `:known_at`, in a query over `FACT_KNOWN_AT`."""

FACT_KNOWN_AT = f"""
    SELECT {_FACT.format(closed_at=KNOWN["retired_at"], **{k: KNOWN[k] for k in ("valid_at", "valid_to", "is_latest", "tier", "end_reason")})}
    FROM fact f JOIN entity s ON s.id = f.subject_id JOIN episode e ON e.id = f.episode_id
    LEFT JOIN fact_version v ON v.fact_id = f.id AND v.recorded_at <= :known_at AND v.retired_at > :known_at
    LEFT JOIN fact n ON n.id = {KNOWN["superseded_by"]}
"""
"""Facts as they stood at the moment `:known_at`."""

EPISODE = "SELECT uid, text, source, client, t_ref, tz, recorded_at FROM episode"
EpisodeRow = tuple[str, str, str, str | None, int, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFact:
    """A fact with its row number."""

    row: int
    fact: Fact


def facts_of(rows: Iterable[object], namespace: str) -> list[StoredFact]:
    """The facts of a query that begins with `CURRENT_FACT` or `FACT_KNOWN_AT`, or that selects `FACT_COLUMNS`."""
    return [_fact(cast("_FactRow", row), namespace) for row in rows]


def _fact(row: _FactRow, namespace: str) -> StoredFact:
    reasons = cast("list[str]", json.loads(row[26])) if row[26] else []
    fact = Fact(
        id=FactId(row[1]),
        namespace=namespace,
        subject=row[2],
        predicate=row[3],
        object=row[4],
        fact_text=row[5],
        valid_at=Instant(row[6]),
        valid_to=None if row[7] is None else Instant(row[7]),
        recorded_at=Instant(row[8]),
        retired_at=None if row[9] is None else Instant(row[9]),
        is_latest=bool(row[10]),
        superseded_by=None if row[11] is None else FactId(row[11]),
        polarity=Polarity(row[12]),
        modality=Modality(row[13]),
        confidence=row[14],
        salience=row[15],
        is_inference=bool(row[16]),
        record_kind=RecordKind(row[17]),
        tier=Tier(row[18]),
        trust=Trust(row[19]),
        episode_id=EpisodeId(row[20]),
        end_reason=None if row[21] is None else EndReason(row[21]),
        span=Span(start=row[22], end=row[23]),
        found_by=row[24],
        rule=row[25],
        reasons=tuple(reasons),
        flags=(INSTRUCTION_LIKE,) if BESIDE_INSTRUCTIONS in reasons else (),
    )
    return StoredFact(row=row[0], fact=fact)


def reasons_column(reasons: tuple[str, ...]) -> str:
    """How a fact's reasons are written."""
    return json.dumps(reasons, ensure_ascii=False) if reasons else ""


def episodes_of(rows: Iterable[object]) -> list[Episode]:
    """The episodes of a query that begins with `EPISODE`."""
    return [episode_of(cast("EpisodeRow", row)) for row in rows]


def episode_of(row: EpisodeRow) -> Episode:
    """An episode from its columns: uid, text, source, client, t_ref, tz, recorded_at."""
    uid, text, source, client, t_ref, tz, recorded_at = row
    return Episode(
        uid=EpisodeId(uid),
        text=text,
        source=Source(source),
        client=client,
        t_ref=Instant(t_ref),
        tz=tz,
        recorded_at=Instant(recorded_at),
    )


def passage_fact_id(episode: str, passage_row: int) -> FactId:
    """The id under which a passage is handed out where a fact is expected."""
    return FactId(f"{episode}.{passage_row}")


def passage_as_fact(episode: Episode, *, passage_row: int, namespace: str, span: Span, valid_to: Instant | None, is_latest: bool) -> Fact:
    """A passage in the shape of a fact: it states its own text, from the moment it was said.

    `episode` holds the text of the passage alone; `span` is where that lies in the whole.
    """
    return Fact(
        id=passage_fact_id(episode.uid, passage_row),
        namespace=namespace,
        subject=USER if episode.source is Source.USER else episode.source.value,
        predicate=STATES,
        object="",
        fact_text=episode.text,
        valid_at=episode.t_ref,
        valid_to=valid_to,
        recorded_at=episode.recorded_at,
        retired_at=None,
        is_latest=is_latest,
        superseded_by=None,
        polarity=Polarity.POSITIVE,
        modality=Modality.ASSERTED,
        confidence=1.0,
        salience=5.0,
        is_inference=False,
        record_kind=RecordKind.PASSAGE,
        tier=Tier.HOT,
        trust=trust_of(episode.source),
        episode_id=episode.uid,
        span=span,
    )
