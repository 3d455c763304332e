"""How fast the symbols of a thousand Python files are found, beside the standard `ast` doing the same work.

The files are those of the standard library. Both give kind, name, range, nesting, signature, docstring, imports and
complexity; `ast` runs in this process on one core, ours in processes of its own, on one core and on two.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

from core.fileops.languages.plugin import Analysis
from core.fileops.languages.service import Job, LanguageService

FILES = 1000
ROUNDS = 5
LEAST = {1: 2.0, 2: 3.5}
"""Times as fast as `ast`, by number of processes."""

BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.comprehension,
    ast.Assert,
    ast.match_case,
)
Row = tuple[str, str, int, int, int, str, str, int]


def read_jobs() -> list[Job]:
    folder = Path(sysconfig.get_path("stdlib"))
    paths = [path for path in sorted(folder.rglob("*.py")) if "site-packages" not in path.parts]
    jobs = []
    for path in paths:
        data = path.read_bytes()
        if 2_000 < len(data) < 60_000 and b"\r" not in data:
            try:
                ast.parse(data)
                data.decode()
            except (SyntaxError, ValueError):
                continue
            jobs.append((str(path), data))
    assert len(jobs) >= FILES, len(jobs)
    return jobs[:: len(jobs) // FILES][:FILES]


class Reader:
    """The same work with `ast`."""

    def __init__(self, data: bytes) -> None:
        self.text = data.decode()
        self.lines = self.text.splitlines(keepends=True)
        self.rows: list[list[object]] = []
        self.imports: list[tuple[str, int, tuple[str, ...]]] = []

    def read(self) -> list[list[object]]:
        self._walk(ast.parse(self.text), -1, -1)
        return self.rows

    def _walk(self, node: ast.AST, parent: int, function: int) -> None:
        for child in ast.iter_child_nodes(node):
            inner, flow = parent, function
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                is_class = isinstance(child, ast.ClassDef)
                in_class = parent >= 0 and self.rows[parent][0] == "class"
                kind = "class" if is_class else "method" if in_class else "function"
                inner = self._add(kind, child.name, child, parent, self._head(child), ast.get_docstring(child) or "")
                self.rows[inner][7] = 0 if is_class else 1
                flow = function if is_class else inner
            elif isinstance(child, ast.Import):
                self.imports += [(alias.name, child.lineno, ()) for alias in child.names]
            elif isinstance(child, ast.ImportFrom):
                names = tuple(alias.name for alias in child.names)
                self.imports.append(("." * child.level + (child.module or ""), child.lineno, names))
            elif isinstance(child, (ast.Assign, ast.AnnAssign)) and isinstance(node, (ast.Module, ast.ClassDef)):
                target = child.targets[0] if isinstance(child, ast.Assign) else child.target
                if isinstance(target, ast.Name):
                    text = " ".join(segment(self.lines, child).split())[:300]
                    kind = "attribute" if isinstance(node, ast.ClassDef) else "variable"
                    self._add(kind, target.id, child, parent, text, "")
            if function >= 0 or flow >= 0:
                where = flow if isinstance(child, BRANCHES) else -1
                if isinstance(child, ast.BoolOp):
                    self.rows[flow][7] += len(child.values) - 1  # type: ignore[operator]
                elif where >= 0:
                    self.rows[where][7] += 1  # type: ignore[operator]
            self._walk(child, inner, flow)

    def _add(self, kind: str, name: str, node: ast.stmt, parent: int, signature: str, docstring: str) -> int:
        self.rows.append(
            [kind, name, node.lineno, node.col_offset + 1, node.end_lineno, parent, signature, 0, docstring]
        )
        return len(self.rows) - 1

    def _head(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
        body = node.body[0]
        last = body.decorator_list[0] if getattr(body, "decorator_list", None) else body
        lines = self.lines[node.lineno - 1 : last.lineno]
        if len(lines) > 1:
            lines[-1] = lines[-1][: last.col_offset]
        else:
            lines = [lines[0][: last.col_offset]]
        return " ".join("".join(lines).split())[:300].rstrip(": ")


def segment(lines: list[str], node: ast.stmt) -> str:
    part = lines[node.lineno - 1 : node.end_lineno]
    part[-1] = part[-1][: node.end_col_offset]
    return "".join(part)


def with_ast(jobs: list[Job]) -> list[list[list[object]]]:
    return [Reader(data).read() for _, data in jobs]


def with_ours(service: LanguageService, jobs: list[Job]) -> list[Analysis]:
    return service.analyse(jobs, symbols=True, imports=True)


def compare(theirs: list[list[list[object]]], ours: list[Analysis]) -> float:
    """Return the share of functions and classes of which both say the same."""
    same = total = 0
    for rows, analysis in zip(theirs, ours, strict=True):
        one = {(r[1], r[2], r[4], str(r[8])[:2000]) for r in rows if r[0] in ("class", "function", "method")}
        two = {
            (s.name, s.line, s.end_line, s.docstring)
            for s in analysis.symbols
            if s.kind in ("class", "function", "method")
        }
        same, total = same + len(one & two), total + len(one | two)
    return same / total


def measure() -> Iterator[tuple[str, float]]:
    jobs = read_jobs()
    size = sum(len(data) for _, data in jobs)
    services = {count: LanguageService(count) for count in LEAST}
    for service in services.values():
        with_ours(service, jobs)  # the processes are up
    times: dict[str, list[float]] = {}
    theirs, ours = with_ast(jobs), with_ours(services[1], jobs)
    for _ in range(ROUNDS):
        for name, work in [
            ("ast", lambda: with_ast(jobs)),
            *((f"{count}", lambda service=service: with_ours(service, jobs)) for count, service in services.items()),
        ]:
            start = time.perf_counter()
            work()
            times.setdefault(name, []).append(time.perf_counter() - start)
    for service in services.values():
        service.close()
    best = {name: min(measured) for name, measured in times.items()}
    print(f"{len(jobs)} files, {size / 1e6:.1f} MB: ast {best['ast'] * 1000:.0f} ms")
    print(f"same functions and classes, with lines and docstrings: {compare(theirs, ours):.2%}")
    for count in services:
        yield f"{count} process{'es' if count > 1 else ''}", best["ast"] / best[f"{count}"]


def main() -> int:
    too_slow = False
    for (name, ratio), least in zip(measure(), LEAST.values(), strict=True):
        too_slow |= ratio < least
        print(f"{name}: {ratio:.2f} x as fast as ast (at least {least})")
    return too_slow


if __name__ == "__main__":
    sys.exit(main())
