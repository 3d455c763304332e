"""rename_symbol in Go: packages over files, blocks that begin behind a declaration, fields and methods by type."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.contract.errors import ToolErrorType, ToolFailure
from tests.core.fileops.languages.renames import RenameProject

CASES = {
    "a function of a package, in all of its files and outside": (
        ("geo/a.go", "Old", None),
        """
== go.mod
module example.org/app

go 1.22
== geo/a.go
package geo

// Old is old.
func «Old»[T any](x T) T { return x }

type holder struct{ Old int }

func (h holder) Do() { _ = h.Old + len("Old"); «Old»(1) }
== geo/b.go
package geo

func other() { Old := «Old»[int]; _ = Old; { Old := 1; _ = Old } }

func param(Old int) int { return Old }
== geo/a_test.go
package geo

func TestOld() { «Old»(1) }
== geo/x_test.go
package geo_test

import "example.org/app/geo"

func TestOut() { geo.«Old»(1) }
== cmd/main.go
package main

import (
	"fmt"
	g "example.org/app/geo"
	"other.org/geo"
)

func Old() {}

func main() { g.«Old»(2); geo.Old(3); Old(); fmt.Println("Old") }
== dot/d.go
package dot

import . "example.org/app/geo"

func f() { «Old»(1) }
""",
    ),
    "a local, which is known only behind its declaration": (
        ("a.go", "old", 6),
        """
== a.go
package a

var old = 1

func f(m map[string]int) int {
	«old», err := old, 0
	if «old», ok := m["x"]; ok {
		_ = «old»
	}
	«old», y := 3, err
	switch old := any(«old»).(type) {
	case int:
		_ = old
	}
	for old := range m {
		_ = old
	}
	g := func(old int) int { return old }
	_ = T{old: «old»}
	_ = map[int]int{«old»: y}
	_ = []int{«old»: 1}
old:
	for {
		break old
	}
	return g(«old»)
}
""".replace('if «old», ok := m["x"]; ok {\n\t\t_ = «old»', 'if old, ok := m["x"]; ok {\n\t\t_ = old'),
    ),
    "a type": (
        ("a.go", "old", None),
        """
== a.go
package a

type «old» struct{ next *«old» }

type list []«old»

func (o *«old») get(old int) «old» { return nil }

func f(x any) map[string]*«old» {
	if o, ok := x.(*«old»); ok {
		_ = o.get(1).next
	}
	_ = []«old»{{next: nil}}
	return make(map[string]*«old»)
}

type gen[T any] struct{ v T }

var v = gen[«old»]{}
""",
    ),
    "a field": (
        ("a.go", "S.old", None),
        """
== a.go
package a

type S struct {
	«old», other int
}

type E struct {
	*S
	x O
}

type O struct{ old int }

func make1() *S { return &S{«old»: 1} }

func f(s S, e E, o O, xs []S) {
	s.«old» = o.old
	e.«old»++
	_ = e.S.«old» + e.x.old
	make1().«old» = 1
	p := &s
	q := new(S)
	p.«old»++
	q.«old»++
	_ = []S{{«old»: 1}, {2, 3}}
	_ = map[string]*S{"old": {«old»: 1}}
	_ = O{old: 1}
	old := S{«old»: 2}
	_ = old.«old»
	t := struct{ old int }{old: 1}
	_ = t.old
}
== b.go
package a

func (s *S) get() int { return s.«old» }
""",
    ),
    "what containers hold": (
        ("a.go", "S.old", None),
        """
== a.go
package a

type S struct{ «old» int }

type Box struct{ items []*S }

func f(a []S, b map[string]*S, c [3]S, d map[S]int, e *Box) {
	a[0].«old» = b["x"].«old» + c[1].«old»
	for i, x := range a {
		_ = x.«old» + i
	}
	for k := range d {
		_ = k.«old»
	}
	for _, y := range e.items {
		y.«old»++
	}
	g := make([]S, 3)
	g = append(g, S{})
	_ = g[0].«old» + append(a, S{})[1:][0].«old»
	h := []S{{«old»: 1}}
	_ = h[0].«old»
}
""",
    ),
    "a method, and the type that embeds it": (
        ("a.go", "S.Old", None),
        """
== go.mod
module m
== a.go
package a

type S struct{}

func (s *S) «Old»() *S { return s.«Old»() }

type E struct{ S }

type O struct{}

func (o O) Old() {}

func f(o O) { E{}.«Old»().«Old»(); o.Old() }
== sub/b.go
package sub

import "m"

func g(s *a.S, e a.E) { s.«Old»(); e.«Old»(); a.O{}.Old() }
""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_places(name: str, tmp_path: Path) -> None:
    (path, symbol, line), text = CASES[name]
    RenameProject(tmp_path, text.lstrip("\n")).check(path, symbol, "Fresh" if "Old" in symbol else "fresh", line)


CONFLICTS = {
    "taken in another file of the package": ("func old() {}", "func fresh() {}", "b.go:3:"),
    "another file uses what is built in": ("func old() {}", "var x = fresh(1)", "b.go:3:"),
    "captured in another file": ("func old() {}", "func g(fresh int) { old() }", "b.go:3:"),
    "a method of the type": ("type S struct{ old int }", "func (s S) fresh() {}", "b.go:3:"),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_what_stands_against_a_name(name: str, tmp_path: Path) -> None:
    first, second, place = CONFLICTS[name]
    project = RenameProject(tmp_path, f"== a.go\npackage a\n\n{first}\n== b.go\npackage a\n\n{second}\n")
    with pytest.raises(ToolFailure) as caught:
        project.plan("a.go", "old", "fresh")
    assert caught.value.type is ToolErrorType.RENAME_CONFLICT
    assert place in str(caught.value)


@pytest.mark.parametrize(
    ("home", "path", "use"),
    [("p/a.go", "b.go", 'package b\n\nimport "m/p"'), ("p/a.go", "p/a_test.go", 'package p_test\n\nimport "m/p"')],
)
def test_a_name_that_others_use_stays_exported(tmp_path: Path, home: str, path: str, use: str) -> None:
    text = f"== go.mod\nmodule m\n== {home}\npackage p\n\nfunc Old() {{}}\n== {path}\n{use}\n\nfunc f() {{ p.Old() }}\n"
    with pytest.raises(ToolFailure, match=rf"{path}: 1 uses here"):
        RenameProject(tmp_path, text).plan(home, "Old", "old")


def test_a_test_in_the_same_package_sees_what_is_not_exported(tmp_path: Path) -> None:
    text = "== p/a.go\npackage p\n\nfunc «Old»() {}\n== p/a_test.go\npackage p\n\nfunc f() { «Old»() }\n"
    RenameProject(tmp_path, text).check("p/a.go", "Old", "old")


@pytest.mark.parametrize("word", ["nil", "true", "iota", "func"])
def test_words_of_the_language_are_no_names(tmp_path: Path, word: str) -> None:
    with pytest.raises(ToolFailure, match="is a word of go itself"):
        RenameProject(tmp_path, "== a.go\npackage a\n\nfunc old() {}\n").plan("a.go", "old", word)
