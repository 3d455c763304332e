"""rename_symbol in JavaScript and TypeScript."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.contract.errors import ToolErrorType, ToolFailure
from tests.core.fileops.languages.renames import RenameProject

CASES = {
    "scopes of blocks and functions": (
        ("a.js", "old", None),
        """
== a.js
let «old» = 1;
function f(old) { return old; }
function g() { if (x) { let old = 2; old++; } else { var other = «old»; } return «old»; }
function h() { return old; { var old = 3; } }
for (const old of xs) old;
for (let old = 0; old < 1; old++) {}
try {} catch (old) { old } finally { «old» }
const k = (old) => old, l = old => old, m = () => «old»;
const n = function old() { return old; };
class C { old = 1; static s = «old»; f({ old }) { return old + this.old; } }
switch (1) { case 1: let old = 1; old; }
old: while (1) break old;
o.old = «old»; o?.old; o["old"]; `old ${«old»}`; // old
""",
    ),
    "object literals and destructuring keep their keys": (
        ("a.js", "old", None),
        """
== a.js
const «old» = 1;
const o = { «old|old: fresh», a: «old», old: 2, "old": 3, [«old»]: 4, old() {} };
const { old: b, c = «old» } = o;
({ «old|old: fresh» } = o);
""".replace("const «old»", "let «old»"),
    ),
    "a destructured local": (
        ("a.js", "old", None),
        """
== a.js
const { «old|old: fresh», ...r } = o;
const { «old|old: fresh» = 1 } = p;
f(«old»);
""".replace("const { «old|old: fresh» = 1 } = p;\n", ""),
    ),
    "imports, exports and re-exports": (
        ("src/m.ts", "old", None),
        """
== src/m.ts
export function «old»() { return 1; }
export const other = «old»();
== src/index.ts
export { «old» } from "./m";
export { «old» as kept, other } from './m.js';
export * from "./m";
== src/b.ts
import { «old» } from ".";
import { «old» as o2, type other } from "./m";
import * as ns from "./m";
import { kept } from "./index";
«old»(); o2(); ns.«old»(); kept();
function f(old: number) { return old; }
== src/c.tsx
import { old } from "elsewhere";
import D from "./m";
old(); D.old;
== src/d.js
const { «old» } = require("./m");
const m = require("./m"), { «old»: z } = require("./m");
«old»(); m.«old»();
== src/e.ts
export * as all from "./m";
import { «old» } from "./m";
export { «old» };
export { «old» as older };
""",
    ),
    "modules of the older kind": (
        ("lib/m.js", "old", None),
        """
== lib/m.js
function «old»() {}
function other() { «old»(); }
module.exports = { «old», other };
== lib/n.js
exports.«old» = require("./m").«old»;
== main.js
const lib = require("./lib/m");
lib.«old»();
""".replace("exports.«old»", "exports.older"),
    ),
    "a default export has its name in its file alone": (
        ("m.ts", "Old", None),
        """
== m.ts
export default class «Old» { static make() { return new «Old»(); } }
== a.ts
import Old from "./m";
import Mine from "./m";
new Old(); new Mine();
""",
    ),
    "paths of a configuration, and packages of a workspace": (
        ("packages/core/src/index.ts", "old", None),
        """
== tsconfig.json
{ "compilerOptions": { // comment
  "baseUrl": ".", "paths": { "@core/*": ["packages/core/src/*"], }, } }
== packages/core/package.json
{"name": "@acme/core", "main": "dist/index.js"}
== packages/core/src/index.ts
export const «old» = 1;
== app/a.ts
import { «old» } from "@core/index";
import { «old» as b } from "@acme/core";
import { «old» as c } from "packages/core/src";
""",
    ),
    "JSX, and types": (
        ("c.tsx", "Old", None),
        """
== c.tsx
export function «Old»(props: Props) { return <div Old="Old">Old</div>; }
const x = <«Old» Old={«Old»}><o.Old/></«Old»>, y = <«Old»/>;
type T = typeof «Old»;
type U<Old> = Old | Props;
namespace N { export const Old = 1; Old; }
== d.tsx
import type { «Old» } from "./c";
import { «Old» as P } from "./c";
let a: «Old»[], b: Map<string, «Old»>;
function isOld(x: unknown): x is «Old» { return true; }
const z = <P/>;
""".replace("Old={«Old»}", "old={«Old»}").replace('<div Old="Old">', '<div old="Old">'),
    ),
    "a method of an interface and the classes that have it": (
        ("i.ts", "I.old", None),
        """
== i.ts
export interface I { «old»(): void; other: number }
export class A implements I { «old»() { this.«old»(); } other = 1; }
export class B extends A { «old»() { super.«old»(); } }
class C { old() { this.old(); } }
function f(i: I, a: A | null, c: C, u: A | B) { i.«old»(); a?.«old»(); c.old(); u.«old»(); new B().«old»(); }
const l: I = { «old»() {}, other: 2 };
const { «old»: got } = l;
== j.ts
import { B, type I } from "./i";
export async function make(): Promise<B> { return new B(); }
async function g(xs: Readonly<I>) { (await make()).«old»(); xs.«old»(); }
""",
    ),
    "fields, private names and parameters that are fields": (
        ("a.ts", "C.old", None),
        """
== a.ts
class C {
  constructor(private readonly «old»: number, public x = «old») { this.«old» + «old»; }
  get y() { return this.«old»; }
  f(old: C) { return () => old.«old»; }
}
class D { #old = 1; f() { return this.#old; } }
""",
    ),
    "a private name": (
        ("a.js", "#old", None),
        "\n== a.js\nclass D { «#old|#fresh» = 1; f() { return this.«#old|#fresh» + this.old; } }\n",
    ),
    "an enum's member": (
        ("a.ts", "E.old", None),
        """
== a.ts
export enum E { «old» = 1, other }
enum F { old }
E.«old»; F.old;
== b.ts
import * as a from "./a";
a.E.«old»;
""",
    ),
    "what containers hold": (
        ("a.ts", "C.old", None),
        """
== a.ts
class C { «old» = 1 }
function f(a: C[], b: Map<string, C>, c: Array<[string, C]>, d: readonly C[], e: Record<string, C>) {
  a[0].«old»; b.get("x")?.«old»; e["x"].«old»; a.find(x => x.«old»)!.«old»;
  for (const x of a) x.«old»;
  for (const [k, v] of c) { v.«old»; k.old; }
  for (const y of b.values()) y.«old»;
  const [one, , two] = a, { «old»: n } = d[0], [, three] = c[0];
  one.«old» + two.«old» + three.«old»;
  return a.filter((x) => x.«old»).map(function (z) { return z.«old»; });
}
const list = [new C(), new C()];
list[1].«old»;
""",
    ),
    "an object that is returned is what the function says to return": (
        ("a.ts", "I.old", None),
        """
== a.ts
interface I { «old»: number }
function f(a: boolean): I {
  if (a) { return { «old»: 1 }; }
  const g = () => { return { old: 2 }; };
  return ({ «old»: 3 });
}
const h = (): I => ({ «old»: 4 }), k = async (): Promise<I> => { const «old|old» = 5; return { «old|fresh: old» }; };
class C { m(): I { return { «old»: 6 }; } n() { return { old: 7 }; } }
""".replace("«old|old»", "old"),
    ),
    "interfaces that are declared twice are one": (
        ("a.ts", "I", None),
        """
== a.ts
interface «I» { a: number }
interface «I» { b: string }
let x: «I»; x.b;
""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_places(name: str, tmp_path: Path) -> None:
    (path, symbol, line), text = CASES[name]
    RenameProject(tmp_path, text.lstrip("\n")).check(path, symbol, "fresh", line)


CONFLICTS = {
    "taken in the same scope": ("let old = 1;\nfunction new2() {}\n", 2),
    "captured by a block": ("let old = 1;\n{ let new2 = 2; f(old); }\n", 2),
    "would take what another name means": ("let old = 1;\nnew2();\n", 2),
    "a member of the class": ("class A { old() {} }\nclass B extends A { new2() {} }\nnew B().old();\n", 2),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_what_stands_against_a_name(name: str, tmp_path: Path) -> None:
    text, line = CONFLICTS[name]
    with pytest.raises(ToolFailure) as caught:
        RenameProject(tmp_path, f"== a.ts\n{text}").plan("a.ts", "old", "new2")
    assert caught.value.type is ToolErrorType.RENAME_CONFLICT
    assert f"a.ts:{line}:" in str(caught.value)


def test_what_is_left_is_told(tmp_path: Path) -> None:
    project = RenameProject(
        tmp_path,
        """== a.ts
interface P { «old»: number }
function f(p: P, q: any) {
  q.old;
  q["old"];
  send({ old: 1 });
  return p.«old»;
}
const e = <T,>(x: T) => x;
""",
    )
    notes = "\n".join(project.check("a.ts", "P.old", "fresh").text.splitlines())
    assert [line for line in range(1, 9) if f"a.ts:{line}:" in notes] == [3, 4, 5]
