"""The hand-labelled samples hold ids and labels alone, and are read as pairs."""

from __future__ import annotations

import json
import re

import pytest

from bench.engine import scratch_memory
from bench.supersession import SAMPLES, Pair, read_labels, superseded_in
from bench.values import Turn
from lean_memory.domain import Instant, Source

ID = re.compile(r"(?:locomo|longmemeval)/[\w-]+/[\w:]+(?:@\d+)?")


@pytest.mark.parametrize(("name", "labels"), [("superseded", {"right", "false"}), ("updates", None)])
def test_a_sample_has_ids_and_a_label_and_no_text_of_the_data(name: str, labels: set[str] | None) -> None:
    for line in (SAMPLES / f"{name}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        assert row.keys() == {"older", "newer", "label"}
        assert ID.fullmatch(row["older"])
        assert ID.fullmatch(row["newer"])
        assert row["label"] in (labels or {row["label"]})
        assert len(row["label"].split()) == 1


def test_every_pair_is_labelled_once_and_knows_its_turns() -> None:
    for name in ("superseded", "updates"):
        assert len(read_labels(name)) == len((SAMPLES / f"{name}.jsonl").read_text("utf-8").splitlines())
    pair = Pair(older="locomo/c/D1:3@12", newer="locomo/c/D4:1@0")
    assert pair.turns == Pair(older="locomo/c/D1:3", newer="locomo/c/D4:1")


def test_a_turn_is_outlived_by_all_that_came_after_it_also_where_it_only_confirms() -> None:
    said = ["I have read 3 comics.", "I have read 3 comics.", "I have read 4 comics.", "I have read 7 comics."]
    turns = [
        Turn(id=str(n), text=text, said_at=Instant(86_400_000 * (n + 1)), session="s", source=Source.USER) for n, text in enumerate(said)
    ]
    with scratch_memory() as memory:
        run = superseded_in(memory, "n", "c", turns)
    assert {(pair.older, pair.newer) for pair in run.outlived} == {
        ("c/0", "c/2"),
        ("c/0", "c/3"),
        ("c/1", "c/2"),
        ("c/1", "c/3"),
        ("c/2", "c/3"),
    }
    assert len(run.replaced) == 2
