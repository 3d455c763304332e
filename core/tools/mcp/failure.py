"""What goes wrong with a server, in words; knows the SDK's errors only by their shape."""

from __future__ import annotations

from core.contract.errors import StetError


class McpFailure(StetError):
    """A server can't be reached, or does not do what it should."""


class LoginNeeded(McpFailure):
    """The server wants to know who asks, and nobody is there to log in, or has done so yet."""


class Unreachable(McpFailure):
    """There is nothing at its address, or it does not answer: another way of asking won't help."""


def leaf(error: BaseException) -> BaseException:
    """Return the first real error inside of groups: the SDK runs everything in task groups."""
    while isinstance(error, BaseExceptionGroup):
        error = next((e for e in error.exceptions if isinstance(e, Exception)), error.exceptions[0])
    return error


def find(error: BaseException, kind: type[StetError]) -> StetError | None:
    """Return an error of ours from anywhere inside of groups and causes."""
    todo: list[BaseException] = [error]
    seen: set[int] = set()
    while todo:
        current = todo.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, kind):
            return current
        if isinstance(current, BaseExceptionGroup):
            todo += current.exceptions
        todo += [other for other in (current.__cause__, current.__context__) if other is not None]
    return None
