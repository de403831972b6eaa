"""Whether a difference between two systems on the same questions is more than luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
SEED = 13
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The mean gain over a baseline with the ends of its interval; it counts when the interval excludes 0."""

    mean: float
    low: float
    high: float

    @property
    def counts(self) -> bool:
        return self.low > 0 or self.high < 0


def paired_bootstrap(ours: Sequence[float], theirs: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED) -> Difference:
    """The percentile bootstrap of the mean of `ours - theirs`, resampling questions (Efron and Tibshirani, 1993).

    Raises ValueError where the two do not score the same, non-empty list of questions.
    """
    if len(ours) != len(theirs) or not ours:
        raise ValueError(f"paired scores needed: {len(ours)} against {len(theirs)}")
    gains = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    draws = np.random.default_rng(seed).integers(0, len(gains), size=(resamples, len(gains)))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(gains[draws].mean(axis=1), (tail, 1 - tail))
    return Difference(mean=float(gains.mean()), low=float(low), high=float(high))
