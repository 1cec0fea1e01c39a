"""How long a trial takes, from when each of many ended."""

from __future__ import annotations

import sys
from collections.abc import Iterable

WARM_UP = 10  # of so many trials, the first one is not counted


def pace(seconds: float, ends: Iterable[float], trials: int) -> dict[str, float]:
    """Returns milliseconds per trial, over the whole call and from trial to trial once it is under way.

    Args:
        seconds: How long the call took.
        ends: When each trial ended, in seconds since whenever.
        trials: How many there ought to be.
    """
    order = sorted(ends)
    if len(order) != trials:
        sys.exit(f"{len(order)} of {trials} trials ended well")
    skipped = max(1, trials // WARM_UP)
    steady = (order[-1] - order[skipped - 1]) / (trials - skipped) if trials > skipped else seconds / trials
    return {"seconds": seconds, "whole": seconds / trials * 1000, "steady": steady * 1000}
