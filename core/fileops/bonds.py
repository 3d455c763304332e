"""Which files of a plan stand or fall together: whoever declines one shall see at once what goes with it."""

from __future__ import annotations

from core.fileops.planner import Plan


def left_out_with(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return by absolute path the others that stay as they are where nothing of that one is taken.

    An operation is done wholly or not at all, unless it may leave out files (`spreads`); what names it in `depends_on`
    goes with it, and so do edits of a file that it would have made. Paths that stand alone are not among the keys.
    """
    items = plan.operations
    users: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        for path in item.touched:
            users.setdefault(path, []).append(index)
    dependents: dict[int, list[int]] = {}
    for index, item in enumerate(items):
        for other in plan.order.needs[index]:
            named = items[other].operation.id in item.operation.depends_on
            if named or any(plan.before.get(path) is None for path in {*item.touched} & {*items[other].touched}):
                dependents.setdefault(other, []).append(index)
    together = {}
    for path, indexes in users.items():
        gone: set[int] = set()
        waiting = [index for index in indexes if not items[index].operation.spreads]
        while waiting:
            index = waiting.pop()
            if index not in gone:
                gone.add(index)
                waiting += dependents.get(index, ())
        others = dict.fromkeys(other for index in sorted(gone) for other in items[index].touched if other != path)
        if bound := tuple(other for other in others if gone.issuperset(users[other])):
            together[path] = bound
    return together
