"""Random keys in our vi editing and in vim itself, side by side: how often text or cursor differ. Needs `vim`.

What vim does for history alone is left out: joining in the last line, `v$` with the line break, undo's cursor.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.widgets.prompt.vim_keyboard import Typist
from widgets.prompt.vim.editing import VimMode
from widgets.prompt.vim.edits import Register

CASES = 4_000
SEED = 2
TEXTS = (
    "the quick, brown (fox jumps) over\n  the lazy dog\n\nfoo.bar(baz, [1, 2], {\"a\": 'b'})\n\tend",
    "a b\n\n\nc  d\nlast",
    "if (x) {\n    call(y);\n    other();\n}\nend",
    "say \"hello there\" and 'bye'  \nnext line",
    "aa bb cc dd ee ff\ngg",
    "(a (b) c)\n\nword",
)
MOTIONS = "h l 0 ^ $ w W e E b B ge gE j k gg G } % fa Fa ta Ta fo to 2w 3l 2j 2e 2b 3h".split()
OBJECTS = 'iw iW i" a" i\' i( a( i[ a[ i{ a{ ip ap ib aB'.split()
SIMPLE = "x X D Y p P ~ rz 3x 2p 2rq dd yy 2dd gUU 3yy . . 2. >> << 2>>".split()
NAMED = '"ayw "ayy "Ayy "ap "add "_dd "1p "2P "-p "0p "bP 2"a2x'.split()
INSERTS = "i a I A o O 3i S s C cc".split()
SELECTED = ("0", "e", "^", "iw", "gg", "G", "", "ob")
_VIM = """
set nocp noswapfile viminfo= noautoindent sol formatoptions= nojoinspaces nomodeline sw=4 et ts=8
let out = []
for c in json_decode(join(readfile("{folder}/cases.json"), "\\n"))
  enew!
  call setline(1, split(c[0], "\\n", 1))
  exe "goto" (strlen(strcharpart(c[0], 0, c[1])) + 1)
  for r in split('abcdefghi0123456789-', '\\zs')
    call setreg(r, 'q')
  endfor
  call setreg('"', 'q')
  for k in c[2]
    try
      exe "normal! " . k
    catch
    endtry
  endfor
  call add(out, [join(getline(1, "$"), "\\n"), line2byte(line(".")) + col(".") - 2])
endfor
call writefile([json_encode(out)], "{folder}/out.json")
qa!
"""


@dataclass(frozen=True, slots=True)
class Case:
    text: str
    cursor: int
    commands: list[str]


def make_case(source: random.Random) -> Case:
    """Return a text and a few commands; each is complete, as vim drops what follows one that fails."""
    text = source.choice(TEXTS)
    commands = []
    for _ in range(source.randint(1, 4)):
        motion, thing = source.choice(MOTIONS), source.choice(MOTIONS[1:] + OBJECTS * 2)
        commands.append(
            source.choice(
                (
                    motion,
                    motion,
                    source.choice(("d", "y", "gU", "g~", ">", "<", '"ad', '"by', '"Ad')) + thing,
                    f"c{thing}\0xy<esc>",
                    source.choice(SIMPLE),
                    source.choice(SIMPLE + NAMED),
                    f"{source.choice(INSERTS)}\0q<esc>",
                    source.choice("vV")
                    + source.choice(SELECTED)
                    + source.choice(("d", "U", "~", "rz", "c\0q<esc>", ">", "2<", "p", "P", "J", '"ay', '"ap')),
                    f"{source.choice(('R', '2R'))}\0xyz<esc>",
                )
            )
        )
    if any(each in (".", "2.") for each in commands):
        commands = [
            "O\0q<esc>",
            *(each for each in commands if each[0] not in "vV" or each[-1] not in "pP"),
        ]  # vim's own change before this case would be repeated
    return Case(text, Typist(text, source.randrange(len(text))).cursor, commands)


def ours(case: Case) -> tuple[str, int]:
    typist = Typist(case.text, case.cursor)
    for name in "abcdefghi0123456789-":
        typist.vim.registers.yank(Register("q"), name)
    for command in case.commands:
        before, _, inserted = command.partition("\0")
        typist.type(before)
        if typist.vim.mode in (VimMode.INSERT, VimMode.REPLACE):
            typist.type(inserted)
        while typist.vim.escape():
            pass
    return typist.text, typist.cursor


def vims(cases: list[Case]) -> list[tuple[str, int]]:
    """Return what vim makes of the cases."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [
            (case.text, case.cursor, [each.replace("\0", "").replace("<esc>", "\x1b") for each in case.commands])
            for case in cases
        ]
        (folder / "cases.json").write_text(json.dumps(rows))
        (folder / "run.vim").write_text(_VIM.replace("{folder}", name))
        command = ["vim", "-u", "NONE", "-N", "-es", "-S", str(folder / "run.vim")]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=False, timeout=300)
        return [(text, max(0, cursor)) for text, cursor in json.loads((folder / "out.json").read_text())]


def main() -> int:
    if shutil.which("vim") is None:
        print("vim is not installed: nothing to compare with")
        return 0
    source = random.Random(SEED)
    cases = [make_case(source) for _ in range(CASES)]
    results = [(case, ours(case), theirs) for case, theirs in zip(cases, vims(cases), strict=True)]
    texts = [result for result in results if result[1][0] != result[2][0]]
    cursors = [result for result in results if result[1][0] == result[2][0] and result[1][1] != result[2][1]]
    for case, mine, theirs in (texts + cursors)[: int(sys.argv[1]) if len(sys.argv) > 1 else 3]:
        print(f"{case}\n   ours {mine}\n   vim  {theirs}")
    print(f"vi's keys, {CASES:,} runs beside vim: {len(texts)} texts differ (<= 1 %), {len(cursors)} cursors")
    return 0 if len(texts) <= CASES / 100 else 1


if __name__ == "__main__":
    sys.exit(main())
