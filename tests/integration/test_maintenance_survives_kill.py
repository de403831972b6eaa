"""kill -9 anywhere in a run: the file is sound, the next run takes over and finishes, and nothing is done or proposed twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

from lean_memory.domain import EndReason, Instant, Tier
from support.children import killed, line, start
from support.maintenance import House, about, same_entity, verdict
from support.statements import SteadyClock, day

POINTS = 20
STEPS = 60
"""So many steps a run takes at least; it dies at one of them, or after the last."""

CHILD = """
import sys, threading
from pathlib import Path
from lean_memory.store import journal, proposal_rows, runs, tiers
from lean_memory.store.namespace_store import NamespaceStore
from lean_memory.domain import Instant, Visibility
from support.maintenance import House, demotion
from support.statements import SteadyClock

root, now, point = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
steps = 0

def counted(do):
    def counting(*given, **named):
        global steps
        steps += 1
        if steps == point:
            print("REACHED", flush=True)
            threading.Event().wait()
        return do(*given, **named)
    return counting

house = House(root=root, clock=SteadyClock(Instant(now)))
eve = house.store.facts(subject="Eve", visibility=Visibility(now=Instant(now)), modalities=None)
for module, name in ((journal, "note"), (proposal_rows, "stage"), (runs, "beat"), (runs, "finish"), (tiers, "merge"), (tiers, "set_tier"), (tiers, "show"),
                     (NamespaceStore, "_commit")):
    setattr(module, name, counted(getattr(module, name)))
report = house.run(*(demotion(fact) for fact in eve))
print("DONE", report.state, flush=True)
threading.Event().wait()
"""


def test_a_run_killed_anywhere_is_taken_over_and_finished(root: Path) -> None:
    house = House(root=root, clock=SteadyClock(day(0)))
    for number in range(6):
        bob, robert = house.said(about("Bob", "likes", f"tea {number}")), house.said(about("Robert", "likes", f"tea {number}"))
        house.said(about("Eve", "likes", f"tea {number}"))
        house.said(about("wall", "states", f"blue {number}", salience=1.0))
    house.care.decide(house.proposed(same_entity(bob, robert)).id, verdict("approve"))
    house.wait(200)
    grid = [day(0), Instant(day(0) + 30), house.clock.now]
    past = [house.as_of(moment) for moment in grid]
    draw = Random(11)
    for _ in range(POINTS):
        house.close()
        house.wait(0.01)
        child = start(CHILD, root, house.clock.now, draw.randint(1, STEPS))
        said = line(child)
        killed(child)
        assert said in {"REACHED", "DONE done"}
        house.open()
        assert house.store.check() == []
        assert [house.as_of(moment) for moment in grid] == past
    house.wait(0.01)
    assert house.run().state == "done"
    found = house.known_at(house.clock.now)
    merged = {fact.id for fact in found if fact.end_reason is EndReason.DUPLICATE}
    cold = {fact.id for fact in found if fact.tier is Tier.COLD}
    assert (len(merged), len(cold)) == (6, 6)
    done = Counter(house.store.look(lambda tx: tx.connection.execute("SELECT verb, target FROM journal WHERE verb <> 'alias'").fetchall()))
    assert done == Counter([("merge", fact) for fact in merged] + [("demote", fact) for fact in cold])
    asked = Counter(fact.object for proposal in house.waiting() for fact in proposal.facts)
    assert asked == Counter(f"tea {number}" for number in range(6))
    house.close()
