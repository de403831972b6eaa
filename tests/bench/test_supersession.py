"""The hand-labelled samples hold ids and labels alone, and are read as pairs."""

from __future__ import annotations

import json
import re

import pytest

from bench.supersession import SAMPLES, Pair, read_labels

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
