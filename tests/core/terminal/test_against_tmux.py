"""Random sequences show the same here and in tmux, but for the differences that are known; `make bench` tries more."""

from __future__ import annotations

import random

import pytest

from tests.bench._tmux import HAS_TMUX, running_tmux
from tests.bench.terminal_fuzz import COLUMNS, LEAST_AGREEMENT, LINES, compare


@pytest.mark.skipif(not HAS_TMUX, reason="no tmux here")
def test_random_sequences_show_what_tmux_shows() -> None:
    with running_tmux(COLUMNS, LINES) as tmux:
        tried, kinds = compare(tmux, random.Random(3), lambda tried: tried < 400)
    assert "" not in kinds
    assert sum(map(len, kinds.values())) <= (1 - LEAST_AGREEMENT) * tried
