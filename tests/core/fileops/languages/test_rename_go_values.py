"""rename_symbol in Go where a value's type is not written beside it: literals, results, named and anonymous types."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.contract.errors import ToolFailure
from tests.core.fileops.languages.renames import RenameProject

FIELD = """
== a.go
package a

type S struct{ «old» int }
"""

CASES = {
    "keys of named maps and arrays are names, those of structs are fields": (
        ("a.go", "old"),
        """
== a.go
package a

const «old» = 1

type T struct{ old int }
type M map[int]string
type A [3]T
type L []M

var m, t, a, l = M{«old»: "x"}, T{old: «old»}, A{«old»: {old: 2}}, L{{«old»: "y"}}
== b.go
package a

import "net/http"

var n, h = M{«old»: "x"}, http.Codes{«old»: "y"}
""",
    ),
    "fields in tables without a type's name": (
        ("a_test.go", "old"),
        """
== a_test.go
package a

func f() {
	tests := []struct {
		«old» string
		sub struct{ old int }
	}{{«old»: "a"}, {"b", struct{ old int }{1}}}
	for _, tc := range tests {
		_ = tc.«old» + tests[0].«old» + tc.sub.old
	}
	m := map[string]*struct{ old S }{"a": {old: S{old: 1}}}
	m["a"].old.old = 2
}
""",
    ),
    "types that are made of others": (
        ("a.go", "S.old"),
        FIELD
        + """
type list []*S
type deep struct{ kids list; byName map[string]list }
type table []S
type same S
type make1 func() *S

func f(d deep, m make1, s same, xs ...S) {
	d.kids[0].«old» = d.byName["a"][1].«old» + m().«old» + s.«old»
	for _, x := range xs {
		x.«old»++
	}
	for _, x := range d.kids[1:] {
		x.«old»++
	}
	_ = table{{«old»: 1}}
}
""",
    ),
    "what calls, channels and assertions give": (
        ("a.go", "S.old"),
        FIELD
        + """
func two() (int, *S) { return 0, nil }

func f(ch chan *S, x any, h struct{ make func() (*S, error) }) {
	_, a := two()
	b, err := h.make()
	c, ok := <-ch
	d, ok := x.(S)
	g := func() S { return S{} }
	_ = a.«old» + b.«old» + c.«old» + d.«old» + g().«old» + (<-ch).«old»
	var e, k = two()
	_ = k.«old»
	for s := range ch {
		s.«old»++
	}
	select {
	case s, ok := <-ch:
		_ = s.«old»
	}
	_, _, _ = err, ok, e
}
""",
    ),
    "cases of a switch over types": (
        ("a.go", "S.old"),
        FIELD
        + """
type T struct{ old int }

func f(x any) int {
	switch v := x.(type) {
	case *S:
		return v.«old»
	case T:
		return v.old
	case interface{ Get() S }:
		return v.Get().«old»
	}
	return 0
}
""",
    ),
    "an embedded type of another package": (
        ("p/p.go", "S.Old"),
        """
== go.mod
module m
== p/p.go
package p

type S struct{ «Old» int }
== a.go
package a

import q "m/p"

type H struct{ q.S }

func f(h H) int { return h.S.«Old» + h.«Old» }
""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_places(name: str, tmp_path: Path) -> None:
    (path, symbol), text = CASES[name]
    new = "Fresh" if "Old" in symbol else "fresh"
    line = 5 if path.endswith("_test.go") else None
    plan = RenameProject(tmp_path, text.lstrip("\n")).check(path, symbol, new, line)
    assert "could not be decided" not in plan.text


def test_a_key_of_a_literal_of_unknown_type_is_told(tmp_path: Path) -> None:
    text = '== a.go\npackage a\n\nimport "o.org/p"\n\nconst «Old» = 1\n\nvar m, n = p.M{Old: 1}, p.F{old: 1}\n'
    told = RenameProject(tmp_path, text).check("a.go", "Old", "Fresh").text
    assert "a.go:7: a key of a literal whose type is not known" in told


def test_the_line_of_a_definition_goes_before_uses_in_that_line(tmp_path: Path) -> None:
    text = "== a.go\npackage a\n\ntype S struct{ x Pos }\n\nfunc (s S) «Pos»() Pos { return s.x }\n\ntype Pos int\n"
    RenameProject(tmp_path, text).check("a.go", "Pos", "Fresh", 5)
    with pytest.raises(ToolFailure, match="`Class.name` means a member alone"):
        text = "== b.go\npackage b\n\nfunc f() { { i := 1; _ = i }; { i := 2; _ = i } }\n"
        RenameProject(tmp_path / "b", text).plan("b.go", "i", "j", 3)
