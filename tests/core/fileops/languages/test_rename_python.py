"""rename_symbol in Python: by scope and import, member by class, and never more than what is sure."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.contract.errors import ToolErrorType, ToolFailure
from tests.core.fileops.languages.renames import RenameProject

CASES = {
    "a function and its uses, not strings, comments and docstrings": (
        ("a.py", "old", None),
        '''
== a.py
def «old»(x):
    """old"""
    return x  # old
print(«old»(1), "old", f"old {«old»(2)!r:>{«old»(3)}}", other.old, dict(old=1), {"old": «old»})
''',
    ),
    "shadowed by parameters, locals, comprehensions, lambdas and patterns": (
        ("a.py", "old", None),
        """
== a.py
«old» = 1
def f(old): return old
def g():
    old = 2
    def h(): return old
    return h
def i(a=«old»): return [old for old in range(«old»)], (lambda old: old), (lambda: «old»)
def j():
    for old in (): print(old)
    with open(old) as old: pass
def k(v):
    match v:
        case {"x": old}: return old
def l(v):
    match v:
        case [a, *b] if «old»: return «old»
def m():
    try: pass
    except E as old: print(old)
def n():
    import old
    return old.x
def o():
    global «old»
    «old» = 3
    del «old»
def p():
    if (old := 1): return old
class C:
    old = 1
    def q(self): return «old» + self.old
    x = old
print([«old» for x in y if («old»)])
""",
    ),
    "imports, aliases, packages and re-exports": (
        ("pkg/m.py", "old", None),
        """
== pkg/__init__.py
from .m import «old», other
from .m import «old» as kept
__all__ = ["«old»", 'other']
== pkg/m.py
__all__ = ["«old»"]
def «old»(): ...
other = old2 = «old»
== pkg/sub/n.py
from ..m import (
    other,
    «old»,
)
from .. import «old» as o2
«old»(); o2()
== main.py
import pkg
import pkg.m
import pkg.m as mm
from pkg import m, «old»
pkg.«old»(); pkg.m.«old»(); mm.«old»(); m.«old»(); «old»()
pkg.m.other.old
def f(old): return old
== star.py
from pkg.m import *
«old»()
== stranger.py
from elsewhere import old
from .nowhere import old
old()
== own.py
def old(): ...
old()
""",
    ),
    "a type in annotations": (
        ("a.py", "Old", None),
        """
== a.py
class «Old»: ...
class B(«Old», m=«Old»): ...
def f(a: «Old», *b: list[«Old»], c: "Old" = None) -> «Old» | None:
    x: «Old» = «Old»()
    raise «Old» from «Old»
@«Old»
def g[T: «Old»](t: T) -> T: ...
type A[Old] = list[Old]
type B2 = «Old»
match x:
    case «Old»(a=1): pass
    case Old.y: pass
""".replace("case Old.y", "case «Old».y"),
    ),
    "a method, its overrides and its calls": (
        ("a.py", "Base.old", None),
        """
== a.py
import b
class Base:
    def «old»(self): return self.«old»
    @classmethod
    def make(cls): return cls().«old»()
    @staticmethod
    def old2(): return Base.«old»
class Mid(Base):
    pass
class Leaf(Mid):
    def «old»(self): return super().«old»() + super(Leaf, self).«old»()
class Other:
    def old(self): return self.old
    def new2(self, x: Base, y: "Mid", z: Base | None, w: Other, u: Base | Leaf):
        x.«old»(); y.«old»(); z.«old»(); w.old(); u.«old»()
        self.base = Leaf()
        return self.base.«old»
def make() -> Leaf: ...
def f(q):
    make().«old»()
    v = Mid()
    v.«old»()
    with Base() as w: w.«old»()
    Other().old(); "x".old; q.old
    b.old()
== b.py
from a import Base, Other
import a
def old(): ...
def g(x: Base, o: Other): x.«old»; o.old; a.Mid().«old»; old()
class Far(a.Base):
    «old» = 1
""",
    ),
    "an attribute that is set in methods, and a field": (
        ("a.py", "old", 4),
        """
== a.py
from dataclasses import dataclass
@dataclass
class P:
    «old»: int
    new2: int = 0
    def f(self): self.«old» += 1; return old
    total = [«old» for x in ()] if 0 else «old»
p = P(«old»=1)
p.«old» = 3
match p:
    case P(«old»=2): pass
class Q:
    def __init__(self, old): self.old = old
Q(old=2).old
""".replace("total = [«old» for", "total = [1 for"),
    ),
    "a parameter and the calls that name it": (
        ("a.py", "old", 2),
        """
== a.py
class C:
    def __init__(self, «old», b=1): self.x = «old»
    def old2(self): self.old
C(«old»=1); C(1)
def f(old): return old
f(old=1)
== b.py
from a import C as D
D(«old»=2)
""".replace("class C:\n    def __init__", "class C:\n    def __init__"),
    ),
    "global in a function, seen from functions within it": (
        ("a.py", "old", 1),
        """
== a.py
«old» = 1
def f(old):
    def g():
        global «old»
        return lambda: [«old» for _ in (lambda: «old»,)]
    return old
""",
    ),
    "nonlocal, and a local of the outer function": (
        ("a.py", "old", 2),
        """
== a.py
def f():
    «old» = 1
    def g():
        nonlocal «old»
        «old» += 1
        def h(): return «old»
    def i():
        old = 2
        return old
    return «old»
old = 3
""",
    ),
    "what containers hold": (
        ("a.py", "C.old", None),
        """
== a.py
from collections.abc import Iterable, Mapping
class C:
    «old»: int
def f(a: list[C], b: Mapping[str, C], c: Iterable[tuple[str, C]], d: tuple[C, ...], e: "list[C]", g: dict[C, int]):
    a[0].«old»; a[1:][0].«old»; b["x"].«old»; b.get("x").«old»; d[0].«old»
    for x in a: x.«old»
    for k, v in b.items(): v.«old»; k.old
    for v2 in b.values(): v2.«old»
    for s, t in c: t.«old»; s.old
    for i, u in enumerate(d): u.«old»
    for w, (i2, z) in zip(a, c): w.«old»; z.«old»
    for k2 in g: k2.«old»; g[k2].old
    one, two = C(), 3
    one.«old»; two.old
    return [y.«old» for y in sorted(a)], next(iter(a)).«old», {m: n.«old» for m, n in c}, [C() for _ in a][0].«old»
def gen() -> Iterable[C]: yield C()
for q in gen(): q.«old»
def twice(p: list[C], q2: list[C] | None):
    for r in p: r.«old»
    for r in q2 or (): r.«old»
    n2 = None
    n2 = C()
    n2.«old»; n2 = p[0]
    o3 = unknown()
    o3 = C()
    o3.old
    for u3 in unknown(): u3.old
    u4: C
    u4 = unknown()
    u4.«old»
    u3 = C()
    del u4, n2
    p.sort(key=lambda t2: t2.«old»); max(p, key=lambda t3: t3.«old»); map(lambda t4: t4.«old», p)
""",
    ),
    "an import of something outside gets an alias": (
        ("a.py", "old", None),
        """
== a.py
from elsewhere import «old|old as new», other
import thing as «old2|old2»
«old»()
""",
    ),
    "names beyond ASCII, and other line ends": (
        ("a.py", "größe", None),
        "\n== a.py\n# ä\n«größe» = 'größe'\r\nprint(«größe», 'ü')\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_places(name: str, tmp_path: Path) -> None:
    (path, symbol, line), text = CASES[name]
    if name.startswith("an import of"):
        text = text.replace("«old2|old2»", "thing2")
    RenameProject(tmp_path, text.lstrip("\n")).check(path, symbol, "new", line)


CONFLICTS = {
    "taken in the same scope": ("old = 1\nnew = 2\n", 2),
    "taken as an import": ("import new\nold = 1\n", 1),
    "captured by a local": ("old = 1\ndef f():\n    new = 2\n    return old\n", 4),
    "captured by a parameter": ("def old(): ...\ndef f(new):\n    return [old() for x in new]\n", 3),
    "would take what another name means": ("print(new)\ndef f():\n    old = 1\n    return new\n", 4),
    "a builtin that is used": ("old = 1\nprint(new)\n", 2),
    "a member of the class": ("class C:\n    def old(self): ...\n    def new(self): ...\n", 3),
    "a member of a base": ("class B:\n    new = 1\nclass C(B):\n    def old(self): ...\n", 2),
    "a member of a derived class": ("class C:\n    def old(self): ...\nclass D(C):\n    new = 1\n", 4),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_what_stands_against_a_name(name: str, tmp_path: Path) -> None:
    text, line = CONFLICTS[name]
    project = RenameProject(tmp_path, f"== a.py\n{text}")
    at = 3 if name.startswith("would take") else None
    with pytest.raises(ToolFailure) as caught:
        project.plan("a.py", "old", "new", at)
    assert caught.value.type is ToolErrorType.RENAME_CONFLICT
    assert f"a.py:{line}:" in str(caught.value)


def test_a_conflict_in_another_file(tmp_path: Path) -> None:
    project = RenameProject(tmp_path, "== a.py\nold = 1\n== b.py\nfrom a import old\nnew = old\n")
    with pytest.raises(ToolFailure, match=r"b\.py:2:"):
        project.plan("a.py", "old", "new")


def test_what_is_left_is_told(tmp_path: Path) -> None:
    project = RenameProject(
        tmp_path,
        """== a.py
class C:
    def «old»(self): ...
def f(x, o: dict[str, C]):
    x.old()
    o.z["a"].old()
    getattr(x, "old")
    C().«old»()
    patch("a.C.old")
    "an old thing"
""",
    )
    notes = "\n".join(project.check("a.py", "C.old", "new").text.splitlines())
    assert [line for line in range(1, 11) if f"a.py:{line}:" in notes] == [4, 5, 6, 8]


def test_what_stands_for_a_protocol_without_saying_so_is_told(tmp_path: Path) -> None:
    text = """== a.py
from typing import Protocol
class P(Protocol):
    def «old»(self): ...
class A:
    def old(self): ...
class B(P):
    def «old»(self): ...
"""
    assert "a `old` is also in A (a.py)" in RenameProject(tmp_path, text).check("a.py", "P.old", "new").text


def test_the_parameters_that_ask_for_a_fixture_are_told(tmp_path: Path) -> None:
    text = "== a.py\n@pytest.fixture\ndef «old»(): ...\n== b.py\ndef test_x(old): ...\n"
    assert any(
        "b.py:1:" in note for note in RenameProject(tmp_path, text).check("a.py", "old", "new").text.splitlines()
    )


@pytest.mark.parametrize(
    ("new", "type"),
    [
        ("1a", ToolErrorType.INVALID_TOOL_PARAMS),
        ("a-b", ToolErrorType.INVALID_TOOL_PARAMS),
        ("class", ToolErrorType.INVALID_TOOL_PARAMS),
        ("a.b", ToolErrorType.INVALID_TOOL_PARAMS),
        ("old", ToolErrorType.EDIT_NO_CHANGE),
        ("__init__", ToolErrorType.INVALID_TOOL_PARAMS),
    ],
)
def test_names_that_can_not_be(new: str, type: ToolErrorType, tmp_path: Path) -> None:
    with pytest.raises(ToolFailure) as caught:
        RenameProject(tmp_path, "== a.py\nold = 1\n").plan("a.py", "old", new)
    assert caught.value.type is type


@pytest.mark.parametrize(
    "text",
    [
        "import «os|os as fresh»\n«os».x\n",
        "import mod as «os»\n«os».x\n",
        "from p import «os|os as fresh»\n«os».x\n",
        "import os.path as «os»\n«os».x\n",
    ],
)
def test_the_name_that_a_file_has_for_a_module(text: str, tmp_path: Path) -> None:
    files = "== mod.py\nx = 1\n== p/__init__.py\n== p/os.py\nx = 1\n"
    RenameProject(tmp_path, f"{files}== a.py\n{text}").check("a.py", "os", "fresh")


@pytest.mark.parametrize("text", ["import os.path\nos.x\n", "import os\nimport os.path\n"])
def test_a_package_with_a_dotted_import_keeps_its_name(text: str, tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match="no `os`"):
        RenameProject(tmp_path, f"== a.py\n{text}").plan("a.py", "os", "fresh")


def test_a_symbol_that_is_not_there_or_not_the_only_one(tmp_path: Path) -> None:
    project = RenameProject(tmp_path, "== a.py\nclass A:\n    x = 1\nclass B:\n    x = 2\n")
    with pytest.raises(ToolFailure, match="no `y`"):
        project.plan("a.py", "y", "z")
    with pytest.raises(ToolFailure, match="2 things"):
        project.plan("a.py", "x", "z")
    assert project.plan("a.py", "B.x", "z").texts["a.py"][1].endswith("x = 1\nclass B:\n    z = 2\n")
