"""A session as a new user has it, offline, from the keyboard to the file and back."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Place

pytestmark = pytest.mark.anyio

A = "first = 'red'\n" + "\n" * 20 + "last = 'red'\n"
B = "print('red')\n"


async def test_a_word_is_replaced_as_the_reviews_decided(place: Place) -> None:
    place.write({"a.py": A, "b.py": B})
    async with place.open() as terminal:
        await terminal.shows("offline", "❯")
        await terminal.prompt('replace "red" with "blue" in a.py and b.py')
        await terminal.shows("3 of 3 hunks on", "end of a.py")
        await terminal.user_pause()
        terminal.press("space")
        await terminal.shows("2 of 3 hunks on")
        terminal.press("v", "v")
        await terminal.shows("file 2 of 2", "end of b.py")
        terminal.press("e")
        await terminal.shows("ctrl+s takes the edit")
        terminal.press("end")
        terminal.type("  # by hand")
        terminal.press("ctrl+s")
        await terminal.shows("blue')  # by hand", "end of b.py")
        terminal.press("y")
        await terminal.matches(r"Edit b\.py.*done")
        await terminal.hides("esc stop")
    assert place.read("a.py") == A[::-1].replace("der", "eulb", 1)[::-1]
    assert place.read("b.py") == "print('blue')  # by hand\n"


async def test_a_proposal_is_edited_in_the_users_editor(place: Place) -> None:
    place.write({"b.py": B})
    editor = place.home / "editor.sh"
    editor.write_text('test -e "$HOME/failed" || { touch "$HOME/failed"; exit 3; }\necho "# by hand" >>"$1"\n')
    place.more["EDITOR"] = f"sh {editor}"
    async with place.open() as terminal:
        await terminal.shows("offline", "❯")
        await terminal.prompt('replace "red" with "blue" in b.py')
        await terminal.shows("end of b.py")
        await terminal.user_pause()
        terminal.press("E")
        await terminal.shows("ended with status 3")
        await terminal.user_pause()
        terminal.press("E")
        await terminal.shows("edited", "# by hand")
        await terminal.user_pause()
        terminal.press("y")
        await terminal.matches(r"Edit b\.py.*done")
    assert place.read("b.py") == "print('blue')\n# by hand\n"


async def test_the_agent_works_on_while_the_prompt_is_in_an_editor(place: Place) -> None:
    editor = place.home / "editor.sh"
    editor.write_text(
        "trap 'touch interrupted' INT\ntouch open\n"
        "until test -e second && test -e interrupted; do sleep 0.05; done\n"
        'echo "and more" >>"$1"\n'
    )
    place.more["EDITOR"] = f"sh {editor}"
    model = place.script(
        "call run_shell_command\n  command: until test -e open; do sleep 0.05; done\n---\n"
        "call write_file\n  file_path: second\n  content: written behind the editor\n---\nsay Both are done.\n"
    )
    async with place.open("--model", model, "--approval-mode", "yolo") as terminal:
        await terminal.shows("❯")
        await terminal.prompt("go")
        await terminal.shows("esc stop")
        terminal.type("a draft")
        await terminal.shows("a draft")
        terminal.press("ctrl+g")
        await terminal.until((place.project / "open").exists, "the editor")
        await terminal.until(lambda: not terminal.screen.frame().alternate, "the terminal lent")
        terminal.press("ctrl+c")
        await terminal.shows("and more", "Both are done.")
        terminal.press("ctrl+c")
        await terminal.shows("Ask, or")


async def test_tests_run_in_the_shell_pane_and_take_what_is_typed(place: Place) -> None:
    place.write(
        {
            "Makefile": "test:\n\t@sh check.sh\n",
            "check.sh": 'printf "which one? "\nread answer\necho "checked <$answer>"\n',
        }
    )
    async with place.open() as terminal:
        await terminal.shows("offline", "❯")
        await terminal.prompt("test")
        await terminal.shows("Run a command?", "$ make test")
        await terminal.user_pause()
        terminal.press("y")
        await terminal.shows("which one?")
        terminal.press("ctrl+t")
        await terminal.shows("leave the shell")
        terminal.type("the second")
        terminal.press("enter")
        await terminal.shows("checked <the second>")
        await terminal.hides("leave the shell")
        await terminal.hides("esc stop")


async def test_the_users_own_shell_keeps_its_state_and_one_key_leaves_it(place: Place) -> None:
    async with place.open() as terminal:
        await terminal.shows("offline", "❯")
        await terminal.prompt("!mkdir inner && cd inner")
        terminal.press("ctrl+t")
        await terminal.shows("leave the shell")
        terminal.type("echo here: ${PWD##*/}")
        terminal.press("enter")
        await terminal.shows("here: inner")
        terminal.press("escape")
        terminal.press("ctrl+]")
        await terminal.hides("leave the shell")
        await terminal.prompt("help")
        await terminal.shows("outline FILE")


async def test_typing_yes_please_before_a_dialog_approves_nothing(place: Place) -> None:
    place.write({"b.py": B})
    async with place.open() as terminal:
        await terminal.shows("offline", "❯")
        await terminal.prompt('replace "red" with "blue" in b.py')
        await terminal.shows("I look for red")
        for character in "yes please yes please":
            terminal.press(character)
            await terminal.until(lambda character=character: character in terminal.text, character)
        await terminal.shows("end of b.py")
        assert place.read("b.py") == B
        await terminal.user_pause()
        terminal.press("n")
        await terminal.hides("end of b.py")
        await terminal.shows("yes please yes please")
        await terminal.hides("esc stop")
    assert place.read("b.py") == B


async def test_leaving_gives_the_terminal_back_and_keeps_the_session(place: Place) -> None:
    async with place.open() as terminal:
        await terminal.shows("offline", "❯")
        await terminal.prompt("help")
        await terminal.shows("outline FILE")
        await terminal.hides("esc stop")
        terminal.press("ctrl+c")
        await terminal.shows("Press ctrl+c again to quit")
        terminal.press("ctrl+c")
        assert await terminal.ended() == 0
        assert terminal.is_as_before
    async with place.open("--resume") as terminal:
        await terminal.shows("❯ help", "outline")


async def test_a_window_of_another_size_is_filled(place: Place) -> None:
    async with place.open(columns=80, lines=24) as terminal:
        await terminal.shows("offline", "❯")
        for columns, lines in ((200, 60), (60, 18), (20, 5), (40, 10), (120, 40)):
            terminal.resize(columns, lines)
            await terminal.answers()
        await terminal.shows("offline", "❯")
        assert terminal.process.poll() is None
