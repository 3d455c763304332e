"""In which order operations run: what touches the same paths or names each other runs one after the other.

It knows names and paths only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.visible import make_visible_line
from core.workspace.paths import is_inside


@dataclass(frozen=True, slots=True)
class Node:
    """An operation as far as its order depends on it."""

    id: str
    changes: bool
    paths: tuple[str, ...]
    """Absolute and real; a directory stands for everything below it."""
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """Indexes of operations."""

    sequence: tuple[int, ...]
    """Each after everything that it needs."""
    needs: tuple[frozenset[int], ...]
    """For each what must be done before it."""
    stages: tuple[int, ...]
    """For each its stage: within one, whatever reads runs first, together; then the changes are made."""
    width: int
    """The most that run together."""


def order_nodes(nodes: Sequence[Node]) -> Order:
    """Return the order.

    Raises:
        ToolFailure: invalid_tool_params, naming the members of a cycle.
    """
    if not any(node.depends_on or node.paths for node in nodes):
        count = len(nodes)
        return Order(tuple(range(count)), (frozenset(),) * count, (0,) * count, count)
    numbers = {node.id: index for index, node in enumerate(nodes)}
    needs = [{numbers[name] for name in node.depends_on} for node in nodes]
    sequence_of_names = _sorted(nodes, needs)
    position = {index: place for place, index in enumerate(sequence_of_names)}
    for earlier, later in _conflicts(nodes, position):
        needs[later].add(earlier)
    sequence = _sorted(nodes, needs)
    stages = [0] * len(nodes)
    levels = [0] * len(nodes)
    for index in sequence:
        node = nodes[index]
        for other in needs[index]:
            after_change = nodes[other].changes and not node.changes
            stages[index] = max(stages[index], stages[other] + after_change)
            levels[index] = max(levels[index], levels[other] + 1)
    width = max((levels.count(level) for level in set(levels)), default=0)
    sequence.sort(key=lambda index: stages[index])  # as they are carried out
    return Order(tuple(sequence), tuple(map(frozenset, needs)), tuple(stages), width)


def _conflicts(nodes: Sequence[Node], position: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield operations of which one changes what the other touches, the earlier one first.

    Of those on one path each is named with its next ones only: the rest follows from that.

    Args:
        position: as they stand in the call, unless depends_on has it the other way round.
    """
    at: dict[str, list[int]] = {}
    for index in sorted(range(len(nodes)), key=position.__getitem__):
        for path in dict.fromkeys(nodes[index].paths):
            at.setdefault(path, []).append(index)
    below = sorted(at)
    for place, path in enumerate(below):
        here = at[path]
        yield from _in_turn(nodes, here)
        for other in below[place + 1 :]:
            if not other.startswith(path):
                break
            if not is_inside(other, path):
                continue
            for one in here:
                for two in at[other]:
                    if one != two and (nodes[one].changes or nodes[two].changes):
                        yield (one, two) if position[one] < position[two] else (two, one)


def _in_turn(nodes: Sequence[Node], here: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of one path: what reads follows the last change, a change follows what has read since."""
    change: int | None = None
    readers: list[int] = []
    for index in here:
        if not nodes[index].changes:
            if change is not None:
                yield change, index
            readers.append(index)
            continue
        for other in readers or ([change] if change is not None else []):
            yield other, index
        change, readers = index, []


def _sorted(nodes: Sequence[Node], needs: Sequence[set[int]]) -> list[int]:
    """Return the indexes, each after what it needs, otherwise as given."""
    done: list[int] = []
    state = [0] * len(nodes)  # 1: being looked at, 2: done
    for start in range(len(nodes)):
        path = [start]
        while path:
            index = path[-1]
            if state[index] == 2:
                path.pop()
                continue
            state[index] = 1
            following = min((other for other in needs[index] if state[other] != 2), default=None)
            if following is None:
                state[index] = 2
                done.append(index)
                path.pop()
            elif state[following] == 1:
                raise _cycle([nodes[member].id for member in path[path.index(following) :]])
            else:
                path.append(following)
    return done


def _cycle(names: Sequence[str]) -> ToolFailure:
    shown = " → ".join(make_visible_line(name) for name in [*names, names[0]])
    return ToolFailure(
        ToolErrorType.INVALID_TOOL_PARAMS,
        f"The operations depend on each other in a circle: {shown} (each needs the next)",
        "Take one of these out of depends_on.",
    )
