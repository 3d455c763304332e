"""What each language's files define and import, and where they are no valid syntax."""

from __future__ import annotations

import symtable

import pytest

from core.fileops.languages.plugin import Analysis
from core.fileops.languages.registry import Wanted, load_languages
from tests.architecture.sources import ROOT, python_files

LANGUAGES = load_languages(())
EVERYTHING = Wanted(symbols=True, imports=True, problems=True, names=True)

FILES = {
    "a.py": (
        '''import os.path, a as b
from . import (c, d as e)
from ..x.y import *
LIMIT = 3
name: str = "x"

@deco
class A(B[int], metaclass=M):
    """Says what.

    More.
    """
    field: int = 0

    @property
    async def f(self, *, x=1) -> (
        int
    ):
        r"""A \\d."""
        if x and x or y:
            return [1 for _ in x if _]
        def inner():
            while 1: pass
        return 1 if x else 2

def größe(): 'ü'; return größe
''',
        [
            ("constant", "LIMIT", 4, 1, 4, "", "LIMIT = 3", "", 0),
            ("variable", "name", 5, 1, 5, "", 'name: str = "x"', "", 0),
            ("class", "A", 8, 1, 24, "", "class A(B[int], metaclass=M)", "Says what.\n\nMore.", 0),
            ("attribute", "field", 13, 5, 13, "A", "field: int = 0", "", 0),
            ("method", "f", 16, 5, 24, "A", "async def f(self, *, x=1) -> ( int )", "A \\d.", 7),
            ("function", "inner", 22, 9, 23, "f", "def inner()", "", 2),
            ("function", "größe", 26, 1, 26, "", "def größe()", "ü", 1),
        ],
        [("os.path", 1, ()), ("a", 1, ()), (".", 2, ("c", "d")), ("..x.y", 3, ("*",))],
    ),
    "a.tsx": (
        """import D, { a as b, type C } from "./m";
import * as ns from 'n';
export * from "./q";
export { z } from "./z";
const lazy = import("./lazy"), old = require('old');

/**
 * A thing.
 * @deprecated
 */
export abstract class K<T> extends Base implements I {
  private x = 1;
  /** Gets. */
  get y(): T { return this.z && a ? b : c; }
  run = async (a: number) => { for (const i of a) { switch (i) { case 1: break; case 2: } } };
}
export interface I { a: string; m(x: number): void }
export type U = string | number;
enum E { A }
namespace N { function inner() {} }
export const f = (x: number): JSX.Element => <div>{x ?? 1}</div>;
function g<T>(x: T) {} // not a doc
""",
        [
            ("constant", "lazy", 5, 7, 5, "", 'lazy = import("./lazy")', "", 0),
            ("constant", "old", 5, 32, 5, "", "old = require('old')", "", 0),
            (
                "class",
                "K",
                11,
                8,
                16,
                "",
                "abstract class K<T> extends Base implements I",
                "A thing.\n@deprecated",
                0,
            ),
            ("field", "x", 12, 3, 12, "K", "private x = 1", "", 0),
            ("method", "y", 14, 3, 14, "K", "get y(): T", "Gets.", 3),
            ("method", "run", 15, 3, 15, "K", "run = async (a: number)", "", 4),
            ("interface", "I", 17, 8, 17, "", "interface I", "", 0),
            ("property", "a", 17, 22, 17, "I", "a: string", "", 0),
            ("method", "m", 17, 33, 17, "I", "m(x: number): void", "", 0),
            ("type", "U", 18, 8, 18, "", "type U = string | number", "", 0),
            ("enum", "E", 19, 1, 19, "", "enum E", "", 0),
            ("namespace", "N", 20, 1, 20, "", "namespace N", "", 0),
            ("function", "inner", 20, 15, 20, "N", "function inner()", "", 1),
            ("function", "f", 21, 14, 21, "", "const f = (x: number): JSX.Element", "", 2),
            ("function", "g", 22, 1, 22, "", "function g<T>(x: T)", "", 1),
        ],
        [
            ("./m", 1, ("default", "a", "C")),
            ("n", 2, ("*",)),
            ("./q", 3, ("*",)),
            ("./z", 4, ("z",)),
            ("./lazy", 5, ()),
            ("old", 5, ()),
        ],
    ),
    "a.go": (
        """package p

import (
	"fmt"
	q "a/b"
	. "c"
)

const Max = 3

// S is a thing.
// It is.
type S struct {
	a, b int
	*T
}

type I interface {
	M(x int) (y string)
}

var v, w = 1, 2

// M runs.
func (s *S) M(x int) string {
	if x > 0 && x < 9 {
		for i := range s.a {
		}
	}
	switch x {
	case 1, 2:
	default:
	}
	return ""
}

func F[T any](a T) (r *S, err error) { return nil, nil }
""",
        [
            ("constant", "Max", 9, 7, 9, "", "const Max = 3", "", 0),
            ("struct", "S", 13, 6, 16, "", "type S struct", "S is a thing.\nIt is.", 0),
            ("field", "a", 14, 2, 14, "S", "a, b int", "", 0),
            ("field", "b", 14, 5, 14, "S", "a, b int", "", 0),
            ("field", "T", 15, 2, 15, "S", "*T", "", 0),
            ("interface", "I", 18, 6, 20, "", "type I interface", "", 0),
            ("method", "M", 19, 2, 19, "I", "M(x int) (y string)", "", 0),
            ("variable", "v", 22, 5, 22, "", "var v, w = 1, 2", "", 0),
            ("variable", "w", 22, 8, 22, "", "var v, w = 1, 2", "", 0),
            ("method", "M", 25, 1, 35, "S", "func (s *S) M(x int) string", "M runs.", 5),
            ("function", "F", 37, 1, 37, "", "func F[T any](a T) (r *S, err error)", "", 1),
        ],
        [("fmt", 4, ()), ("a/b", 5, ()), ("c", 6, ("*",))],
    ),
}


def analyse(name: str, text: str | bytes) -> Analysis:
    return LANGUAGES.analyse(name, text if isinstance(text, bytes) else text.encode(), EVERYTHING)


@pytest.mark.parametrize("name", FILES)
def test_symbols_and_imports(name: str) -> None:
    text, symbols, imports = FILES[name]
    found = analyse(name, text)
    assert found.failure == "" and found.problems == ()
    names = [symbol.name for symbol in found.symbols]
    rows = [
        (s.kind, s.name, s.line, s.column, s.end_line, names[s.parent] if s.parent >= 0 else "", *s[6:])
        for s in found.symbols
    ]
    assert rows == symbols
    assert [tuple(item)[:3] for item in found.imports] == imports


@pytest.mark.parametrize(
    ("name", "text", "modules"),
    [
        (
            "a.py",
            """import a
if TYPE_CHECKING:
    import b
    from c import d
    if x:
        import e
elif y:
    import f
else:
    import g
if not t.TYPE_CHECKING and z or not_TYPE_CHECKING:
    import h
if not typing . TYPE_CHECKING:
    import i
elif TYPE_CHECKING:
    import j
else:
    import k
""",
            "b c e j k",
        ),
        (
            "a.ts",
            """import type A from "a"; import type { B } from "b"; import { type C } from "c";
import { type D, d } from "d"; import E, { type e } from "e"; import type from "f"; import "type";
export type { G } from "g"; export { type H, type I as J } from "h"; export * from "i"; import { } from "j/type";
""",
            "a b c g h",
        ),
        ("a.js", 'import { type } from "a"; export { type } from "type";\n', ""),
    ],
)
def test_imports_that_only_types_need_are_told_apart(name: str, text: str, modules: str) -> None:
    assert sorted(item.module for item in analyse(name, text).imports if item.types_only) == modules.split()


@pytest.mark.parametrize(
    ("name", "text", "line", "column"),
    [
        ("a.py", "x = 1\ndef f(:\n    pass\n", 2, 7),
        ("a.py", "ä = (1,\n", 1, 5),
        ("a.py", "def f():\nreturn 1\n", 2, 1),
        ("a.py", "print 'x'\n", 1, 1),
        ("a.js", "const a = ;\n", 1, 9),
        ("a.ts", "interface A {\n  x: ;\n}\n", 2, 4),
        ("a.tsx", "const a = <div><p></div>;\n", 1, None),
        ("a.go", "package p\n\nfunc f( {\n}\n", 3, None),
    ],
)
def test_errors_have_their_places(name: str, text: str, line: int, column: int | None) -> None:
    problems = analyse(name, text).problems
    assert problems and problems[0].line == line and problems[0].message
    assert column is None or problems[0].column == column


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "type X[T] = list[T]\ndef f[T](x: T) -> T: ...\nf'{x!r:>{y}} {'a'}'\n"),
        ("a.py", "match x:\n    case {'a': [1, *r], **k} if r: pass\n"),
        ("a.js", "#!/usr/bin/env node\nconst {a = 1, ...b} = c?.d ?? (() => {}); label: for (;;) break label;\n"),
        (
            "a.ts",
            "const x = y satisfies Z; abstract class A { abstract f<T extends keyof U>(this: A): asserts this is T }\n",
        ),
        ("a.tsx", "const x = <T,>(y: T) => <><a.b {...y}/></>;\n"),
        ("a.go", "package p\n\nfunc f[T ~int | ~string](x ...T) { for range 3 {}; go func() {}() }\n"),
    ],
)
def test_what_is_valid_has_no_errors(name: str, text: str) -> None:
    assert analyse(name, text).problems == ()


@pytest.mark.parametrize("path", python_files("core/terminal", "core/scheduler", "widgets/prompt"), ids=str)
def test_python_scopes_are_those_of_the_interpreter(path: object) -> None:
    """Every name is bound in as many scopes as CPython's own tables say."""
    text = (ROOT / str(path)).read_text()
    theirs: dict[str, int] = {}
    tables = [symtable.symtable(text, str(path), "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        is_module = table.get_type() == "module"
        for symbol in table.get_symbols():
            is_bound = symbol.is_assigned() or symbol.is_imported() if is_module else symbol.is_local()
            if is_bound and not symbol.get_name().startswith("."):
                theirs[symbol.get_name()] = theirs.get(symbol.get_name(), 0) + 1
    names = analyse(str(path), text).names
    ours: dict[str, int] = {}
    for binding in names.bindings if names is not None else ():
        ours[binding.name] = ours.get(binding.name, 0) + 1
    theirs.pop("annotations", None)  # of __future__: no name that anyone uses
    assert ours == theirs
