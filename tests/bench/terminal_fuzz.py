"""Random sequences through our screen and through tmux: how often both show the same, and every kind of difference.

`--seconds N` says how long, `--seed N` where to begin. Fails below 95 % of agreement or where a difference is of no
known kind.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Callable, Sequence

from core.terminal.screen import TerminalScreen
from tests.bench._tmux import HAS_TMUX, SAVED, Tmux, running_tmux

COLUMNS, LINES = 40, 12
LEAST_AGREEMENT = 0.95
_WORDS = ("a", "xyz", "hello world", "0123456789" * 5, "ä", "€uro", "e\u0301", "日本", "漢", "😀", "lqqk", "~", " ")


def _number(dice: random.Random, most: int) -> str:
    return dice.choice(("", "0", "1", "2", str(dice.randrange(most + 2)), str(dice.randrange(most + 2))))


def _csi(finals: str, most: int) -> Callable[[random.Random], str]:
    return lambda dice: f"\x1b[{_number(dice, most)}{dice.choice(finals)}"


def _pair(final: str) -> Callable[[random.Random], str]:
    return lambda dice: f"\x1b[{_number(dice, LINES)};{_number(dice, COLUMNS)}{final}"


def _region(dice: random.Random) -> str:
    return dice.choice(("\x1b[r", f"\x1b[{dice.randint(1, LINES)};{dice.randint(1, LINES)}r"))


def _one_of(*texts: str) -> Callable[[random.Random], str]:
    return lambda dice: dice.choice(texts)


_TOKENS: Sequence[tuple[int, Callable[[random.Random], str]]] = (
    (10, _one_of(*_WORDS)),
    (3, lambda dice: "".join(dice.choice(_WORDS) for _ in range(dice.randint(1, 6)))),
    (6, _one_of("\r\n", "\n", "\r", "\b", "\t", "\x0b", "\x0c")),
    (6, _csi("ABCDGd`", COLUMNS)),
    (2, _csi("EF", LINES)),
    (6, _pair("H")),
    (1, _pair("f")),
    (4, _csi("JK", 1)),
    (4, _csi("ST", LINES)),
    (4, _csi("@PX", COLUMNS)),
    (2, _region),
    (2, _one_of("\x1bD", "\x1bM", "\x1bE")),
    (2, _one_of("\x1b7", "\x1b8", "\x1b[s", "\x1b[u")),
    (2, _one_of("\x1bH", "\x1b[g", "\x1b[3g", "\x1b[Z", "\x1b[2Z")),
    (1, _one_of("\x1b[4h", "\x1b[4l")),
    (1, _one_of("\x1b[?6h", "\x1b[?6l")),
    (1, _one_of("\x1b[?7h", "\x1b[?7h", "\x1b[?7l")),
    (1, _one_of("\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[?1047h", "\x1b[?1047l")),
    (1, _one_of("\x1b(0", "\x1b(B", "\x1b)0", "\x1b)B", "\x0e", "\x0f")),
    (3, _one_of("\x1b[m", "\x1b[1;31m", "\x1b[44m", "\x1b[38;5;99m", "\x1b[7m")),
    (1, _one_of("\x1b[b", "\x1b[3b", "a\x1b[2b")),
    (
        1,
        _one_of(
            "\x1b]0;title\x07", "\x1b]8;;http://a.b\x1b\\", "\x1bPq#0\x1b\\", "\x1b[>4;2m", "\x1b[?2026h\x1b[?2026l"
        ),
    ),
)
_WEIGHTS = [weight for weight, _ in _TOKENS]
_MAKERS = [make for _, make in _TOKENS]


def random_tokens(dice: random.Random) -> list[str]:
    """Return some sequences and texts, each whole."""
    return [make(dice) for make in dice.choices(_MAKERS, _WEIGHTS, k=dice.randint(3, 40))]


def show_ours(data: str) -> tuple[tuple[str, ...], tuple[int, int]]:
    """Return the lines, without blanks at their ends, and the cursor."""
    screen = TerminalScreen(COLUMNS, LINES)
    screen.feed(SAVED + data.encode())
    return tuple(line.rstrip(" ") for line in screen.display), (screen.cursor.x, screen.cursor.y)


def agrees(tmux: Tmux, tokens: list[str]) -> bool:
    """Return whether both show the same text and cursor."""
    data = "".join(tokens)
    shown = tmux.show(data.encode())
    return (shown.lines, shown.cursor) == show_ours(data)


def shrink(tmux: Tmux, tokens: list[str]) -> list[str]:
    """Return as few of the tokens as still make a difference."""
    size = len(tokens) // 2
    while size:
        at = 0
        while at < len(tokens):
            fewer = tokens[:at] + tokens[at + size :]
            if fewer and not agrees(tmux, fewer):
                tokens = fewer
            else:
                at += size
        size //= 2
    return tokens


_WIDE = re.compile("[日本漢😀]")
_KNOWN: Sequence[tuple[str, str]] = (
    (r"[^\x00-\x7f]\x1b\[\d*b", "REP: tmux repeats ASCII only"),
    (r"(?s)\x1b\[\?6h.*\x1b\[[\d;]*r", "DECSTBM in origin mode: tmux goes to the corner of the screen"),
    (r"(?s)(\x1b[78]|\x1b\[[su]).*\x1b\[\?(47|1047|1049)[hl]|\x1b\[\?(47|1047|1049)[hl].*(\x1b[78]|\x1b\[[su])",
     "DECSC: here, as in xterm, each of the two screens has a saved cursor of its own"),
    (r"\x1b\[\d+@", "ICH of the whole rest of a line: tmux leaves the rest as it is"),
    (r"(?s)(\x1b[()]0|[\x0e\x0f]|\x1b\[\?6h).*\x1b\[\?1049",
     "1049: here, as in xterm, it keeps the character sets and the origin mode too, as DECSC does"),
    (r"\x1b\[4h", "IRM: tmux does not insert the character that wraps"),
    (r"\x08", "BS at the start of a line: tmux goes back to the end of the one before if that was wrapped"),
    (r"\x1b\[\d*b", "REP: tmux stops at the last column"),
)  # fmt: skip
"""What tmux does otherwise than ECMA-48, DEC and xterm, by a pattern of the shortest example."""


def explain(tmux: Tmux, tokens: list[str]) -> str:
    """Return why the shortest example differs; empty if that is not known."""
    data = "".join(tokens)
    if _WIDE.search(data) and agrees(tmux, [_WIDE.sub("ab", token) for token in tokens]):
        return "half of a wide character is overwritten or cut: here, as in xterm, the other half goes blank"
    for pattern, reason in _KNOWN:
        if re.search(pattern, data):
            return reason
    if any(show_ours("".join(tokens[:count]))[1][0] == COLUMNS for count in range(1, len(tokens))):
        return "a wrap is pending: tmux's cursor stands beyond the last column, xterm's on it"
    return ""


def compare(tmux: Tmux, dice: random.Random, more: Callable[[int], bool]) -> tuple[int, dict[str, list[str]]]:
    """Compare random inputs while `more(tried)` says so.

    Returns how many were tried, and by the reason the shortest form of each that shows something else.
    """
    tried = 0
    kinds: dict[str, list[str]] = {}
    while more(tried):
        tokens = random_tokens(dice)
        tried += 1
        if not agrees(tmux, tokens):
            least = shrink(tmux, tokens)
            kinds.setdefault(explain(tmux, least), []).append("".join(least))
    return tried, kinds


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=20.0)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    if not HAS_TMUX:
        print("    no tmux here: nothing is compared")
        return 0
    end = time.monotonic() + chosen.seconds
    with running_tmux(COLUMNS, LINES) as tmux:
        tried, kinds = compare(tmux, random.Random(chosen.seed), lambda tried: time.monotonic() < end)
    agreement = 1 - sum(map(len, kinds.values())) / max(1, tried)
    print(
        f"    {tried} random inputs, seed {chosen.seed}: {agreement:.1%} show what tmux shows ({LEAST_AGREEMENT:.0%})"
    )
    for kind, examples in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"    {len(examples):6} x {kind or 'NOT EXPLAINED'}, as {min(examples, key=len)!r}")
    for example in sorted(kinds.get("", ()), key=len)[:10]:
        print(f"           {example!r}")
    return agreement < LEAST_AGREEMENT or "" in kinds


if __name__ == "__main__":
    sys.exit(main())
