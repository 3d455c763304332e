"""Scripts: what the text form means, what is wrong with a bad one, and how a script plays."""

from __future__ import annotations

import json
import string
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.conversation import CallPart, Message, Part, ResultPart, Role, TextPart, ThoughtPart, user_message
from core.contract.errors import ModelError, ModelErrorKind, StetError
from core.contract.ids import CallId
from core.contract.model import CallChunk, FinishChunk, FinishReason, ModelRequest, StreamItem, TextChunk, ThoughtChunk
from core.contract.usage import Usage
from core.model.script import ScriptProvider, load_script, words_of
from core.model.script_parser import parse_script
from core.model.script_steps import Call

pytestmark = pytest.mark.anyio


def provider(text: str, speed: float = 0.0) -> ScriptProvider:
    return ScriptProvider(parse_script(text, "test.script"), speed=speed)


def request(*messages: Message, system: str = "") -> ModelRequest:
    return ModelRequest(messages or (user_message("hello"),), system)


def results(*found: tuple[str, str, bool]) -> Message:
    parts: list[Part] = [
        ResultPart(CallId(f"call-{n}"), name, text, failed) for n, (name, text, failed) in enumerate(found, 1)
    ]
    return Message(Role.USER, tuple(parts))


async def play(model: ScriptProvider, ask: ModelRequest | None = None) -> list[StreamItem]:
    async with model.stream(ask or request()) as items:
        return [item async for item in items]


async def finish(model: ScriptProvider, ask: ModelRequest | None = None) -> FinishChunk:
    last = (await play(model, ask))[-1]
    assert isinstance(last, FinishChunk)
    return last


def call_args(text: str) -> object:
    (action,) = parse_script(text, "t").steps[0].actions
    assert isinstance(action, Call)
    return dict(action.args)


async def test_text_streams_in_pieces_and_ends_with_the_whole() -> None:
    items = await play(provider("think Let me see.\nsay One two\nsay three\n"))
    assert [item.text for item in items if isinstance(item, ThoughtChunk)] == ["Let ", "me ", "see."]
    assert "".join(item.text for item in items if isinstance(item, TextChunk)) == "One two\nthree"
    assert isinstance(items[-1], FinishChunk)
    assert items[-1].reason is FinishReason.STOP
    assert items[-1].parts == (ThoughtPart("Let me see."), TextPart("One two\nthree"))


@given(st.text(alphabet=string.printable + "é汉", max_size=200))
async def test_pieces_join_to_the_text(text: str) -> None:
    assert "".join(words_of(text)) == text


async def test_calls_have_ids_of_their_own() -> None:
    model = provider('call glob {"pattern": "*"}\ncall glob {"pattern": "*"}\n---\ncall glob {}\n')
    first, second = await finish(model), await finish(model)
    ids = [part.id for part in (*first.parts, *second.parts) if isinstance(part, CallPart)]
    assert ids == ["call-1", "call-2", "call-3"]


async def test_arguments_in_every_form() -> None:
    assert call_args('call t {"a": [1, {"b": null}]}') == {"a": [1, {"b": None}]}
    assert call_args('call t {\n  "a": "x",\n  "b": 2\n}') == {"a": "x", "b": 2}
    plain = 'call t\n  path: a b.py\n  count: 3\n  number: "3"\n  flag: true\n'
    blocks = "  old: |\n    def f():\n\n      pass\n  new: |-\n    x\n"
    assert call_args(plain + blocks) == {
        "path": "a b.py",
        "count": 3,
        "number": "3",
        "flag": True,
        "old": "def f():\n\n  pass\n",
        "new": "x",
    }


@given(
    st.dictionaries(st.text(string.ascii_letters, min_size=1), st.text() | st.integers() | st.none() | st.booleans())
)
async def test_json_arguments_arrive_as_written(args: dict[str, object]) -> None:
    assert call_args("call t " + json.dumps(args)) == args


async def test_literal_text_and_quoted_text() -> None:
    model = provider('say |\n  # not a comment\n    deep\n\n  ---\nsay "\\u001b[31m"\n')
    (part,) = (await finish(model)).parts
    assert part == TextPart("# not a comment\n  deep\n\n---\n\x1b[31m")


CONDITIONS = """\
when result of glob contains "a.py"
  say found
else when result fails
  say failed
else when not prompt matches "^hel+o$"
  say other prompt
else when system contains "polite"
  say polite
else
  say else
"""


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (request(user_message("hello"), results(("glob", "a.py", False))), "found"),
        (request(user_message("hello"), results(("grep", "a.py", False), ("glob", "b", True))), "failed"),
        (request(user_message("bye")), "other prompt"),
        (request(user_message("hello"), system="be polite"), "polite"),
        (request(user_message("bye"), user_message("hello")), "else"),
    ],
)
async def test_conditions_choose(ask: ModelRequest, said: str) -> None:
    assert (await finish(provider(CONDITIONS), ask)).parts == (TextPart(said),)


async def test_conditions_nest() -> None:
    model = provider("when prompt contains hello\n  when prompt contains x\n    say x\n  else\n    say no x\nsay end\n")
    assert (await finish(model)).parts == (TextPart("no x\nend"),)


async def test_an_expectation_that_fails_names_file_line_and_what_was_found() -> None:
    model = provider('say ok\n---\n\nexpect result of glob contains "b"\n---\nexpect prompt contains hello\nsay fine\n')
    await play(model)
    with pytest.raises(ModelError, match=r'test.script:4: expected result of glob contains "b".*a\.py'):
        await play(model, request(user_message("x"), results(("glob", "a.py", False))))
    assert (await finish(model)).parts == (TextPart("fine"),)


async def test_errors_come_after_what_was_said() -> None:
    model = provider(
        'say partly\ncall glob {}\nerror rate_limited "slow down" retry_after=2.5\n---\nerror auth no key\n'
    )
    seen: list[StreamItem] = []
    with pytest.raises(ModelError, match="slow down") as caught:
        async with model.stream(request()) as items:
            async for item in items:
                seen.append(item)
    assert seen == [TextChunk("partly")]
    assert (caught.value.kind, caught.value.retryable, caught.value.retry_after) == ("rate_limited", True, 2.5)
    with pytest.raises(ModelError, match="no key") as caught:
        await play(model)
    assert (caught.value.kind, caught.value.retryable) == (ModelErrorKind.AUTH, False)


async def test_an_answer_that_was_cut_has_no_calls() -> None:
    items = await play(provider('say cut\ncall glob {}\nfinish length "too long"\n'))
    assert not [item for item in items if isinstance(item, CallChunk)]
    assert isinstance(items[-1], FinishChunk)
    assert (items[-1].reason, items[-1].parts, items[-1].detail) == ("length", (TextPart("cut"),), "too long")


async def test_arguments_that_could_not_be_read() -> None:
    call = next(
        item for item in await play(provider("call glob broken nested too deeply\n")) if isinstance(item, CallChunk)
    )
    assert (call.call.name, call.call.args, call.call.invalid) == ("glob", {}, "nested too deeply")


async def test_usage_is_as_written_or_estimated() -> None:
    model = provider("say a\nusage input=1200 output=40 thought=3 cached=1000\n---\nsay a\n")
    assert (await finish(model)).usage == Usage(1200, 40, 3, 1000, 1240)
    estimated = (await finish(model)).usage
    assert 0 < estimated.output_tokens < estimated.context_tokens


async def test_steps_repeat_and_end() -> None:
    model = provider("say a\n--- repeat 2\nsay b\n---\nsay c\n")
    assert [(await finish(model)).parts[0] for _ in "abbc"] == [TextPart(text) for text in "abbc"]
    with pytest.raises(ModelError, match="over after 4 steps"):
        await play(model)
    endless = provider("window 8000\n--- repeat forever\nsay more\n")
    assert endless.context_window == 8000
    assert {(await finish(endless)).parts for _ in range(20)} == {(TextPart("more"),)}


async def test_delays_scale_with_the_speed() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    script = parse_script("wait 3\nsay one two\n", "t")
    await play(ScriptProvider(script, speed=2.0, sleep=sleep))
    assert slept == [6.0, 0.04, 0.04]
    slept.clear()
    await play(ScriptProvider(script, speed=0.0, sleep=sleep))
    assert slept == [0.0, 0.0, 0.0]


async def test_waiting_for_ever_ends_with_cancellation() -> None:
    spoke = anyio.Event()

    async def listen() -> None:
        async with provider("say one\nwait forever\nsay two\n").stream(request()) as items:
            async for item in items:
                assert item == TextChunk("one")
                spoke.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        await spoke.wait()
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "no step"),
        ("say a\n---\n---\nsay b\n", 2, "empty"),
        ("say a\nsing b\n", 2, "'sing b' is no action"),
        ("say\n", 1, "nothing is said"),
        ("say |\nsay b\n", 1, "no indented lines"),
        ("call\n", 1, "without a tool's name"),
        ("call glob [1]\n", 1, "not a JSON object"),
        ('say a\ncall glob {"a": \n---\nsay b\n', 2, "not a JSON object"),
        ("call glob\n  pattern *\n", 2, "no argument"),
        ("say a\n  say b\n", 2, "indented by 2"),
        ("\tsay a\n", 1, "tab"),
        ("wait long\n", 1, "'long' is no number"),
        ("wait nan\n", 1, "'nan' is no number"),
        ("error odd x\n", 1, "'odd' is no kind of error"),
        ("error auth x later=3\n", 1, "'later' is unknown"),
        ("finish well\n", 1, "'well' is no reason"),
        ("usage tokens=3\n", 1, "'tokens' is no count"),
        ("usage lots\n", 1, "no usage"),
        ("else\n  say a\n", 1, "'else' without"),
        ("when answer contains x\n  say a\n", 1, "no condition"),
        ('when prompt matches "("\n  say a\n', 1, "no regular expression"),
        ('when prompt contains "x\n  say a\n', 1, "no JSON string"),
        ("when prompt contains x\nsay a\n", 1, "no indented actions"),
        ("when prompt contains x\n  say a\nelse if y\n  say b\n", 3, "no branch"),
    ],
)
async def test_a_bad_script_names_file_and_line(text: str, line: int, words: str) -> None:
    with pytest.raises(StetError) as caught:
        parse_script(text, "bad.script")
    assert caught.value.message.startswith(f"bad.script:{line}: ")
    assert words in caught.value.message
    assert caught.value.hint


@given(st.text(alphabet="say call when else prompt contains\n {}\"'|-#:\\", max_size=80))
async def test_any_text_is_a_script_or_an_error(text: str) -> None:
    try:
        parse_script(text, "t")
    except StetError as error:
        assert error.message.startswith("t:")


async def test_files_that_are_no_scripts(tmp_path: Path) -> None:
    with pytest.raises(StetError, match="Can't read the script"):
        load_script(tmp_path / "missing")
    (tmp_path / "latin").write_bytes(b"say caf\xe9\n")
    with pytest.raises(StetError, match="not UTF-8"):
        load_script(tmp_path / "latin")
    (tmp_path / "good").write_text("say café\r\n", "utf-8")
    assert load_script(tmp_path / "good").name == "good"


async def test_the_example_of_the_documentation_plays() -> None:
    page = Path(__file__).parents[3] / "docs" / "script.md"
    model = provider(page.read_text("utf-8").split("```")[1].removeprefix("\n"))
    first = await finish(model)
    assert first.parts[-1] == CallPart(CallId("call-1"), "list_directory", {"dir_path": "."})
    second = await finish(model, request(user_message("x"), results(("list_directory", "app.py", False))))
    call = second.parts[-1]
    assert isinstance(call, CallPart)
    assert call.args["new_string"] == 'def greet():\n    return "good morning"'
    third = await finish(model, request(user_message("x"), results(("replace", "ok", False))))
    assert third.usage == Usage(1200, 60, context_tokens=1260)
