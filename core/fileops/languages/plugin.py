"""What a language is to us: the contract of built-in and foreign plugins. It knows no parser and no file system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from core.fileops.languages.names import FileNames


class Symbol(NamedTuple):
    """Something that a file defines."""

    kind: str
    """class, function, method, variable, constant, attribute, property, field, interface, type, enum, namespace, ..."""
    name: str
    line: int
    """First line, 1-based; that of its keyword, without decorators and comments."""
    column: int
    """Of the same place, 1-based, in characters."""
    end_line: int
    """Last line, 1-based, inclusive."""
    parent: int = -1
    """Index of the symbol that it is nested in; -1 at the top."""
    signature: str = ""
    """One line, without the body."""
    docstring: str = ""
    complexity: int = 0
    """Cyclomatic: 1 and one more for each place where the flow may part; 0 for what is no function."""


class Import(NamedTuple):
    """One module that a file asks for."""

    module: str
    """As it is written: `a.b`, `..c`, `./d`, `example.org/e`."""
    line: int
    names: tuple[str, ...] = ()
    """What is taken of it, by its name there; `*` for everything."""
    types_only: bool = False
    """It is there for annotations alone: when the program runs nothing is imported."""


class SyntaxProblem(NamedTuple):
    """A place that is no valid syntax."""

    line: int
    column: int
    """Both 1-based; the column in characters."""
    message: str


class LanguagePlugin(ABC):
    """A language. One instance serves all files, one after the other, in a process that holds no other state of stet.

    What `parse_file` returns is handed to the other methods as it is. A method that raises spoils that file alone.
    """

    name: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    """With the dot, in lower case."""

    @abstractmethod
    def parse_file(self, path: str, data: bytes) -> Any:
        """Return the text in the form that the other methods take.

        Args:
            path: for its ending only; the file need not be there.
            data: UTF-8, without a byte order mark; invalid bytes are possible.
        """

    @abstractmethod
    def validate_syntax(self, parsed: Any) -> Sequence[SyntaxProblem]:
        """Return what is wrong, in order; nothing for a valid text."""

    @abstractmethod
    def extract_symbols(self, parsed: Any) -> Sequence[Symbol]:
        """Return what the text defines, in order, each after the symbol that it is nested in."""

    def extract_imports(self, parsed: Any) -> Sequence[Import]:
        """Return what the text imports. Paths that begin with `.` are looked for beside the file."""
        return ()

    def find_names(self, parsed: Any) -> FileNames | None:
        """Return who means what by which name; none where renaming is not supported."""
        return None


class Analysis(NamedTuple):
    """What was found of one file. What was not asked for is empty."""

    language: str = ""
    """Empty where no plugin takes the file."""
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    problems: tuple[SyntaxProblem, ...] = ()
    names: FileNames | None = None
    failure: str = ""
    """Why nothing could be found."""
