"""Times and durations as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

MINUTE, HOUR, DAY = 60, 3600, 86400


def local_time(seconds: float, zone: tzinfo | None = None) -> str:
    """Returns a time, given in seconds since the epoch, in the zone of this machine if no other is given."""
    return datetime.fromtimestamp(seconds, UTC).astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")


def duration(seconds: float) -> str:
    """Returns a duration in its two largest units: 0.4s, 12s, 3m05s, 2h07m, 4d03h."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f}s"
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m{whole % MINUTE:02d}s"
    if whole < DAY:
        return f"{whole // HOUR}h{whole % HOUR // MINUTE:02d}m"
    return f"{whole // DAY}d{whole % DAY // HOUR:02d}h"


def number(value: float) -> str:
    """Returns a metric's value with four digits that matter."""
    return f"{value:.4g}"
