"""Planning costs time in proportion to the slot, not to its square; the write lock is held meanwhile."""

from __future__ import annotations

import time

from lean_memory.domain import Act, Cardinality, Instant, Modality, Polarity
from lean_memory.resolution.timeline import Event, Value, fold


def seconds(values: int) -> float:
    """Processor time to fold that many open values and one retraction that means one of them."""
    said = [event(f"thing{n} of the kind", n) for n in range(values)]
    ended = Event(at=Instant(values + 1), order=(values + 1, 0, 0, 0), act=Act.RETRACT, value=said[5].value)
    started = time.process_time()
    intervals = fold([*said, ended], Cardinality.MULTI)
    assert sum(i.end is not None for i in intervals) == 1
    return time.process_time() - started


def event(key: str, number: int) -> Event:
    value = Value(key=key, polarity=Polarity.POSITIVE, modality=Modality.ASSERTED)
    return Event(at=Instant(number), order=(number, 1, 0, 0), act=Act.ASSERT, value=value)


def test_eight_times_the_values_cost_nowhere_near_sixty_four_times_the_work() -> None:
    small = min(seconds(1_000) for _ in range(3))
    large = min(seconds(8_000) for _ in range(3))
    assert large < 24 * small
