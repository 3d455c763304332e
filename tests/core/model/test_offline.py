"""The offline assistant: what is understood, which tools it drives, and what it says of the results."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.conversation import Message, ResultPart, Role, user_message
from core.contract.model import CallChunk, FinishChunk, FinishReason, ModelRequest, TextChunk
from core.model.offline import VERBS, OfflineProvider, plan_for
from core.model.offline_plan import Ask, Scene, Wish, play

pytestmark = pytest.mark.anyio

Tool = Callable[[dict[str, Any]], tuple[str, bool]]


class Project:
    """Files, and tools on them that answer in the words of the real ones."""

    def __init__(self, **files: str) -> None:
        self.files = {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.messages: list[Message] = []
        self.denied: set[str] = set()
        self.exit_code = 0
        self.page = 2_000

    async def ask(self, prompt: str) -> str:
        """Say something; run the calls until there is an answer."""
        self.messages.append(user_message(prompt))
        self.calls = []
        provider = OfflineProvider()
        while True:
            async with provider.stream(ModelRequest(tuple(self.messages))) as stream:
                items = [item async for item in stream]
            finish = items[-1]
            assert isinstance(finish, FinishChunk)
            assert finish.reason is FinishReason.STOP
            message = Message(Role.MODEL, finish.parts, provider.name)
            assert "".join(item.text for item in items if isinstance(item, TextChunk)) == message.text
            self.messages.append(message)
            calls = [item.call for item in items if isinstance(item, CallChunk)]
            assert [call.id for call in calls] == [call.id for call in message.calls]
            if not calls:
                return message.text
            results = [ResultPart(call.id, call.name, *self.run(call.name, dict(call.args))) for call in calls]
            self.messages.append(Message(Role.USER, tuple(results)))

    def run(self, name: str, args: dict[str, Any]) -> tuple[str, bool]:
        self.calls.append((name, args))
        if name in self.denied:
            return f"[Operation Cancelled] Reason: {name} was rejected.", True
        tool: Tool = getattr(self, f"_{name}")
        return tool(args)

    def _search_file_content(self, args: dict[str, Any]) -> tuple[str, bool]:
        pattern = re.escape(args["pattern"]) if args.get("fixed_strings") else args["pattern"]
        flags = re.NOFLAG if args.get("case_sensitive") else re.IGNORECASE
        rows, count = [], 0
        for path, text in self.files.items():
            hits = [f"L{n}: {row}" for n, row in enumerate(text.split("\n"), 1) if re.search(pattern, row, flags)]
            count += len(hits)
            rows += [f"File: {path}", *hits, "---"] if hits else []
        if not rows:
            return f'No matches found for pattern "{pattern}" in path ".".', False
        return "\n".join([f'Found {count} matches for pattern "{pattern}" in path ".":', "---", *rows]), False

    def _read_file(self, args: dict[str, Any]) -> tuple[str, bool]:
        path = args["file_path"]
        if path not in self.files:
            return f"File not found: {path}", True
        rows = self.files[path].removesuffix("\n").split("\n")
        start, limit = args.get("offset", 0), args.get("limit", self.page)
        shown = rows[start : start + limit]
        note = ""
        if start + len(shown) < len(rows):
            end = start + len(shown)
            note = f"\n[File content truncated: showing lines {start + 1}-{end} of {len(rows)} total lines. "
            note += f"Use offset={end} to read on.]"
        body = "\n".join(f"{number:>6}|{row}" for number, row in enumerate(shown, start + 1))
        return f"File: {path} ({len(rows)} lines)\n{body}{note}", False

    def _replace(self, args: dict[str, Any]) -> tuple[str, bool]:
        path, old, wanted = args["file_path"], args["old_string"], args["expected_replacements"]
        count = self.files[path].count(old)
        if count != wanted:
            return f"Failed to edit, expected {wanted} occurrences but found {count} (lines 1).", True
        self.files[path] = self.files[path].replace(old, args["new_string"])
        return f"Successfully modified file: {path} ({count} replacements).", False

    def _write_file(self, args: dict[str, Any]) -> tuple[str, bool]:
        self.files[args["file_path"]] = args["content"]
        return f"Successfully created and wrote to new file: {args['file_path']}", False

    def _glob(self, args: dict[str, Any]) -> tuple[str, bool]:
        found = [path for path in self.files if fnmatch.fnmatch("/" + path, "*" + args["pattern"].removeprefix("**"))]
        if not found:
            return f'No files found matching pattern "{args["pattern"]}"', False
        return "\n".join([f'Found {len(found)} file(s) matching "x":', *found]), False

    def _list_directory(self, args: dict[str, Any]) -> tuple[str, bool]:
        folders = sorted({path.split("/")[0] for path in self.files if "/" in path})
        files = sorted(path for path in self.files if "/" not in path)
        listed = [*(f"[DIR] {name}" for name in folders), *(f"{name} (12 bytes)" for name in files)]
        return "\n".join(["Directory listing for .:", *listed]) + "\n\n(2 ignored)", False

    def _run_shell_command(self, args: dict[str, Any]) -> tuple[str, bool]:
        code = f"\nExit Code: {self.exit_code}" if self.exit_code else ""
        output = f"Output: Exit Code: 9\nran it{code}\nProcess Group PGID: 77"
        return f"<untrusted_context>\n{output}\n</untrusted_context>", False

    def _write_todos(self, args: dict[str, Any]) -> tuple[str, bool]:
        return "Successfully updated the todo list.", False

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


@pytest.mark.parametrize(
    "prompt",
    [
        'replace "cat" with "dog" in a.txt and b.txt',
        "please replace cat with dog in a.txt and b.txt.",
        "Could you change all occurrences of cat to dog in a.txt, b.txt please?",
        "replace cat in a.txt and b.txt with dog",
        "Replace `cat` by 'dog' in the files a.txt and b.txt",
        "replace “cat” with “dog” in *.txt",
    ],
)
async def test_replacing_in_two_files_is_one_edit_a_file(prompt: str) -> None:
    project = Project(a_dot_txt="cat cat\ncat\n", b_dot_txt="a cat\n", c_dot_py="cat\n")
    said = await project.ask(prompt)
    assert project.names() == ["search_file_content", "replace", "replace"]
    assert [args["expected_replacements"] for name, args in project.calls if name == "replace"] == [3, 1]
    assert project.files == {"a.txt": "dog dog\ndog\n", "b.txt": "a dog\n", "c.py": "cat\n"}
    assert "2 files" in said
    assert "`a.txt`: 3 places" in said


async def test_a_word_leaves_longer_words_alone() -> None:
    project = Project(a_dot_txt="cat concat\nx\ncat\n", b_dot_txt="cat\n")
    await project.ask("replace the word cat with dog everywhere")
    assert project.files == {"a.txt": "dog concat\nx\ndog\n", "b.txt": "dog\n"}
    assert project.names() == ["search_file_content", "read_file", "read_file", "replace", "replace"]


async def test_renaming_takes_whole_names_only_and_reads_to_the_end() -> None:
    text = "def run():\n    pass\n\n\nrunner = run\n" + "x = 1\n" * 20 + "run()\nrun()\n"
    project = Project(src__a_dot_py=text, b_dot_py="run = 1\n")
    project.page = 7
    said = await project.ask("rename the function run to start in src/a.py")
    assert project.files["src/a.py"] == re.sub(r"\brun\b", "start", text)
    assert project.files["b.py"] == "run = 1\n"
    assert "4 places" in said


async def test_a_wrong_count_is_corrected_once() -> None:
    project = Project(a_dot_txt="cat cat\n")
    long = project._search_file_content
    project._search_file_content = lambda args: (long(args)[0].replace("cat cat", "cat …"), False)  # type: ignore[method-assign]  # a line that was cut
    await project.ask("replace cat with dog")
    assert project.files == {"a.txt": "dog dog\n"}
    assert project.names() == ["search_file_content", "replace", "replace"]


async def test_a_rejected_edit_is_told() -> None:
    project = Project(a_dot_txt="cat\n")
    project.denied = {"replace"}
    said = await project.ask("replace cat with dog in a.txt, z.txt")
    assert said.startswith("Nothing was changed.")
    assert "rejected" in said
    assert "`z.txt`: `cat` is not there" in said


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("replace bird with dog", "`bird` does not stand in this project"),
        ("replace cat with cat", "Nothing to do"),
        ('replace "a\\nb" with c', "within one line"),
        ("rename a.txt to b.txt", "run mv"),
        ("rename cat to cat", "already has that name"),
        ("create x.txt", "What shall `x.txt` hold?"),
        ("outline", "Which file?"),
        ("todo done 7", "No item is meant"),
        ("todo", "empty"),
    ],
)
async def test_what_can_not_be_done_changes_nothing(prompt: str, words: str) -> None:
    project = Project(a_dot_txt="cat\n")
    assert words in await project.ask(prompt)
    assert project.files == {"a.txt": "cat\n"}


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        ("create n.txt with hello world", "hello world\n"),
        ("create a new file called n.txt containing \"a\\n'b'\"", "a\n'b'\n"),
        ("please write n.txt with:\n\n    x = 1\ny\n", "    x = 1\ny\n"),
        ("make file n.txt\n```python\nprint('`')\n```", "print('`')\n"),
        ("create n.txt: one", "one\n"),
    ],
)
async def test_creating_a_file(prompt: str, content: str) -> None:
    project = Project()
    assert "Wrote `n.txt`" in await project.ask(prompt)
    assert project.files == {"n.txt": content}


async def test_finding_text_and_files() -> None:
    project = Project(a_dot_py="# TODO: one\nx\n", b_dot_md="todo two\n")
    said = await project.ask("find todo")
    assert "2 matches" in said
    assert "     1  # TODO: one" in said
    assert "1 match for `TODO` in 1 file" in await project.ask("search for TODO in all python files")
    assert "1 file:\n\n```\nb.md\n```" in await project.ask("find files *.md")
    assert "No file matches" in await project.ask("find *.rs")
    assert "does not stand in `b.md`" in await project.ask('find "TODO: one" in b.md')


async def test_showing() -> None:
    project = Project(a_dot_py="one\ntwo\n```\n", src__b_dot_py="")
    assert await project.ask("show me a.py") == "`a.py`:\n\n````python\none\ntwo\n```\n````"
    assert "(lines 2 to 2)" in await project.ask("show a.py line 2")
    assert "not found" in await project.ask("show z.py")
    assert "src/\na.py" in await project.ask("ls")


async def test_outlines() -> None:
    project = Project(
        a_dot_py="class A:\n    def f(self): ...\n\nasync def g(): ...\n",
        b_dot_js="export class B {\n  go(x) {\n  }\n}\nconst h = (x) => x\n",
        c_dot_go="type T struct {}\nfunc (t *T) Run() {\n",
        d_dot_py="def broken(:\n",
        e_dot_md="# One\n## Two\n",
    )
    said = await project.ask("outline a.py, b.js, c.go, d.py and e.md")
    for row in (
        "     1  class A\n     2    method f\n     4  function g",
        "     1  class B\n     2    method go\n     5  function h",
        "     1  type T\n     2  function Run",
        "     1  definition broken",
        "     1  heading One\n     2    heading Two",
    ):
        assert row in said


async def test_running_takes_the_command_as_it_stands() -> None:
    project = Project()
    assert await project.ask("run ls -la .") == "`ls -la .` is done.\n\n```\nExit Code: 9\nran it\n```"
    assert project.calls == [("run_shell_command", {"command": "ls -la ."})]
    project.exit_code = 3
    assert "ended with exit code 3" in await project.ask("run `false`")
    project._run_shell_command = lambda args: ("Moved to the background.", False)  # type: ignore[method-assign]  # a slow one
    assert "`sleep 99` goes on." in await project.ask("run sleep 99")


@pytest.mark.parametrize(
    ("files", "command"),
    [
        (("pyproject.toml", "tests/x.py"), "python3 -m pytest -q"),
        (("test_a.py",), "python3 -m pytest -q"),
        (("package.json",), "npm test"),
        (("Cargo.toml", "Makefile"), "cargo test"),
        (("go.mod",), "go test ./..."),
        (("Makefile",), "make test"),
    ],
)
async def test_tests_are_run_with_what_the_project_uses(files: tuple[str, ...], command: str) -> None:
    project = Project()
    project.files = dict.fromkeys(files, "")
    await project.ask("please run all the tests.")
    assert project.calls[-1][1]["command"] == command


async def test_no_tests() -> None:
    assert "no tests that I know" in await Project(a_dot_txt="").ask("test")


async def test_the_todo_list_is_kept_over_prompts() -> None:
    project = Project()
    await project.ask("todo add buy milk")
    await project.ask("todo add sell milk")
    await project.ask("todo start 2")
    said = await project.ask("todo done buy")
    assert "  1  done     buy milk\n  2  now      sell milk" in said
    project.denied = {"write_todos"}
    assert "not changed" in await project.ask("todo add third")
    assert "third" not in await project.ask("show the todo list")


@pytest.mark.parametrize("prompt", ["help", "hello", "who are you?", "?"])
async def test_it_says_what_it_is_and_how_to_connect_a_model(prompt: str) -> None:
    said = await Project().ask(prompt)
    assert "offline assistant" in said
    assert "GEMINI_API_KEY" in said
    for verb in VERBS:
        assert all(f"`{usage}`" in said for usage in verb.usage)


async def test_every_documented_use_is_understood() -> None:
    for verb in VERBS:
        for usage in verb.usage:
            step = play(plan_for(Scene(usage)), ())
            said = step if isinstance(step, str) else ""
            assert "don't understand" not in said, usage


@pytest.mark.parametrize(
    ("prompt", "near"),
    [("serch for foo", "find"), ("renam a b", "rename"), ("explain life", "`help`"), ("executte x", "run")],
)
async def test_unknown_words_get_the_nearest_command(prompt: str, near: str) -> None:
    said = await Project().ask(prompt)
    assert near in said.split("To connect")[0]
    assert "don't understand" in said


@given(
    st.lists(
        st.sampled_from(
            ["replace", "find", "in", "to", "with", "test", "the", '"', "'", "`", "a.py", "\\", "all", "todo"]
        ),
        max_size=600,
    )
)
async def test_any_prompt_has_an_answer(words: list[str]) -> None:
    step = play(plan_for(Scene(" ".join(words))), ())
    assert isinstance(step, Ask) or step


@given(st.text(max_size=40), st.text(max_size=40))
async def test_quoted_texts_arrive_as_they_stand(old: str, new: str) -> None:
    quoted = [text for text in (old, new) if not {"'", "\n"} & set(text) and text]
    if len(quoted) == 2 and old != new:
        step = play(plan_for(Scene(f"replace '{old}' with '{new}' in a.py")), ())
        assert isinstance(step, Ask)
        (wish,) = step.calls
        assert isinstance(wish, Wish)
        assert wish.args["pattern"] == old
