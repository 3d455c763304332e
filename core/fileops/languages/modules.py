"""Which file of the project an import means. It reads configuration files of languages and knows no syntax tree."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

ReadText = Callable[[str], str | None]
"""Returns a file's text by its path in the project; none where it can't be read."""

_SCRIPT_ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json", ".vue")
_WRITTEN = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_MOST_EXTENDS = 8
_COMMENTS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


class Unit(NamedTuple):
    """A module: a file, or a directory that is a package without one."""

    path: str
    """Relative to the project; a directory ends with `/`."""
    package: str = ""
    """Go: the name of the package, as a directory may hold that of its tests beside it."""


class ModuleMap:
    """Finds modules among the files of a project.

    Args:
        files: paths relative to the project.
    """

    def __init__(self, files: Iterable[str], read: ReadText) -> None:
        self.files = frozenset(files)
        self._read = read
        self._found: dict[tuple[str, str], Unit | None] = {}

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every directory that holds a file, itself or further below; the project's is empty."""
        found: set[str] = {""}
        for path in self.files:
            folder = posixpath.dirname(path)
            while folder and folder not in found:
                found.add(folder)
                folder = posixpath.dirname(folder)
        return frozenset(found)

    @cached_property
    def by_folder(self) -> dict[str, list[str]]:
        """The files of each directory."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.files):
            found.setdefault(posixpath.dirname(path), []).append(path)
        return found

    def find(self, language: str, path: str, module: str) -> Unit | None:
        """Return what a file imports; none for what is not of the project.

        Args:
            module: as it is written.
        """
        key = (posixpath.dirname(path) + "\0" + language, module)
        if key not in self._found:
            self._found[key] = self._find(language, path, module)
        return self._found[key]

    def _find(self, language: str, path: str, module: str) -> Unit | None:
        if language == "python":
            return self._python(path, module)
        if language in ("javascript", "typescript"):
            return self._script(path, module)
        if language == "go":
            return self._go(module)
        return self._file_named(path, module)

    def _file_named(self, path: str, module: str) -> Unit | None:
        """Return the file that a language of another package means: near the importing one, else from the top."""
        near = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
        ending = posixpath.splitext(path)[1]
        names = (near,) if module.startswith(".") else (near, posixpath.normpath(module))
        return next((Unit(name + end) for name in names for end in ("", ending) if name + end in self.files), None)

    def submodule(self, unit: Unit, name: str) -> Unit | None:
        """Return a module inside a Python package."""
        folder = posixpath.dirname(unit.path)
        if not (unit.path.endswith("/") or posixpath.basename(unit.path) in ("__init__.py", "__init__.pyi")):
            return None
        return self._python_at(posixpath.join(folder, name))

    # --- Python -----------------------------------------------------------------------------------

    def _python(self, path: str, module: str) -> Unit | None:
        folder = posixpath.dirname(path)
        level = len(module) - len(module.lstrip("."))
        parts = [part for part in module[level:].split(".") if part]
        if level:
            for _ in range(level - 1):
                if not folder:
                    return None
                folder = posixpath.dirname(folder)
            return self._python_at(posixpath.join(folder, *parts))
        starts = ["", "src"]
        while folder:
            starts.append(folder)
            folder = posixpath.dirname(folder)
        found = [self._python_at(posixpath.join(start, *parts)) for start in starts]
        files = [unit for unit in found if unit is not None and not unit.path.endswith("/")]
        return next(iter(files or [unit for unit in found if unit is not None]), None)

    def _python_at(self, base: str) -> Unit | None:
        for path in (f"{base}.py", f"{base}/__init__.py", f"{base}.pyi", f"{base}/__init__.pyi"):
            path = path.lstrip("/")
            if path in self.files:
                return Unit(path)
        if base in self.folders and any(path.endswith((".py", "/")) for path in self.by_folder.get(base, ["/"])):
            return Unit(f"{base}/")
        return None

    # --- JavaScript and TypeScript ----------------------------------------------------------------

    def _script(self, path: str, module: str) -> Unit | None:
        folder = posixpath.dirname(path)
        if module.startswith((".", "/")):
            return self._script_at(posixpath.join(folder, module))
        for base in self._mapped(folder, module):
            found = self._script_at(base)
            if found is not None:
                return found
        return self._workspace_package(module)

    def _script_at(self, base: str) -> Unit | None:
        base = posixpath.normpath(base)
        base = "" if base == "." else base
        if base in self.files:
            return Unit(base)
        stem, ending = posixpath.splitext(base)
        candidates = [stem + other for other in _WRITTEN.get(ending, ())]
        candidates += [base + ending for ending in _SCRIPT_ENDINGS]
        candidates += [posixpath.join(base, f"index{ending}") for ending in _SCRIPT_ENDINGS]
        return next((Unit(name) for name in candidates if name in self.files), None)

    def _mapped(self, folder: str, module: str) -> list[str]:
        """Return where `paths` and `baseUrl` of the nearest configuration lead."""
        while True:
            for name in ("tsconfig.json", "jsconfig.json"):
                config = posixpath.join(folder, name)
                if config in self.files:
                    return self._by_config(config, module)
            if not folder:
                return []
            folder = posixpath.dirname(folder)

    def _by_config(self, config: str, module: str) -> list[str]:
        base, paths, home = self._options(config)
        found = []
        for pattern, targets in sorted(paths.items(), key=lambda item: -len(item[0].partition("*")[0])):
            before, star, after = pattern.partition("*")
            if star and module.startswith(before) and module.endswith(after) and len(module) >= len(before + after):
                middle = module[len(before) : len(module) - len(after)]
            elif module == pattern:
                middle = ""
            else:
                continue
            found += [posixpath.join(home, target.replace("*", middle, 1)) for target in targets]
            break
        return found + ([posixpath.join(base, module)] if base is not None else [])

    def _options(self, config: str) -> tuple[str | None, dict[str, list[str]], str]:
        """Return `baseUrl`, `paths`, and the directory that these are relative to."""
        base: str | None = None
        paths: dict[str, list[str]] | None = None
        home = ""
        for _ in range(_MOST_EXTENDS):
            table = _read_json(self._read(config))
            options = table.get("compilerOptions")
            options = options if isinstance(options, dict) else {}
            folder = posixpath.dirname(config)
            if base is None and isinstance(options.get("baseUrl"), str):
                base = posixpath.normpath(posixpath.join(folder, options["baseUrl"]))
            if paths is None and isinstance(options.get("paths"), dict):
                paths = {
                    key: [str(v) for v in value] for key, value in options["paths"].items() if isinstance(value, list)
                }
                home = folder
            parent = table.get("extends")
            if not isinstance(parent, str) or not parent.startswith("."):
                break
            config = posixpath.normpath(posixpath.join(folder, parent))
            config = config if config.endswith(".json") else f"{config}.json"
        return base, paths or {}, base if base is not None else home

    @cached_property
    def _packages(self) -> dict[str, tuple[str, list[str]]]:
        """Packages of the project by name: directory and entries."""
        found = {}
        for path in self.files:
            if posixpath.basename(path) == "package.json" and "node_modules/" not in path:
                table = _read_json(self._read(path))
                entries = [
                    str(table[key]) for key in ("source", "types", "module", "main") if isinstance(table.get(key), str)
                ]
                if isinstance(table.get("name"), str):
                    found[str(table["name"])] = (posixpath.dirname(path), entries)
        return found

    def _workspace_package(self, module: str) -> Unit | None:
        name = "/".join(module.split("/")[: 2 if module.startswith("@") else 1])
        if name not in self._packages:
            return None
        folder, entries = self._packages[name]
        inside = module[len(name) + 1 :]
        places = [inside, f"src/{inside}"] if inside else [*entries, "src/index", "index"]
        return next((unit for place in places if (unit := self._script_at(posixpath.join(folder, place)))), None)

    # --- Go ---------------------------------------------------------------------------------------

    @cached_property
    def _go_modules(self) -> list[tuple[str, str]]:
        """Module paths and their directories, the longest first."""
        found = []
        for path in self.files:
            if posixpath.basename(path) != "go.mod":
                continue
            folder, text = posixpath.dirname(path), self._read(path) or ""
            named = re.search(r'^\s*module\s+"?([^\s"]+)', text, re.MULTILINE)
            if named:
                found.append((named[1], folder))
            for other, target in re.findall(r"^\s*(?:replace\s+)?(\S+)(?:\s+v\S+)?\s+=>\s+(\.\S*)", text, re.MULTILINE):
                found.append((other, posixpath.normpath(posixpath.join(folder, target))))
        return sorted(found, key=lambda item: -len(item[0]))

    def _go(self, module: str) -> Unit | None:
        for name, folder in self._go_modules:
            if module == name or module.startswith(f"{name}/"):
                target = (
                    posixpath.normpath(posixpath.join(folder, module[len(name) + 1 :])) if module != name else folder
                )
                target = "" if target == "." else target
                if any(path.endswith(".go") for path in self.by_folder.get(target, ())):
                    return Unit(f"{target}/")
        return None


def _read_json(text: str | None) -> dict[str, Any]:
    """Return a table of JSON with comments; empty where it can't be read."""
    try:
        table = json.loads(_COMMENTS.sub(lambda match: match[1] or "", text or ""))
    except (ValueError, RecursionError):
        return {}
    return table if isinstance(table, dict) else {}
