"""Order: what conflicts runs one after the other, what names each other in a circle is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.errors import ToolFailure
from core.fileops.order import Node, order_nodes
from core.workspace.paths import is_inside


def node(id: str, paths: str, *depends_on: str, reads: bool = False) -> Node:
    return Node(id, not reads, tuple(paths.split()), depends_on)


def test_what_touches_the_same_path_runs_as_given() -> None:
    order = order_nodes([node("a", "/w/x"), node("b", "/w/y"), node("c", "/w/x"), node("d", "/w")])
    assert order.needs == (frozenset(), frozenset(), {0}, {0, 1, 2})  # of other paths all are named
    assert order.sequence == (0, 1, 2, 3)


def test_names_that_only_begin_alike_do_not_conflict() -> None:
    order = order_nodes([node("a", "/w/x"), node("b", "/w/x-2"), node("c", "/w/x/in")])
    assert order.needs == (frozenset(), frozenset(), {0})


def test_readers_do_not_wait_for_readers() -> None:
    order = order_nodes([node("a", "/w/x", reads=True), node("b", "/w", reads=True)])
    assert order.needs == (frozenset(), frozenset()) and order.width == 2


def test_depends_on_may_turn_the_order_round() -> None:
    order = order_nodes([node("a", "/w/x", "b"), node("b", "/w/x")])
    assert order.sequence == (1, 0)


def test_a_reader_after_a_change_is_in_a_later_stage() -> None:
    order = order_nodes(
        [node("a", "/w/x"), node("b", "/w/x", reads=True), node("c", "/w/x"), node("d", "/w/z", reads=True)]
    )
    assert order.stages == (0, 1, 1, 0)


def test_a_circle_is_named() -> None:
    with pytest.raises(ToolFailure, match="a → c → b → a"):
        order_nodes([node("a", "/1", "c"), node("b", "/2", "a"), node("c", "/3", "b"), node("d", "/4")])


PATHS = st.sampled_from(["/w", "/w/a", "/w/a/b", "/w/a/c", "/w/ab", "/w/d"])


@given(st.lists(st.tuples(PATHS, st.booleans(), st.integers(0, 20)), max_size=12))
def test_everything_comes_after_what_it_needs(drawn: list[tuple[str, bool, int]]) -> None:
    nodes = [
        Node(str(i), changes, (path,), (str(other),) if other < i else ())
        for i, (path, changes, other) in enumerate(drawn)
    ]
    order = order_nodes(nodes)
    place = {index: position for position, index in enumerate(order.sequence)}
    assert sorted(place) == list(range(len(nodes)))
    for index, needs in enumerate(order.needs):
        assert all(place[other] < place[index] and order.stages[other] <= order.stages[index] for other in needs)
    before: dict[int, set[int]] = {}
    for index in order.sequence:
        before[index] = set(order.needs[index]).union(*(before[other] for other in order.needs[index]))
    for i, one in enumerate(nodes):
        for j, two in enumerate(nodes[:i]):
            touch = is_inside(one.paths[0], two.paths[0]) or is_inside(two.paths[0], one.paths[0])
            if touch and (one.changes or two.changes):
                assert j in before[i] or i in before[j]


def test_many_on_one_path_are_named_with_their_next_ones_only() -> None:
    order = order_nodes([node(str(n), "/w/x", reads=n % 3 > 0) for n in range(300)])
    assert sum(map(len, order.needs)) < 600 and order.sequence == tuple(range(300))
    assert order.needs[6] == {4, 5} and order.needs[4] == order.needs[5] == {3}
