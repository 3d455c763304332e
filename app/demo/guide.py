"""The words of the guide: what it says in the chat, and the prompts that it puts into the editor."""

from __future__ import annotations

from app.options import GuideStep

_WELCOME = (
    "# A guided session",
    "This is the real application on a scratch project, a small shop. The files, the edits, the reviews and the tests "
    "are real; only the model is a script. No key is needed, and nothing leaves this machine.",
    "You send the prompts, and you decide. The first prompt stands below: `enter` sends it.",
)
_BEFORE_EDITS = (
    "> Now two files are to be changed. One **review** shows both:",
    "> - `j` and `k` go from change (hunk) to change, `space` takes one out or in again\n"
    "> - `tab` goes to the other file, `a` takes a whole file out or in, `R` out with a reason for the model\n"
    "> - `y` writes what is left in, once you have seen it all: `v` goes to the end of what was not seen yet\n"
    "> - `n` denies the whole, `r` denies it and tells the model why\n"
    "> - `e` edits a change before it is written, `?` shows all keys",
    "> What you reject is not written, and the model is told. `enter` goes on.",
)
_BEFORE_TESTS = (
    "> Now the tests. A **command** is asked about, too: you see the whole of it, and `y` runs it once. It runs in a "
    "terminal, the shell pane: `ctrl+t` types into it, `ctrl+]` comes back, `f6` shows and hides it.",
    "> One test will fail, on purpose. `enter` goes on.",
)
_END = (
    "# That was the tour",
    "You have seen search and reading, a plan in the todo list, edits reviewed change by change, a command approved "
    "and run in the shell pane, and a fix after a failing test. From here:",
    "- `f1` shows every key, `ctrl+p` finds every action by name\n"
    "- `ctrl+up` walks through this chat, `space` opens a block\n"
    "- a line that begins with `!` runs in your own shell: `!git diff` shows what was changed\n"
    "- `/model offline` goes on in this project with the embedded assistant, without a key: say `help` to it\n"
    "- with `GEMINI_API_KEY` or `OPENAI_API_KEY` set, start `stet` in a project of your own",
    "`ctrl+c` twice leaves.",
)


def _joined(paragraphs: tuple[str, ...]) -> str:
    """Return paragraphs as one text; quoted ones stay one quotation."""
    return ("\n>\n" if paragraphs[0].startswith(">") else "\n\n").join(paragraphs)


GUIDE = (
    GuideStep(
        _joined(_WELCOME),
        "Ten pieces and more should cost 10 % less; test_shop.py says how. Look around and make a plan.",
    ),
    GuideStep(_joined(_BEFORE_EDITS), "Good. Make the changes."),
    GuideStep(_joined(_BEFORE_TESTS), "Run the tests, and fix what fails."),
    GuideStep(_joined(_END)),
)
"""The prompts are known to `tour.script`, which plays the model."""
