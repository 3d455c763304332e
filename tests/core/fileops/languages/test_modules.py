"""Which file an import means, and the graph that follows."""

from __future__ import annotations

import json

import pytest

from core.fileops.languages.graph import ImportGraph
from core.fileops.languages.modules import ModuleMap, Unit
from core.fileops.languages.plugin import Analysis, Import

TEXTS = {
    "tsconfig.json": '{ // all\n "extends": "./base", "compilerOptions": {"paths": {"@/*": ["src/*"], '
    '"one": ["src/a.ts"],}}}',
    "base.json": json.dumps({"compilerOptions": {"baseUrl": "."}}),
    "packages/lib/package.json": json.dumps({"name": "@acme/lib", "main": "dist/x.js", "types": "./main.ts"}),
    "go.mod": "module example.org/app // c\n\nrequire other v1\n\nreplace other => ./vendored\n",
    "tools/go.mod": "module example.org/app/tools\n",
}
FILES = [
    *TEXTS,
    *("pkg/__init__.py", "pkg/m.py", "pkg/sub/__init__.py", "pkg/sub/n.py", "names/space.py", "src/inside/k.py"),
    *("scripts/run.py", "scripts/beside.py", "top.py", "stub.pyi"),
    *("src/a.ts", "src/b.tsx", "src/dir/index.ts", "src/c.js", "src/types.d.ts", "packages/lib/main.ts"),
    *("packages/lib/src/deep.ts", "src/data.json"),
    *("main.go", "geo/a.go", "geo/b.go", "geo/a_test.go", "vendored/v.go", "tools/t.go"),
    *("top.mk", "make/all.mk", "make/rules.mk"),
]
MODULES = ModuleMap(FILES, TEXTS.get)


@pytest.mark.parametrize(
    ("language", "path", "module", "found"),
    [
        ("python", "top.py", "pkg", "pkg/__init__.py"),
        ("python", "top.py", "pkg.sub.n", "pkg/sub/n.py"),
        ("python", "top.py", "names", "names/"),
        ("python", "top.py", "names.space", "names/space.py"),
        ("python", "top.py", "inside.k", "src/inside/k.py"),
        ("python", "top.py", "stub", "stub.pyi"),
        ("python", "top.py", "os.path", None),
        ("python", "scripts/run.py", "beside", "scripts/beside.py"),
        ("python", "top.py", "beside", None),
        ("python", "pkg/m.py", ".", "pkg/__init__.py"),
        ("python", "pkg/m.py", ".sub", "pkg/sub/__init__.py"),
        ("python", "pkg/sub/n.py", "..m", "pkg/m.py"),
        ("python", "pkg/sub/__init__.py", ".n", "pkg/sub/n.py"),
        ("python", "pkg/m.py", ".missing", None),
        ("python", "top.py", "....far", None),
        ("typescript", "src/b.tsx", "./a", "src/a.ts"),
        ("typescript", "src/b.tsx", "./a.js", "src/a.ts"),
        ("typescript", "src/b.tsx", "./c.js", "src/c.js"),
        ("typescript", "src/a.ts", "./dir", "src/dir/index.ts"),
        ("typescript", "src/dir/index.ts", "..", None),
        ("typescript", "src/a.ts", "./types", "src/types.d.ts"),
        ("typescript", "src/a.ts", "./data.json", "src/data.json"),
        ("typescript", "src/a.ts", "@/dir", "src/dir/index.ts"),
        ("typescript", "src/a.ts", "one", "src/a.ts"),
        ("typescript", "src/a.ts", "src/b", "src/b.tsx"),
        ("typescript", "src/a.ts", "@acme/lib", "packages/lib/main.ts"),
        ("javascript", "src/c.js", "@acme/lib/deep", "packages/lib/src/deep.ts"),
        ("javascript", "src/c.js", "react", None),
        ("javascript", "src/c.js", "../../../etc/passwd", None),
        ("go", "main.go", "example.org/app/geo", "geo/"),
        ("go", "main.go", "example.org/app", "/"),
        ("go", "main.go", "example.org/app/tools", "tools/"),
        ("go", "main.go", "example.org/apple", None),
        ("go", "main.go", "other", "vendored/"),
        ("go", "main.go", "fmt", None),
        ("make", "make/all.mk", "rules.mk", "make/rules.mk"),
        ("make", "make/all.mk", "./rules", "make/rules.mk"),
        ("make", "make/all.mk", "make/rules", "make/rules.mk"),
        ("make", "make/all.mk", "../top.mk", "top.mk"),
        ("make", "make/all.mk", "./top.mk", None),
        ("make", "make/all.mk", "top.mk", "top.mk"),
        ("make", "make/all.mk", "/top.mk", None),
    ],
)
def test_modules_are_found(language: str, path: str, module: str, found: str | None) -> None:
    assert MODULES.find(language, path, module) == (Unit(found) if found is not None else None)


def graph_of(edges: dict[str, str]) -> ImportGraph:
    files = {f"{name}.py": [f"{target}" for target in targets.split()] for name, targets in edges.items()}
    analyses = {
        name: Analysis("python", imports=tuple(Import(target, 1) for target in targets))
        for name, targets in files.items()
    }
    return ImportGraph.of(ModuleMap(files, lambda path: None), analyses)


def test_edges_dependents_and_what_is_missing() -> None:
    graph = graph_of({"a": "b c os", "b": "c .gone", "c": "", "d": "a"})
    assert graph.edges == {"a.py": ["b.py", "c.py"], "b.py": ["c.py"], "c.py": [], "d.py": ["a.py"]}
    assert graph.outside["a.py"] == ["os"]
    assert graph.missing == [("b.py", 1, ".gone")]
    assert graph.dependents("c.py") == ["a.py", "b.py"]
    assert graph.all_dependents("c.py") == ["a.py", "b.py", "d.py"]
    assert graph.neighbours("a.py") == ["b.py", "c.py", "d.py"]


def test_cycles_are_round_trips() -> None:
    graph = graph_of({"a": "b", "b": "c d", "c": "a", "d": "", "e": "f", "f": "e", "g": "g"})
    assert graph.cycles() == [["a.py", "b.py", "c.py"], ["e.py", "f.py"]]


def test_what_only_types_need_makes_no_cycle() -> None:
    files = {"a.py": (Import("b", 1),), "b.py": (Import("a", 1, types_only=True),), "c.py": (Import("d", 1),)}
    files["d.py"] = (Import("c", 1, types_only=True), Import("c", 9))
    analyses = {name: Analysis("python", imports=imports) for name, imports in files.items()}
    graph = ImportGraph.of(ModuleMap(files, lambda path: None), analyses)
    assert graph.types_only["b.py"] == {"a.py"} and graph.dependents("a.py") == ["b.py"]
    assert graph.cycles() == [["c.py", "d.py"]]
    assert graph.cycles(types=True) == [["a.py", "b.py"], ["c.py", "d.py"]]


def test_a_long_chain_needs_no_recursion() -> None:
    count = 5_000
    graph = graph_of({f"m{n}": f"m{(n + 1) % count}" for n in range(count)})
    [cycle] = graph.cycles()
    assert len(cycle) == count
    assert len(graph.all_dependents("m0.py")) == count - 1


def test_names_of_a_package_are_its_modules_too() -> None:
    files = {"p/__init__.py": "", "p/m.py": "", "a.py": ""}
    found = {"a.py": Analysis("python", imports=(Import("p", 1, ("m", "other")),))}
    assert ImportGraph.of(ModuleMap(files, lambda path: None), found).edges["a.py"] == ["p/__init__.py", "p/m.py"]


def test_a_go_package_is_all_of_its_files_but_tests() -> None:
    found = {"main.go": Analysis("go", imports=(Import("example.org/app/geo", 1),))}
    assert ImportGraph.of(MODULES, found).edges["main.go"] == ["geo/a.go", "geo/b.go"]
