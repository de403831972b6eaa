"""`lean-memory search`, `facts` and `history`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from lean_memory.domain import WEAK_RELEVANCE
from lean_memory_desktop.cli.console import complain, say, table, write_json
from lean_memory_desktop.cli.json_form import fact_form, history_form, hit_form
from lean_memory_desktop.cli.moments import read_moment, show_end, show_moment
from lean_memory_desktop.cli.opening import find_fact, known_memory, names_there, short_id, zone_of
from lean_memory_desktop.cli.options import Exit, Options

if TYPE_CHECKING:
    from lean_memory import Fact, SearchHit


def search(options: Options) -> int:
    """Answer a question with ranked hits."""
    zone = zone_of(options)
    query = " ".join(options.words)
    as_of, known_at = read_moment(options.as_of, "--as-of", zone), read_moment(options.known_at, "--known-at", zone)
    with known_memory(options) as memory:
        hits = memory.search(
            options.namespace,
            query,
            k=options.k,
            as_of=as_of,
            known_at=known_at,
            is_latest_only=not options.history,
            include_cold=options.include_cold,
        )
        others = [] if hits else memory.namespaces()
    if options.json:
        asked = {"namespace": options.namespace, "query": query, "as_of": as_of, "known_at": known_at}
        write_json({**asked, "hits": [hit_form(hit) for hit in hits], "is_known": _is_known(hits)})
        return Exit.FINE
    if not hits:
        say(f"Nothing is known about this in {options.namespace!r}.")
        _point_at(others, options.namespace)
        return Exit.FINE
    if options.verbose:
        for rank, hit in enumerate(hits, start=1):
            _explain_hit(rank, hit, zone)
    else:
        rows = [_hit_row(rank, hit, zone) for rank, hit in enumerate(hits, start=1)]
        table(["#", "text", "since", "until", "score", "why", "id"], rows)
    if not _is_known(hits):
        complain("No close match; these are the nearest. Perhaps it was never told.")
    lacking = sorted({lack for hit in hits for lack in hit.degraded})
    if lacking:
        complain(f"Answered without: {', '.join(lacking)}.")
    return Exit.FINE


def facts(options: Options) -> int:
    """List facts."""
    zone = zone_of(options)
    as_of, known_at = read_moment(options.as_of, "--as-of", zone), read_moment(options.known_at, "--known-at", zone)
    with known_memory(options) as memory:
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
        others = [] if found else memory.namespaces()
    if options.json:
        write_json({"namespace": options.namespace, "as_of": as_of, "known_at": known_at, "facts": [fact_form(fact) for fact in found]})
    elif not found:
        say(
            f"No facts in {options.namespace!r}"
            + (" match." if options.subject or options.predicate or options.as_of or options.known_at else ".")
        )
        _point_at(others, options.namespace)
    else:
        show_facts(found, zone, verbose=options.verbose)
    return Exit.FINE


def history(options: Options) -> int:
    """Tell the story of one fact."""
    zone = zone_of(options)
    with known_memory(options) as memory:
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
    """A table of facts; with `verbose` a paragraph on each, with the pass and the rule that found it."""
    if verbose:
        for fact in found:
            _explain(fact, zone)
    else:
        table(["subject", "predicate", "object", "since", "until", "note", "id"], [_fact_row(fact, zone) for fact in found])


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
    notes.extend(fact.flags)
    return ", ".join(notes)


def _point_at(names: list[str], asked: str) -> None:
    """Where nothing was ever told to the namespace that is asked unless one is named, say which there are."""
    if names and asked not in names:
        complain(f"Nothing was ever told to it. {names_there(names)} Name one with -n.")


def _fact_row(fact: Fact, zone: tzinfo | None) -> list[str]:
    times = (show_moment(fact.valid_at, zone), show_end(fact.valid_to, zone))
    return [fact.subject, fact.predicate, fact.object, *times, note_on(fact), short_id(fact)]


def _explain(fact: Fact, zone: tzinfo | None) -> None:
    note = note_on(fact)
    until = f" until {show_end(fact.valid_to, zone)}" if fact.valid_to is not None else ""
    found_by = f"{fact.found_by}, rule {fact.rule}" if fact.rule else fact.found_by
    say(f"{fact.subject} / {fact.predicate} / {fact.object}" + (f"  [{note}]" if note else ""))
    say(fact.fact_text, indent=4)
    say(f"holds since {show_moment(fact.valid_at, zone)}{until}; learned {show_moment(fact.recorded_at, zone)}", indent=4)
    say(f"found by {found_by}; confidence {fact.confidence:.2f}, importance {fact.salience:.0f} of 10, trust {fact.trust.value}", indent=4)
    if fact.reasons:
        say(f"doubts: {'; '.join(fact.reasons)}", indent=4)
    say(f"id {fact.id}, from message {fact.episode_id}", indent=4)


def _hit_row(rank: int, hit: SearchHit, zone: tzinfo | None) -> list[str]:
    fact = hit.fact
    times = (show_moment(fact.valid_at, zone), show_end(fact.valid_to, zone))
    return [str(rank), fact.fact_text, *times, f"{hit.final_score:.2f}", _why(hit), short_id(fact)]


def _is_known(hits: Sequence[SearchHit]) -> bool:
    """Whether any hit is close enough to be an answer."""
    return any(hit.relevance >= WEAK_RELEVANCE for hit in hits)


def _explain_hit(rank: int, hit: SearchHit, zone: tzinfo | None) -> None:
    fact = hit.fact
    until = f" until {show_end(fact.valid_to, zone)}" if fact.valid_to is not None else ""
    say(f"{rank}. {fact.fact_text}")
    say(f"{_why(hit)}; holds since {show_moment(fact.valid_at, zone)}{until}", indent=4)
    scores = f"relevance {hit.relevance:.2f}, recency {hit.recency:.2f}, importance {hit.importance:.2f}, fused ranks {hit.rrf_score:.4f}"
    say(f"score {hit.final_score:.2f}: {scores}", indent=4)
    if hit.source != fact.fact_text:
        say(f"said as: {hit.source}", indent=4)
    say(f"id {fact.id}, from message {fact.episode_id}", indent=4)


def _why(hit: SearchHit) -> str:
    arms = [f"{arm} #{place}" for arm, place in (("meaning", hit.dense_rank), ("words", hit.sparse_rank)) if place is not None]
    note = note_on(hit.fact)
    return ", ".join([*arms, *([note] if note else [])]) or "what is asked for"
