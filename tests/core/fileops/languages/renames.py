"""Projects written as one text, in which every place that must be renamed is marked."""

from __future__ import annotations

import re
from pathlib import Path

from core.fileops.operations import RenameSymbolOperation
from core.fileops.renaming import RenamePlan, plan_rename
from core.fileops.source_tree import SourceTree
from core.workspace.listing import Stop
from core.workspace.workspace import Workspace

_MARK = re.compile(r"«([^«»|]*)(?:\|([^«»]*))?»")


def split_files(text: str) -> dict[str, str]:
    """Return the files of a text: each begins with a line `== path`."""
    parts = re.split(r"^== (\S+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


class RenameProject:
    """A project on the disk.

    Args:
        text: `«old»` is a place to rename, `«before|after»` one that becomes something else.
    """

    def __init__(self, root: Path, text: str) -> None:
        self.root = root
        self.marked = split_files(text)
        for name, marked in self.marked.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_MARK.sub(lambda match: match[1], marked))

    def plan(self, path: str, symbol: str, new: str, line: int | None = None) -> RenamePlan:
        tree = SourceTree(Workspace([self.root]), str(self.root.resolve()), Stop())
        operation = RenameSymbolOperation(
            type="rename_symbol", file_path=path, symbol=symbol, new_name=new, line=line, include=(".",)
        )
        return plan_rename(tree, path, operation)

    def expected(self, new: str) -> dict[str, str]:
        """Return the files that change, as the marks say."""
        return {
            name: _MARK.sub(lambda match: new if match[2] is None else match[2], marked)
            for name, marked in self.marked.items()
            if _MARK.search(marked)
        }

    def check(self, path: str, symbol: str, new: str, line: int | None = None) -> RenamePlan:
        """Rename, and compare every file."""
        plan = self.plan(path, symbol, new, line)
        assert {name: text for name, (_, text) in plan.texts.items()} == self.expected(new)
        return plan
