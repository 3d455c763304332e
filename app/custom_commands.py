"""The user's own slash commands: TOML or Markdown files, each a prompt with places for arguments, commands and files.

Templates are taken apart before anything is put in, so that nothing put in can run or read more. What the places are
called stands in docs/commands.md.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from core.contract.errors import StetError

MAX_BYTES = 200_000
MAX_FILES = 500
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?::[A-Za-z0-9][\w.-]*)*", re.ASCII)
_ARGUMENTS = re.compile(r"\{\{ ?args ?\}\}|\$ARGUMENTS\b")
_EITHER = re.compile(rf"{_ARGUMENTS.pattern}|\$([1-9])\b")


class Piece(Enum):
    TEXT = auto()
    COMMAND = auto()
    FILE = auto()


@dataclass(frozen=True, slots=True)
class CustomCommand:
    """A prompt that is kept under a name."""

    name: str
    """As typed after the slash; a file in a folder is `folder:file`."""
    description: str
    pieces: tuple[tuple[Piece, str], ...]
    source: Path

    @property
    def takes_arguments(self) -> bool:
        return any(self._places.search(text) for _, text in self.pieces)

    @property
    def _places(self) -> re.Pattern[str]:
        """What is filled outside of `!{…}`, where `$1` is the shell's."""
        return _EITHER if self.source.suffix == ".md" else _ARGUMENTS

    async def expand(
        self,
        arguments: str,
        run: Callable[[str], Awaitable[str]],
        read: Callable[[str], Awaitable[str]],
    ) -> str:
        """Return the prompt.

        Args:
            arguments: as typed. In `!{…}` they are one quoted word of the shell; elsewhere they stand as they are.
                Where the template has no place for them they come at the end.
            run: gives what a command prints; raises `StetError` if it may not run.
            read: gives a file's content; raises `StetError` if it can't be read.
        """
        texts: list[str] = []
        quoted, words = shlex.quote(arguments), _words(arguments)

        def fill(match: re.Match[str]) -> str:
            if match.re is _ARGUMENTS or not match[1]:
                return arguments
            return words[int(match[1]) - 1] if int(match[1]) <= len(words) else ""

        for piece, text in self.pieces:
            if piece is Piece.COMMAND:
                texts.append(await run(_ARGUMENTS.sub(lambda _: quoted, text).strip()))
            else:
                filled = self._places.sub(fill, text)
                texts.append(await read(filled.strip()) if piece is Piece.FILE else filled)
        if arguments and not self.takes_arguments:
            texts.append(f"\n\n{arguments}")
        return "".join(texts).strip()


def _words(arguments: str) -> list[str]:
    """Return the words of what was typed; quotes hold some together, as in a shell."""
    try:
        return shlex.split(arguments)
    except ValueError:  # a quote of plain text
        return arguments.split()


def load_commands(folder: Path) -> tuple[list[CustomCommand], list[str]]:
    """Return the commands of a folder, by name, and what is wrong with the others. Blocks: it reads files."""
    found: dict[str, CustomCommand] = {}
    problems: list[str] = []
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in (".toml", ".md")] if folder.is_dir() else []
    for path in paths[:MAX_FILES]:
        name = ":".join(path.relative_to(folder).with_suffix("").parts)
        try:
            if name in found:
                raise StetError(f"there is {found[name].source.name} of the same name")
            found[name] = read_command(path, name)
        except (OSError, StetError) as error:
            problems.append(f"{path} is no command: {error}")
    if len(paths) > MAX_FILES:
        problems.append(f"{folder} has more than {MAX_FILES} commands; the rest is left out.")
    return list(found.values()), problems


def read_command(path: Path, name: str) -> CustomCommand:
    """Read one file.

    Raises:
        StetError: it is not such a file.
        OSError: it can't be read.
    """
    if not _NAME.fullmatch(name):
        raise StetError("its name may have letters, digits, dots, dashes and underscores only")
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise StetError(f"it is longer than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise StetError("it is not UTF-8") from None
    description, prompt = _read_toml(text) if path.suffix == ".toml" else _read_markdown(text)
    if not prompt.strip():
        raise StetError("it has no prompt")
    return CustomCommand(name, description or f"A prompt of yours: {path.name}", tuple(take_apart(prompt)), path)


def _read_toml(text: str) -> tuple[str, str]:
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise StetError(f"it is not TOML: {error}") from None
    if unknown := sorted(set(table) - {"description", "prompt"}):
        raise StetError(f"{unknown[0]!r} is not known; description and prompt are")
    description, prompt = table.get("description", ""), table.get("prompt", "")
    if not isinstance(description, str) or not isinstance(prompt, str):
        raise StetError("description and prompt must be texts")
    return description, prompt


def _read_markdown(text: str) -> tuple[str, str]:
    """Return description and prompt; the description stands in a head between `---` lines."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        return "", text
    end = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if end is None:
        raise StetError("its head between --- lines does not end")
    head = dict(line.split(":", 1) for line in lines[1:end] if ":" in line)
    return head.get("description", "").strip().strip("\"'"), "\n".join(lines[end + 1 :])


def take_apart(template: str) -> Iterator[tuple[Piece, str]]:
    """Give the pieces of a template; braces within `!{…}` and `@{…}` must be paired.

    Raises:
        StetError: one does not end.
    """
    start = 0
    for match in re.finditer(r"[!@]\{", template):
        if match.start() < start:
            continue  # within the piece before
        depth, end = 1, match.end()
        while depth and end < len(template):
            depth += {"{": 1, "}": -1}.get(template[end], 0)
            end += 1
        if depth:
            raise StetError(f"{match[0]}… does not end with a brace of its own")
        if match.start() > start:
            yield Piece.TEXT, template[start : match.start()]
        yield (Piece.COMMAND if match[0][0] == "!" else Piece.FILE), template[match.end() : end - 1]
        start = end
    if start < len(template):
        yield Piece.TEXT, template[start:]
