"""How searches fare while the vectors of a second embedder of equal width are made in the same process, which is killed twice on the way.

The second embedder is the tests' deterministic one, turned away from the built-in space: it costs next to nothing, so that all there is
beside a search is the making itself, and a search that mixed the spaces would find at random.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench import bulk
from bench.gold import read_gold
from bench.metrics import percentile
from bench.processes import Said, running_child
from bench.report import Figure, Row, SuiteResult
from bench.suites import Setting

MUST = 2.0
"""Times the p95 of before, at most."""


def run_switch(setting: Setting) -> SuiteResult:
    facts = max(setting.scales)
    queries = setting.cache / "queries.json"
    queries.write_text(json.dumps(list(read_gold(setting.data).answers)), encoding="utf-8")
    with bulk.filled_store(setting, facts, own_copy=True) as filled:
        before = _alone(filled.root, queries)
        legs = [_until(filled.root, queries, share * facts) for share in (2 / 3, 1 / 3, 0)]
        after = _alone(filled.root, queries)
    during = [time for leg in legs for time in leg["ms"]]
    ratio = percentile(during, 0.95) / percentile(before["ms"], 0.95)
    details = {
        "before": _times(before["ms"]),
        "during": _times(during) | {"searches": float(len(during))},
        "after": _times(after["ms"]),
        "answers of the built-in space that changed during": sum(leg["changed"] for leg in legs),
        "missing when killed or done": [leg["missing"] for leg in legs],
        "seconds of making": sum(leg["seconds"] for leg in legs),
        "degraded before, during, after": [
            before["degraded"],
            sorted({lack for leg in legs for lack in leg["degraded"]}),
            after["degraded"],
        ],
    }
    figures = [
        Figure(name="p95 during / before", measured=ratio, must=MUST, more_is_better=False),
        Figure(name="p95 during", measured=percentile(during, 0.95), unit="ms", more_is_better=False),
    ]
    row = Row(number="-", measure=f"Switch of the embedder at {facts:,} facts, killed twice", figures=figures)
    return SuiteResult(suite="switch", rows=[row], details=details)


def _alone(root: Path, queries: Path) -> Said:
    """Every query asked once, with nothing made."""
    with running_child("switch", root, bulk.NAMESPACE, queries, "alone") as said:
        return next(said)


def _until(root: Path, queries: Path, missing: float) -> Said:
    """Queries asked again and again while vectors are made, until no more than so many are missing; the process is killed there."""
    whole: dict[str, Any] = {"ms": [], "changed": 0, "seconds": 0.0, "missing": None, "degraded": []}
    with running_child("switch", root, bulk.NAMESPACE, queries, "making") as said:
        for part in said:
            whole["ms"] += part["ms"]
            whole["changed"] += part["changed"]
            whole["degraded"] += part["degraded"]
            whole |= {"seconds": part["seconds"], "missing": part["missing"]}
            if 0 < part["missing"] <= missing:
                break
    return whole


def _times(ms: list[float]) -> dict[str, float]:
    return {"p50 ms": percentile(ms, 0.5), "p95 ms": percentile(ms, 0.95), "max ms": max(ms)}
