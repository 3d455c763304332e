"""The guided session from its first key to its last, once with every proposal taken and once with some rejected."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.e2e.conftest import Place
from tests.e2e.terminal import EMPTY, Terminal

pytestmark = pytest.mark.anyio

FIRST = "Look around and make a plan."
SECOND = "Good. Make the changes."
THIRD = "Run the tests, and fix what fails."

TILL, RECEIPT = "[x] shop/till.py", "[x] shop/receipt.py"
"""The files' lines in a review of both."""
TILL_ALONE, RECEIPT_ALONE = "end of shop/till.py", "end of shop/receipt.py"


async def decide(terminal: Terminal, shown: str, *keys: str) -> None:
    """Wait for a dialog, press keys as someone who has read it, and wait until it is gone."""
    await terminal.shows(shown)
    await terminal.user_pause()
    terminal.press(*keys)
    await terminal.hides(shown)


async def leave(terminal: Terminal) -> None:
    terminal.press("ctrl+c")
    await terminal.shows("Press ctrl+c again to quit")
    terminal.press("ctrl+c")
    assert await terminal.ended() == 0
    assert terminal.is_as_before


def run_tests(place: Place) -> subprocess.CompletedProcess[str]:
    """Run the tests of the kept project."""
    command = [sys.executable, "-m", "unittest"]
    return subprocess.run(command, cwd=place.project / "kept", capture_output=True, text=True, timeout=30)


async def test_the_tour_to_its_end(place: Place) -> None:
    async with place.open("demo", "--keep", "kept") as terminal:
        await terminal.shows("A guided session", FIRST)
        terminal.press("enter")
        await terminal.shows("Plan set 4 items", "Read the till, the receipt", SECOND)
        terminal.press("enter")
        await terminal.shows(RECEIPT)
        await decide(terminal, TILL, "v", "v", "y")
        await terminal.shows("todo 3/4", THIRD)
        terminal.press("enter")
        await decide(terminal, "Run a command?", "y")
        await decide(terminal, TILL_ALONE, "y")
        await decide(terminal, "Run a command?", "y")
        await terminal.shows("All five tests pass", "That was the tour", "todo 4/4", "Ran 5 tests", "OK")
        await leave(terminal)
        assert f"The project is kept in {place.project / 'kept'}" in bytes(terminal.written).decode().replace(
            "\r\n", ""
        )
    done = run_tests(place)
    assert done.returncode == 0, done.stderr
    assert place.records == []


async def test_rejected_proposals_lead_on(place: Place) -> None:
    async with place.open("demo", "--keep", "kept") as terminal:
        await terminal.shows(FIRST)
        terminal.press("enter")
        await terminal.shows(SECOND)
        terminal.press("enter")
        await terminal.shows(TILL, RECEIPT, "3 of 3 hunks on")
        await terminal.user_pause()
        terminal.press("space", "tab", "a")
        await terminal.shows("[ ] shop/receipt.py", "1 of 3 hunks on")
        terminal.press("v", "y")
        await terminal.hides("[ ] shop/receipt.py")
        await terminal.shows("what you rejected does not", "todo 1/4", THIRD)
        assert "MANY = 10" not in place.read("kept/shop/till.py")
        assert "self.pieces > MANY" in place.read("kept/shop/till.py")
        terminal.press("enter")
        await decide(terminal, "Run a command?", "y")
        await decide(terminal, TILL_ALONE, "y")
        await decide(terminal, "Run a command?", "y")
        await terminal.shows("What is missing stands in the receipt")
        await decide(terminal, RECEIPT_ALONE, "n")
        await terminal.shows("It stays as it is, then", "That was the tour")
        await leave(terminal)
    assert "FAILED (failures=1)" in run_tests(place).stderr
    assert "You saved" not in place.read("kept/shop/receipt.py")


async def test_a_prompt_of_the_users_own_gets_a_true_answer_and_nothing_is_left(place: Place) -> None:
    scratch = place.home / "tmp"
    scratch.mkdir()
    place.more["TMPDIR"] = str(scratch)
    async with place.open("demo") as terminal:
        await terminal.shows(FIRST)
        terminal.press("ctrl+c")
        await terminal.shows(EMPTY)
        await terminal.prompt("what is the meaning of it all?")
        await terminal.shows("I am a script and know three prompts only", FIRST)
        terminal.press("ctrl+c")
        await terminal.shows(EMPTY)
        await leave(terminal)
    assert list(scratch.iterdir()) == []
