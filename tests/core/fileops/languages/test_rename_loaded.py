"""rename_symbol where a module of JavaScript or TypeScript is loaded while the program runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.fileops.languages.renames import RenameProject

MODULE = """
== m.ts
export function «old»() { return 1; }
export const o = { old: 1 };
export class K { old() {} }
== n.ts
export const old = 3;
"""

CASES = {
    "what a promise gives to a function": """
== a.js
import("./m").then(m => m.«old»());
import("./m").then((m) => { m.«old»(); m.o.old; });
import("./m.js").then(({ «old» }) => «old»());
import(`./m`).then(({ «old»: mine }) => mine());
import("./m").then(async function (m) { return m.«old»(); });
import("./m").catch(() => null).then(m => m.«old»).finally(() => 1);
import("./m").then(m => m.o).then(o => o.old);
Promise.all([import("./m"), import("./n")]).then(([m, n]) => { m.«old»(); n.old(); });
const Lazy = lazy(() => import("./m").then(m => ({ default: m.«old» })));
""",
    "what is waited for": """
== a.js
async function f() { const { «old» } = await import("./m"); «old»(); }
async function g() { const m = await import("./m"); m.«old»(); (await import("./m")).«old»(); }
async function h() { const p = import("./m"); const m = await p; m.«old»(); p.then(q => q.«old»); }
async function i() { const [m, n] = await Promise.all([import("./m"), import("./n")]); m.«old»(); n.old(); }
async function j() { const { o } = await import("./m"); o.old; const { old } = await import("./n"); old(); }
const M = await import("./m");
M.«old»;
""",
    "functions that give a module": """
== a.js
function k() { return import("./m"); }
const load = () => import("./m"), all = { a: async () => await import("./m") };
k().then(m => m.«old»());
load().then(m => m.«old»());
all.a().then(({ «old»: z }) => z());
async function n() { (await load()).«old»(); }
""",
    "a variable that gets its value later": """
== a.ts
let m, n = null, both;
async function f() { m = await import("./m"); m.«old»(); }
function g() { n ??= require("./m"); return n.«old»(); }
let t: typeof import("./m") | undefined;
async function h() { t = t ?? (await import("./m")); t.«old»(); t?.«old»(); }
class L { mod?: typeof import("./m"); async go() { this.mod ??= await import("./m"); return this.mod.«old»(); } }
""",
    "modules of the older kind": """
== a.js
const { «old» } = require("./m");
const two = require("./m").«old»;
require("./m").«old»();
require(`./m`).«old»();
let x; ({ «old»: x } = require("./m"));
function get() { return require("./m"); }
get().«old»();
== b.js
module.exports = require("./m");
== c.js
module.exports = { ...require("./b"), more: 1 };
== d.js
const { «old» } = require("./c");
require("./b").«old»();
""",
    "what stands for a module in tests": """
== a.test.ts
jest.mock("./m", () => ({ «old»: 1, other: { old: 2 } }));
vi.mock(import("./m"), async () => { const a = await vi.importActual("./m"); return { ...a, «old»: vi.fn() }; });
jest.mock("./n", () => ({ old: 1 }));
jest.requireActual("./m").«old»();
""",
    "types": """
== a.ts
type A = ReturnType<typeof import("./m").«old»>;
""",
}


@pytest.mark.parametrize("name", CASES)
def test_places(name: str, tmp_path: Path) -> None:
    text = (MODULE + CASES[name]).lstrip("\n")
    plan = RenameProject(tmp_path, text).check("m.ts", "old", "fresh")
    assert "could not be decided" not in plan.text


def test_the_name_that_a_file_has_for_a_module(tmp_path: Path) -> None:
    text = """
== a.js
import * as «ns» from "./m";
«ns».old(); f({ «ns|ns: fresh» }, "ns");
== b.js
const «ns» = require("./m");
«ns».old();
"""
    for path in ("a.js", "b.js"):
        project = RenameProject(tmp_path / path, (MODULE.replace("«", "").replace("»", "") + text).lstrip("\n"))
        project.marked = {path: project.marked[path]}
        project.check(path, "ns", "fresh")


def test_a_function_expression_and_a_variable_within_may_share_a_name(tmp_path: Path) -> None:
    text = "== a.js\nexports.x = function old() {\n var «old» = 1; return «old»; };\n"
    RenameProject(tmp_path, text).check("a.js", "old", "fresh", 2)


def test_what_a_loaded_module_may_be_is_told(tmp_path: Path) -> None:
    text = """
== a.js
const m = cond ? require("./m") : require("./n");
m.old();
import("./m").then(use);
function use(m) { m.old(); }
class Own { then(f) { f({ old: 1 }); } }
new Own().then(x => x.old);
import("./n").then(n => n.old);
== b.js
import(`./${name}.js`).then(m => m.old());
== c.js
import("./n").then(use); function use(n) { n.old(); }
"""
    told = RenameProject(tmp_path, (MODULE + text).lstrip("\n")).check("m.ts", "old", "fresh").text
    places = [line.split(": ")[0].strip() for line in told.splitlines() if line.startswith("  ")]
    assert places == ["a.js:2", "a.js:4", "a.js:6", "b.js:1"]
