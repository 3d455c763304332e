"""The operations that look at source files by their syntax: analyze, dependencies, validate."""

from __future__ import annotations

from collections.abc import Sequence

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.tool import ToolError, ToolResult
from core.contract.visible import make_visible, make_visible_line
from core.fileops.languages.graph import ImportGraph
from core.fileops.languages.plugin import Analysis, Symbol
from core.fileops.operations import AnalyzeOperation, DependenciesOperation, ValidateOperation
from core.fileops.source_tree import SourceTree, as_parsed
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseToolInvocation, ShellConfig, UpdateOutput
from core.tools.file_selection import FileSelection, select_files
from core.tools.threads import run_stoppable
from core.workspace.batch import BatchReader
from core.workspace.encoding import decode
from core.workspace.listing import Stop

MAX_SECONDS = 60.0
_MOST_SYMBOLS = 400
_MOST_LINES = 300
_DOC_CHARS = 160
TYPES_ONLY = "types only"


def _select(
    invocation: AnalyzeInvocation | DependenciesInvocation, stop: Stop
) -> tuple[dict[SourceTree, list[str]], list[str]]:
    """Return the files that an operation means by the trees they lie in, and what is to be said of others."""
    workspace = invocation.context.workspace
    operation = invocation.params
    with BatchReader(workspace) as reader:
        selected = select_files(workspace, reader, FileSelection(operation.include, operation.exclude), stop)
    notes = [f"{make_visible_line(path)}: {why}" for path, why in selected.problems]
    trees: dict[str, SourceTree] = {}
    found: dict[SourceTree, list[str]] = {}
    for raw in selected.files:
        try:
            place = workspace.resolve(raw)
        except ToolFailure as failure:
            notes.append(failure.message)
            continue
        refusal = invocation.context.path_refusal("read_file", (raw, place.path), raw in selected.named)
        if refusal:
            notes.append(f"{place.shown}: {refusal}")
            continue
        tree = trees.setdefault(place.root, SourceTree(workspace, place.root, stop))
        if tree.language_of(place.inside):
            found.setdefault(tree, []).append(place.inside)
        elif raw in selected.named:
            notes.append(f"{make_visible_line(raw)}: no language is known for it")
    for tree in found:
        notes += tree.service.problems
    return found, list(dict.fromkeys(notes))


class AnalyzeInvocation(BaseToolInvocation[AnalyzeOperation]):
    """Tells what files define."""

    def get_description(self) -> str:
        return ", ".join(self.params.include)

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        return await run_stoppable(self._analyse, abort, MAX_SECONDS)

    def _analyse(self, stop: Stop) -> ToolResult:
        found, notes = _select(self, stop)
        parts: list[str] = []
        size = count = 0
        for tree, paths in found.items():
            for path, analysis in tree.analyse(paths, symbols=True, imports=True, problems=True).items():
                held = tree.data(path) or b""
                size, count = size + len(held), count + 1
                parts.append(describe_file(tree, path, analysis, held.count(b"\n") + (held[-1:] not in (b"\n", b""))))
                if self.params.include_content:
                    content = held.replace(b"\r\n", b"\n").decode("utf-8", "replace")
                    parts.append(f"--- content ---\n{content}")
            notes += [f"{make_visible_line(path)}: {why}" for path, why in tree.unread.items()]
        if not parts:
            return _nothing(notes)
        data = {"files": count, "bytes": size, "summary": _files(count)}
        return ToolResult("\n\n".join([*parts, *_noted(notes)]), data=data)


def describe_file(tree: SourceTree, path: str, analysis: Analysis, lines: int) -> str:
    """Return one file's symbols, imports and errors as text."""
    shown = make_visible_line(path)
    if analysis.failure:
        return f"File: {shown}\n{make_visible_line(analysis.failure)}"
    text = [f"File: {shown} ({analysis.language}, {lines} lines)"]
    for problem in analysis.problems:
        text.append(
            f"Syntax error in line {problem.line}, column {problem.column}: {make_visible_line(problem.message)}"
        )
    imports = []
    for item in analysis.imports:
        unit = tree.modules.find(analysis.language, path, item.module)
        names = f" ({', '.join(item.names)})" if item.names else ""
        target = f" → {unit.path}" if unit is not None else ""
        types = f" [{TYPES_ONLY}]" if item.types_only else ""
        imports.append(make_visible_line(f"  {item.line}: {item.module}{names}{target}{types}"))
    if imports:
        text += ["Imports:", *imports[:_MOST_LINES]]
    if analysis.symbols:
        text += ["Symbols:", *_outline(analysis.symbols)]
    return "\n".join(text)


def _outline(symbols: Sequence[Symbol]) -> list[str]:
    depths: list[int] = []
    lines = []
    for symbol in symbols:
        depth = depths[symbol.parent] + 1 if 0 <= symbol.parent < len(depths) else 0
        depths.append(depth)
        if len(depths) > _MOST_SYMBOLS:
            continue
        place = f"{symbol.line}-{symbol.end_line}" if symbol.end_line != symbol.line else f"{symbol.line}"
        flow = f" [complexity {symbol.complexity}]" if symbol.complexity > 1 else ""
        signature = symbol.signature or symbol.name
        margin = "  " * (depth + 1)
        lines.append(make_visible_line(f"{margin}{place} {symbol.kind} {symbol.name}: {signature}{flow}"))
        if symbol.docstring:
            first = symbol.docstring.split("\n\n")[0].replace("\n", " ")
            lines.append(make_visible_line(f"{margin}  “{first[:_DOC_CHARS]}{'…' if len(first) > _DOC_CHARS else ''}”"))
    if len(symbols) > _MOST_SYMBOLS:
        lines.append(f"  and {len(symbols) - _MOST_SYMBOLS} more")
    return lines


class DependenciesInvocation(BaseToolInvocation[DependenciesOperation]):
    """Tells which files depend on which."""

    def get_description(self) -> str:
        return self.params.of or ", ".join(self.params.include)

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        return await run_stoppable(self._find, abort, MAX_SECONDS)

    def _find(self, stop: Stop) -> ToolResult:
        if self.params.of:
            return self._around(stop)
        found, notes = _select(self, stop)
        parts: list[str] = []
        count = 0
        for tree, paths in found.items():
            graph = ImportGraph.of(tree.modules, tree.analyse(paths, imports=True))
            count += len(paths)
            parts.append(_describe_graph(graph, types=self.params.types_in_cycles))
            notes += [f"{make_visible_line(path)}: {why}" for path, why in tree.unread.items()]
        if not parts:
            return _nothing(notes)
        data = {"files": count, "summary": _files(count)}
        return ToolResult("\n\n".join([*parts, *_noted(notes)]), data=data)

    def _around(self, stop: Stop) -> ToolResult:
        place = self.context.workspace.resolve(self.params.of)
        tree = SourceTree(self.context.workspace, place.root, stop)
        language = tree.language_of(place.inside)
        if not language or place.inside not in tree.paths:
            return _nothing([f"{place.shown}: it is no source file of a known language, or it is not there"])
        paths = [path for path in tree.paths if tree.language_of(path)]
        graph = ImportGraph.of(tree.modules, tree.analyse(paths, imports=True))
        direct, every = graph.dependents(place.inside), graph.all_dependents(place.inside)
        text = [f"File: {place.shown}"]
        text += _listed("Imports of the project:", _marked(graph, place.inside))
        text += _listed("Imports from outside:", graph.outside.get(place.inside, []))
        text += _listed(f"Imported by ({len(direct)}):", direct)
        text += _listed(f"Depend on it through others ({len(every) - len(direct)}):", sorted({*every} - {*direct}))
        cycles = graph.cycles(types=self.params.types_in_cycles)
        text += [make_visible_line(f"Cycle: {' → '.join([*c, c[0]])}") for c in cycles if place.inside in c]
        data = {"files": len(paths), "summary": f"{len(every)} depend{'s' if len(every) == 1 else ''} on it"}
        return ToolResult("\n".join(text), data=data)


def _listed(head: str, paths: Sequence[str]) -> list[str]:
    more = [f"  and {len(paths) - _MOST_LINES} more"] if len(paths) > _MOST_LINES else []
    return [head, *(f"  {make_visible_line(path)}" for path in paths[:_MOST_LINES]), *more] if paths else []


def _marked(graph: ImportGraph, path: str) -> list[str]:
    """Return what a file imports of the project; what it needs for types alone says so."""
    apart = graph.types_only.get(path, set())
    return [f"{target} [{TYPES_ONLY}]" if target in apart else target for target in graph.edges.get(path, ())]


def _describe_graph(graph: ImportGraph, *, types: bool) -> str:
    edges = sum(map(len, graph.edges.values()))
    text = [f"{len(graph.edges)} files, {edges} import{'' if edges == 1 else 's'} among them"]
    cycles = graph.cycles(types=types)
    left_out = any(graph.types_only.values()) and not types
    note = " (imports for types only are left out of them; types_in_cycles counts them)" if left_out else ""
    text.append((f"Cycles: {len(cycles)}" if cycles else "No cycles") + note)
    text += [make_visible_line(f"  {' → '.join([*cycle[:20], cycle[0]])}") for cycle in cycles[:20]]
    text += _listed("Relative imports that lead to nothing:", [f"{p}:{n}: {module}" for p, n, module in graph.missing])
    shown = [
        make_visible_line(f"  {path} → {', '.join(_marked(graph, path))}")
        for path, targets in sorted(graph.edges.items())
        if targets
    ]
    text += ["Imports:", *shown[:_MOST_LINES]] if shown else []
    if len(shown) > _MOST_LINES:
        text.append(f"  and those of {len(shown) - _MOST_LINES} more files; name fewer files, or one with `of`")
    return "\n".join(text)


class ValidateInvocation(BaseToolInvocation[ValidateOperation]):
    """Tells whether a text is valid syntax."""

    def get_description(self) -> str:
        return self.params.file_path

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        return await run_stoppable(self._validate, abort, MAX_SECONDS)

    def _validate(self, stop: Stop) -> ToolResult:
        place = self.context.workspace.resolve(self.params.file_path)
        tree = SourceTree(self.context.workspace, place.root, stop)
        if not tree.language_of(place.inside):
            known = ", ".join(sorted(tree.service.extensions))
            return _nothing([f"{place.shown}: no language is known for it; there are {known}"])
        if self.params.content is None:
            text = decode(self.context.workspace.read(place).data).text
        else:
            text = self.params.content
        data = as_parsed(text.encode("utf-8", "surrogateescape"))
        [analysis] = tree.service.analyse([(place.inside, data)], problems=True, is_cancelled=lambda: stop.is_set)
        what = "The proposed text of " if self.params.content is not None else ""
        if analysis.failure:
            message = f"{what}{place.shown} could not be checked: {make_visible_line(analysis.failure)}"
            return ToolResult(message, error=ToolError(message, ToolErrorType.EXECUTION_FAILED))
        counts = {"files": 1, "bytes": len(data)} if self.params.content is None else {}
        if not analysis.problems:
            valid = f"valid {analysis.language}"
            return ToolResult(f"{what}{place.shown} is {valid}.", data={**counts, "summary": valid})
        lines = data.decode("utf-8", "replace").split("\n")
        told = [f"{what}{place.shown} is no valid {analysis.language}:"]
        for problem in analysis.problems:
            told.append(f"  line {problem.line}, column {problem.column}: {make_visible_line(problem.message)}")
            if 0 < problem.line <= len(lines):
                line = lines[problem.line - 1].rstrip("\r")
                told.append(f"    {make_visible(line[:200])}")
        return ToolResult("\n".join(told), data={**counts, "summary": f"no valid {analysis.language}"})


def _files(count: int) -> str:
    return f"{count} file{'s' if count != 1 else ''}"


def _noted(notes: Sequence[str]) -> list[str]:
    return ["\n".join(["Notes:", *(f"  {note}" for note in notes[:50])])] if notes else []


def _nothing(notes: Sequence[str]) -> ToolResult:
    message = "\n".join(["There is no source file among these.", *notes[:20]])
    return ToolResult(message, error=ToolError(message, ToolErrorType.FILE_NOT_FOUND))
