"""Where quoted lines stand in a file: each line votes for the place at which the quotation would then begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence


def count_votes(lines: Sequence[str], wanted: Iterable[tuple[int, str]], most_places: int) -> Counter[int]:
    """Return how many of the wanted lines speak for each beginning.

    Args:
        lines: of the file, cut at their ends as the wanted ones are.
        wanted: quoted lines, each with its number within the quotation.
        most_places: a line that stands more often has no vote.
    """
    wanted = list(wanted)
    sought = {line for _, line in wanted}
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if line in sought:
            places.setdefault(line, []).append(number)
    votes: Counter[int] = Counter()
    for index, line in wanted:
        found = places.get(line, ())
        if len(found) <= most_places:
            votes.update(number - index for number in found)
    return votes
