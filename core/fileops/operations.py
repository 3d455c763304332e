"""The operations of one file_operations call: what each takes.

Where an operation does what a single tool does it takes the same arguments; nothing is looked at on the disk here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from core.tools.builtin.glob import GlobParams, GlobTool
from core.tools.builtin.list_directory import ListDirectoryParams
from core.tools.builtin.read_file import ReadFileParams, ReadFileTool
from core.tools.builtin.replace import ReplaceParams, ReplaceTool
from core.tools.builtin.search_file_content import SearchFileContentParams, SearchFileContentTool
from core.tools.builtin.write_file import WriteFileParams
from core.tools.declarative import BaseDeclarativeTool
from core.tools.parameters import ToolParams, json_schema, named


class Operation(ToolParams):
    """What all have."""

    id: str = Field("", description="A name for it, unique in the call.")
    type: str
    depends_on: tuple[str, ...] = Field((), description="Names of operations that must be done before it.")

    changes: ClassVar[bool] = True
    """Whether it changes anything."""
    spreads: ClassVar[bool] = False
    """Whether it changes files that it does not name, of which the user may take some and leave others."""

    @classmethod
    def usual_form(cls, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return arguments as the fields take them, where models put them otherwise: one name for a list of one."""
        needed = args.get("depends_on")
        return {**args, "depends_on": [needed]} if isinstance(needed, str) else args

    def paths(self) -> tuple[str, ...]:
        """Return the paths that it names, as given."""
        return ()

    @property
    def subject(self) -> str:
        """What it is about, in short: the first path, or what it looks for."""
        return next(iter(self.paths()), "")

    def problem(self) -> str:
        """Return what is wrong beyond the schema, in one line; empty if nothing is."""
        if not all(path.strip() for path in self.paths()):
            return "a path is empty"
        single = _single_tools().get(type(self))
        wrong = single.validate_tool_param_values(self) if single is not None else None
        return " ".join(wrong.split("\n")) if wrong else ""


class ReadOperation(Operation, ReadFileParams):
    type: Literal["read"]
    changes = False

    def paths(self) -> tuple[str, ...]:
        return (self.file_path,)


class SearchOperation(Operation, SearchFileContentParams):
    type: Literal["search"]
    changes = False

    def paths(self) -> tuple[str, ...]:
        return (self.dir_path or ".",)

    @property
    def subject(self) -> str:
        return self.pattern


class GlobOperation(Operation, GlobParams):
    type: Literal["glob"]
    changes = False

    def paths(self) -> tuple[str, ...]:
        return (self.dir_path or ".",)

    @property
    def subject(self) -> str:
        return self.pattern


class ListOperation(Operation, ListDirectoryParams):
    type: Literal["list"]
    changes = False

    def paths(self) -> tuple[str, ...]:
        return (self.dir_path,)


class EditOperation(Operation, ReplaceParams):
    type: Literal["edit"]

    def paths(self) -> tuple[str, ...]:
        return (self.file_path,)


class WriteOperation(Operation, WriteFileParams):
    type: Literal["write"]

    def paths(self) -> tuple[str, ...]:
        return (self.file_path,)


class CreateOperation(Operation, WriteFileParams):
    """As write, but nothing may be there yet."""

    type: Literal["create"]

    def paths(self) -> tuple[str, ...]:
        return (self.file_path,)


class AppendOperation(Operation):
    type: Literal["append"]
    file_path: str = named(
        "file_path", "absolute_path", "path", description="The file, relative to the workspace or absolute."
    )
    content: str = Field(description="The text that is added at the end; the file is made where there is none.")

    def paths(self) -> tuple[str, ...]:
        return (self.file_path,)


class DeleteOperation(Operation):
    type: Literal["delete"]
    path: str = named("path", "file_path", "absolute_path", description="The file, symlink or directory.")
    recursive: bool = Field(False, description="Delete a directory with everything in it.")

    def paths(self) -> tuple[str, ...]:
        return (self.path,)


class _Transfer(Operation):
    source: str = named("source", "from", "source_path", description="What is moved or copied.")
    destination: str = named("destination", "to", "destination_path", description="Its new path, name included.")
    overwrite: bool = Field(False, description="A file at the destination gives way.")

    def paths(self) -> tuple[str, ...]:
        return (self.source, self.destination)


class MoveOperation(_Transfer):
    type: Literal["move"]


class CopyOperation(_Transfer):
    type: Literal["copy"]


class TransformOperation(Operation):
    type: Literal["transform"]
    spreads = True
    include: tuple[str, ...] = named(
        "include", "paths", "file_paths", min_length=1, description="Files, directories or glob patterns."
    )
    exclude: tuple[str, ...] = Field((), description="Glob patterns of files to leave out.")
    pattern: str = Field(description="The regular expression, as Python reads it; ^ and $ match at lines.")
    replacement: str = Field(description=r"What takes its place; \1 or \g<name> stand for groups.")
    case_sensitive: bool = Field(True, description="Whether capitals matter.")

    def paths(self) -> tuple[str, ...]:
        return tuple(re.split(r"[*?\[{]", entry, maxsplit=1)[0].rpartition("/")[0] or "." for entry in self.include)

    def problem(self) -> str:
        try:
            re.compile(self.pattern)
        except re.error as error:
            return f"the pattern is no regular expression: {error}"
        return super().problem()


class _Look(Operation):
    """Looks at source files by their syntax."""

    include: tuple[str, ...] = named(
        "include", "paths", "file_paths", min_length=1, description="Files, directories or glob patterns."
    )
    exclude: tuple[str, ...] = Field((), description="Glob patterns of files to leave out.")
    changes = False

    @classmethod
    def usual_form(cls, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """A single path stands for a list of one, too."""
        args = super().usual_form(args)
        for single in ("file_path", "path"):
            if isinstance(args.get(single), str) and not {"include", "paths", "file_paths"} & args.keys():
                args = {**{key: value for key, value in args.items() if key != single}, "include": [args[single]]}
        return args

    def paths(self) -> tuple[str, ...]:
        return fixed_parts(self.include)

    @property
    def subject(self) -> str:
        return self.include[0] + (f" and {len(self.include) - 1} more" if len(self.include) > 1 else "")


class AnalyzeOperation(_Look):
    type: Literal["analyze"]
    include_content: bool = Field(False, description="Whether the files' text goes along.")


class DependenciesOperation(_Look):
    type: Literal["dependencies"]
    include: tuple[str, ...] = named(
        "include", "paths", "file_paths", default=(".",), min_length=1, description="Files, directories or patterns."
    )
    of: str = Field("", description="A file: only what it depends on, and what depends on it.")
    types_in_cycles: bool = Field(
        False, description="Whether imports that only annotations need (TYPE_CHECKING, import type) make cycles."
    )

    def paths(self) -> tuple[str, ...]:
        return (*fixed_parts(self.include), *([self.of] if self.of else []))

    @property
    def subject(self) -> str:
        return self.of or super().subject


class ValidateOperation(Operation):
    type: Literal["validate"]
    file_path: str = named(
        "file_path", "absolute_path", "path", description="The file, relative to the workspace or absolute."
    )
    content: str | None = Field(None, description="A proposed text that is checked instead of what the file holds.")
    changes = False

    def paths(self) -> tuple[str, ...]:
        return (self.file_path,)


class RenameSymbolOperation(Operation):
    type: Literal["rename_symbol"]
    spreads = True
    file_path: str = named("file_path", "absolute_path", "path", description="The file that defines the symbol.")
    symbol: str = named("symbol", "old_name", "name", description="Its name; `Class.method` for a member.")
    new_name: str = Field(description="The new name, without what stands before a dot.")
    line: int | None = Field(None, ge=1, description="1-based line of the definition, where the name is not unique.")
    include: tuple[str, ...] = Field((".",), min_length=1, description="Files in which its uses are renamed, too.")

    def paths(self) -> tuple[str, ...]:
        return (self.file_path, *fixed_parts(self.include))

    @property
    def subject(self) -> str:
        return self.symbol

    def problem(self) -> str:
        if not self.symbol.strip() or not self.new_name.strip():
            return "a name is empty"
        return super().problem()


def fixed_parts(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return for each pattern the directory that all of its files lie below; a plain path is its own."""
    return tuple(
        entry
        if not re.search(r"[*?\[{]", entry)
        else re.split(r"[*?\[{]", entry, maxsplit=1)[0].rpartition("/")[0] or "."
        for entry in patterns
    )


KINDS: dict[str, type[Operation]] = {
    "read": ReadOperation,
    "search": SearchOperation,
    "glob": GlobOperation,
    "list": ListOperation,
    "edit": EditOperation,
    "create": CreateOperation,
    "write": WriteOperation,
    "append": AppendOperation,
    "delete": DeleteOperation,
    "move": MoveOperation,
    "copy": CopyOperation,
    "transform": TransformOperation,
    "analyze": AnalyzeOperation,
    "dependencies": DependenciesOperation,
    "validate": ValidateOperation,
    "rename_symbol": RenameSymbolOperation,
}


@functools.cache
def _single_tools() -> dict[type[Operation], BaseDeclarativeTool]:
    """Return the tools that take the same arguments as an operation, and say what is wrong with them."""
    return {
        ReadOperation: ReadFileTool(),
        SearchOperation: SearchFileContentTool(),
        GlobOperation: GlobTool(),
        EditOperation: ReplaceTool(),
    }


def operation_schema() -> dict[str, Any]:
    """Return one JSON schema for operations of all types: providers take no choice between objects."""
    properties: dict[str, Any] = {}
    users: dict[str, list[str]] = {}
    for type, kind in KINDS.items():
        for name, schema in json_schema(kind)["properties"].items():
            properties.setdefault(name, schema)
            users.setdefault(name, []).append(type)
    properties["type"] = {"type": "string", "enum": list(KINDS), "description": "What it does."}
    for name, types in users.items():
        if len(types) < len(KINDS):
            text = properties[name].get("description", "")
            properties[name] = {**properties[name], "description": f"For {', '.join(types)}: {text}"}
            properties[name].pop("default", None)
    return {"type": "object", "properties": properties, "required": ["type"]}
