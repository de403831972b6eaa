"""`lean-memory search`, `facts` and `history`."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING

from lean_memory_desktop.cli.console import complain, say, table, write_json
from lean_memory_desktop.cli.json_form import fact_form, history_form, hit_form
from lean_memory_desktop.cli.moments import read_moment, show_end, show_moment
from lean_memory_desktop.cli.opening import find_fact, open_memory, short_id, zone_of
from lean_memory_desktop.cli.options import Exit, Options

if TYPE_CHECKING:
    from lean_memory import Fact, SearchHit


def search(options: Options) -> int:
    """Answer a question with ranked hits."""
    zone = zone_of(options)
    query = " ".join(options.words)
    as_of, known_at = read_moment(options.as_of, "--as-of", zone), read_moment(options.known_at, "--known-at", zone)
    with open_memory(options) as memory:
        hits = memory.search(
            options.namespace,
            query,
            k=options.k,
            as_of=as_of,
            known_at=known_at,
            is_latest_only=not options.history,
            include_cold=options.include_cold,
        )
    if options.json:
        write_json(
            {"namespace": options.namespace, "query": query, "as_of": as_of, "known_at": known_at, "hits": [hit_form(hit) for hit in hits]}
        )
        return Exit.FINE
    if not hits:
        say(f"Nothing is known about this in {options.namespace!r}.")
        return Exit.FINE
    table(
        ["#", "text", "since", "until", "score", "why", "id"],
        [_hit_row(rank, hit, zone, options.verbose) for rank, hit in enumerate(hits, start=1)],
    )
    lacking = sorted({lack for hit in hits for lack in hit.degraded})
    if lacking:
        complain(f"Answered without: {', '.join(lacking)}.")
    return Exit.FINE


def facts(options: Options) -> int:
    """List facts."""
    zone = zone_of(options)
    as_of, known_at = read_moment(options.as_of, "--as-of", zone), read_moment(options.known_at, "--known-at", zone)
    with open_memory(options) as memory:
        found = memory.facts(
            options.namespace,
            subject=options.subject,
            predicate=options.predicate,
            as_of=as_of,
            known_at=known_at,
            include_history=options.history,
            include_cold=options.include_cold,
            limit=options.limit,
        )
    if options.json:
        write_json({"namespace": options.namespace, "as_of": as_of, "known_at": known_at, "facts": [fact_form(fact) for fact in found]})
    elif not found:
        say(
            f"No facts in {options.namespace!r}"
            + (" match." if options.subject or options.predicate or options.as_of or options.known_at else ".")
        )
    else:
        show_facts(found, zone, verbose=options.verbose)
    return Exit.FINE


def history(options: Options) -> int:
    """Tell the story of one fact."""
    zone = zone_of(options)
    with open_memory(options) as memory:
        fact = find_fact(memory, options.namespace, options.words[0])
        entries = memory.history(options.namespace, fact.id)
    if options.json:
        write_json({"namespace": options.namespace, "fact_id": fact.id, "history": history_form(entries)})
        return Exit.FINE
    table(
        ["text", "since", "until", "learned", "ended because", "said as", "id"],
        [
            (
                entry.fact.fact_text,
                show_moment(entry.fact.valid_at, zone),
                show_end(entry.fact.valid_to, zone),
                show_moment(entry.fact.recorded_at, zone),
                entry.reason.value if entry.reason else "",
                entry.source_text,
                short_id(entry.fact),
            )
            for entry in entries
        ],
    )
    for entry in entries:
        if entry.confirmed_at:
            say(f"said again: {entry.fact.fact_text} on {', '.join(show_moment(moment, zone) for moment in entry.confirmed_at)}", indent=2)
    return Exit.FINE


def show_facts(found: list[Fact], zone: tzinfo | None, *, verbose: bool = False) -> None:
    """A table of facts; with `verbose` also where each came from."""
    headings = ["subject", "predicate", "object", "since", "until", "note", "id"]
    if verbose:
        headings += ["text", "found by", "confidence", "trust", "doubts"]
    table(headings, [_fact_row(fact, zone, verbose) for fact in found])


def note_on(fact: Fact) -> str:
    """What keeps a fact from being plainly so now: nothing for a current, asserted one."""
    notes = [fact.modality.value] if fact.modality.value != "asserted" else []
    if fact.polarity.value == "-":
        notes.append("not")
    if fact.end_reason is not None:
        notes.append(fact.end_reason.value)
    if fact.tier.value == "cold":
        notes.append("cold")
    if fact.record_kind.value != "fact":
        notes.append(fact.record_kind.value)
    return ", ".join(notes)


def _fact_row(fact: Fact, zone: tzinfo | None, verbose: bool) -> list[str]:
    row = [
        fact.subject,
        fact.predicate,
        fact.object,
        show_moment(fact.valid_at, zone),
        show_end(fact.valid_to, zone),
        note_on(fact),
        short_id(fact),
    ]
    if verbose:
        found_by = f"{fact.found_by}: {fact.rule}" if fact.rule else fact.found_by
        row += [fact.fact_text, found_by, f"{fact.confidence:.2f}", fact.trust.value, "; ".join(fact.reasons)]
    return row


def _hit_row(rank: int, hit: SearchHit, zone: tzinfo | None, verbose: bool) -> list[str]:
    fact = hit.fact
    why = [f"{arm} #{place}" for arm, place in (("meaning", hit.dense_rank), ("words", hit.sparse_rank)) if place is not None]
    if verbose:
        why += [
            f"relevance {hit.relevance:.2f}",
            f"recency {hit.recency:.2f}",
            f"importance {hit.importance:.2f}",
            f"fused {hit.rrf_score:.4f}",
        ]
    note = note_on(fact)
    if note:
        why.append(note)
    text = f"{fact.fact_text} (from: {hit.source})" if verbose and hit.source != fact.fact_text else fact.fact_text
    return [
        str(rank),
        text,
        show_moment(fact.valid_at, zone),
        show_end(fact.valid_to, zone),
        f"{hit.final_score:.2f}",
        ", ".join(why),
        short_id(fact),
    ]
