"""Python's garbage collector, kept from stopping the screen: what lives long is looked through while nobody waits."""

from __future__ import annotations

import gc

THRESHOLDS = (700, 10, 50)
"""Python's own, but for the last: a whole collection may take longer than a frame, and is due five times as seldom."""


def start_collecting() -> None:
    """Collect from now on; what there is lives to the end, and is never looked through again."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()


def settle() -> None:
    """Collect all garbage, and take what is left for long-lived. For a moment at which nothing is shown or typed."""
    gc.collect()
    gc.freeze()
