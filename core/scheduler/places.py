"""The places of a step's calls: which call waits for which, and which edits ask together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from core.contract.tool import Kind, ToolCall
from core.tools.declarative import BaseToolInvocation, DeclarativeTool, ToolInvocation


def only_looks(tool: DeclarativeTool, invocation: ToolInvocation | None) -> bool:
    """Return whether a call changes nothing, by what it says of itself, else by its tool."""
    own = invocation.is_read_only if isinstance(invocation, BaseToolInvocation) else None
    return tool.is_read_only if own is None else own


class Company:
    """Calls that put their questions at the same moment, so that one review can show them all."""

    def __init__(self) -> None:
        self._members: dict[int, asyncio.Future[None] | None] = {}
        """By number: what a member waits on; none while it has not come yet."""
        self._is_open = False

    def join(self, number: int) -> None:
        """Count on a member: it will `meet` or `leave`."""
        self._members[number] = None

    async def meet(self, number: int) -> None:
        """Return when all members have come or left; in the order in which they joined."""
        if self._is_open or number not in self._members:
            return
        arrival: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._members[number] = arrival
        self._look()
        await arrival

    def leave(self, number: int) -> None:
        """Count on a member no longer: it asks nobody, or has asked."""
        self._members.pop(number, None)
        self._look()

    def _look(self) -> None:
        if not self._is_open and None not in self._members.values():
            self._is_open = True
            # Not at once: the last to come would go on before those that joined earlier.
            asyncio.get_running_loop().call_soon(self._open)

    def _open(self) -> None:
        for arrival in tuple(self._members.values()):
            if arrival is not None and not arrival.done():
                arrival.set_result(None)


@dataclass(slots=True)
class Place:
    """A call's place in its batch: what it waits for, and what waits for it."""

    number: int
    call: ToolCall
    tool: DeclarativeTool | None
    invocation: ToolInvocation | None
    done: asyncio.Event = field(default_factory=asyncio.Event)
    company: Company = field(default_factory=Company)

    @property
    def mutates(self) -> bool:
        return self.tool is not None and not only_looks(self.tool, self.invocation)

    @property
    def edits_named_files(self) -> bool:
        """Whether all that it will change is known before it runs."""
        invocation = self.invocation
        return (
            self.tool is not None
            and self.tool.kind is Kind.EDIT
            and isinstance(invocation, BaseToolInvocation)
            and invocation.names_all_paths
            and bool(invocation.tool_locations())
        )

    def touches(self, other: Place) -> bool:
        if self.invocation is None or other.invocation is None:
            return False
        mine = {location.path for location in self.invocation.tool_locations()}
        return any(location.path in mine for location in other.invocation.tool_locations())

    def before_asking(self, earlier: Iterable[Place]) -> list[Place]:
        """Return what must be done before this call can be judged and shown."""
        return [
            other
            for other in earlier
            if (self.mutates and other.mutates and other.company is not self.company)
            or (self.mutates != other.mutates and self.touches(other))
        ]

    def before_running(self, earlier: Iterable[Place]) -> list[Place]:
        """Return what must be done before this call runs: mutators run one by one, in call order."""
        return [other for other in earlier if self.mutates and other.mutates]


def seat(places: Sequence[Place]) -> None:
    """Let neighbouring edits of different files ask together.

    An edit of a file that is edited before it in the same step asks after that one is done, as it builds on it.
    """
    together: list[Place] = []
    for place in places:
        is_edit = place.edits_named_files
        if (place.mutates and not is_edit) or any(place.touches(other) for other in together):
            together = []
        if is_edit:
            if together:
                place.company = together[0].company
            together.append(place)
            place.company.join(place.number)
