"""Paths as tools give them, turned into real ones. It opens nothing: opening is `beneath`'s part."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, replace
from pathlib import Path

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.visible import make_visible_line

MAX_PATH_BYTES = 4095
"""PATH_MAX of Linux without the final NUL."""
_MAX_LINKS = 40
"""As many links as Linux follows in one path (path_resolution(7))."""


@dataclass(frozen=True, slots=True)
class WorkspacePath:
    """A path that has passed the guard."""

    raw: str
    """As it was given."""
    path: str
    """Absolute and real: no component was a link when it was resolved."""
    root: str
    """The directory that it was found to lie in."""
    inside: str
    """Relative to `root`; empty for the root itself."""
    relative: str
    """As shown: relative to the first workspace directory where it lies inside, else absolute."""
    for_write: bool = False
    approved: bool = False
    """The user has agreed to this one although its name is sensitive."""

    def below(self, path: str) -> WorkspacePath:
        """Return the place of a relative path below this directory, as a listing gave it: no link is followed."""
        return replace(
            self,
            raw=os.path.join(self.path, path),
            path=os.path.join(self.path, path),
            inside=os.path.join(self.inside, path),
            relative=path if self.relative == "." else os.path.join(self.relative, path),
        )

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    @property
    def shown(self) -> str:
        """`relative` without hidden characters, for messages."""
        return make_visible_line(self.relative)


def check_form(raw: str) -> None:
    """Refuse what can't be a path at all.

    Raises:
        ToolFailure: invalid_tool_params.
    """
    problem = ""
    if not raw:
        problem = "The path is empty."
    elif "\0" in raw:
        problem = f"The path holds a NUL character: {make_visible_line(raw)[:200]}"
    else:
        try:
            if len(os.fsencode(raw)) > MAX_PATH_BYTES:
                problem = f"The path is longer than {MAX_PATH_BYTES} bytes: {make_visible_line(raw[:80])}…"
        except UnicodeEncodeError:
            problem = f"The path is not valid Unicode: {make_visible_line(raw)[:200]}"
    if problem:
        raise ToolFailure(
            ToolErrorType.INVALID_TOOL_PARAMS, problem, "Give a path relative to the workspace, or an absolute one."
        )


def resolve_links(path: str) -> str:
    """Return the absolute path with every link followed, also where its end doesn't exist yet.

    Raises:
        OSError: ELOOP for a loop of links; EXDEV for the magic links of /proc, which lead where no name says.
    """
    pending = [part for part in reversed(path.split("/")) if part not in ("", ".")]
    done: list[str] = []
    links = 0
    while pending:
        part = pending.pop()
        if part == "..":
            if done:
                done.pop()
            continue
        candidate = "/" + "/".join([*done, part])
        try:
            target = os.readlink(candidate)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise
            done.append(part)  # no link, not there, or not to be looked at: opening it will say
            continue
        links += 1
        if links > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        if candidate.startswith("/proc/"):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
        if target.startswith("/"):
            done.clear()
        pending.extend(step for step in reversed(target.split("/")) if step not in ("", "."))
    return "/" + "/".join(done)


def is_inside(path: str, root: str) -> bool:
    """Return whether a real path is `root` or lies below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def path_from_home(path: Path) -> str:
    """Return a path as people write it, with `~` for their home."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)
