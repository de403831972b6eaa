"""`lean-memory explain`: why a fact is held."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING

from lean_memory_desktop.cli.asking import note_on
from lean_memory_desktop.cli.console import counted, say, write_json
from lean_memory_desktop.cli.json_form import explained_form
from lean_memory_desktop.cli.moments import show_end, show_moment
from lean_memory_desktop.cli.opening import find_fact, known_memory, short_id, zone_of
from lean_memory_desktop.cli.options import Exit, Options

if TYPE_CHECKING:
    from lean_memory.domain import Ending, Explanation

_RUNGS = {
    "slot": "the slot holds one value, or all of its values were meant",
    "equal": "it is the same value",
    "inflection": "its words differ in their endings only",
    "containment": "the words of one are part of the other",
    "cosine": "it is the nearest in meaning",
}


def explain(options: Options) -> int:
    """Say where a fact comes from, which rule read it, how sure it is and why not surer, and what it ended."""
    with known_memory(options) as memory:
        fact = find_fact(memory, options.namespace, options.words[0])
        told = memory.explain(options.namespace, fact.id)
    if options.json:
        write_json({"namespace": options.namespace, "fact_id": fact.id, **explained_form(told)})
    else:
        _show(told, zone_of(options))
    return Exit.FINE


def _show(told: Explanation, zone: tzinfo | None) -> None:
    fact = told.fact
    note = note_on(fact)
    say(f"{fact.subject} / {fact.predicate} / {fact.object}" + (f"  [{note}]" if note else ""))
    by = f" through {told.client}" if told.client else ""
    say(f"said {show_moment(told.said_at, zone)} by {told.source.value}{by}: {told.source_text}", indent=2)
    until = f" until {show_end(fact.valid_to, zone)}" if fact.valid_to is not None else ""
    say(f"holds since {show_moment(fact.valid_at, zone)}{until}; learned {show_moment(fact.recorded_at, zone)}", indent=2)
    say(f"read by {told.made_by}", indent=2)
    say(f"confidence {fact.confidence:.2f}, trust {fact.trust.value}, importance {fact.salience:.0f} of 10", indent=2)
    for doubt in told.doubts:
        say(f"not surer because: {doubt}", indent=4)
    if told.confirmed_at:
        say(f"said again: {', '.join(show_moment(moment, zone) for moment in told.confirmed_at)}", indent=2)
    if told.echoes:
        say(f"came back {counted(told.echoes, 'time')} as an echo of what the memory had answered", indent=2)
    for ending in told.ended:
        say(f"{ending.reason.value}: {ending.fact.fact_text} ({_RUNGS[ending.rung]}; id {short_id(ending.fact)})", indent=2)
    if told.ending is not None:
        _show_end(told.ending)


def _show_end(ending: Ending) -> None:
    said = f" by: {ending.said}" if ending.said else ", as its own sentence said"
    say(f"ended ({ending.reason.value}){said}" + (f" ({_RUNGS[ending.rung]})" if ending.said else ""), indent=2)
