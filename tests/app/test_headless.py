"""`stet -p`: what scripts get on standard output, and the exit codes that are their contract."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.exit_codes import ExitCode
from app.headless import exit_code_of
from core.bus.codec import decode
from core.contract.envelope import EPHEMERAL
from core.contract.errors import ModelErrorKind
from core.contract.events import MessageAdded, PromptSubmitted, TurnEnd, TurnFinished
from tests.app.commands_run import LIMIT, environment, stet

EDIT = 'call write_file {"file_path": "made.txt", "content": "hi\\n"}\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def script(project: Path, text: str) -> str:
    path = project.parent / "model.script"
    path.write_text(text, encoding="utf-8")
    return f"script/{path}"


def test_text_is_the_answer_and_nothing_else(project: Path) -> None:
    (project / "a.py").write_text("x = 1\n")
    text = 'think hm\nsay I look.\ncall read_file {"file_path": "a.py"}\n---\nsay The answer\nsay has two lines.'
    done = stet(project, "-p", "go", "--model", script(project, text))
    assert (done.returncode, done.stdout, done.stderr) == (0, "The answer\nhas two lines.\n", "")


def test_json_is_one_document(project: Path) -> None:
    text = 'call list_directory {"dir_path": "."}\n---\nsay done é\\\nusage input=7 output=3'.replace("\\", "")
    done = stet(project, "-p", "go", "--output-format", "json", "--model", script(project, text))
    document = json.loads(done.stdout)
    assert done.returncode == document["exit_code"] == 0
    assert document["response"] == "done é"
    assert [(call["name"], call["state"], call["error"]) for call in document["tool_calls"]] == [
        ("list_directory", "succeeded", None)
    ]
    assert document["usage"]["output_tokens"] >= 3
    assert document["error"] is None and document["schema_version"] == 1


def test_stream_json_is_the_sessions_own_sequence(project: Path) -> None:
    done = stet(project, "-p", "go", "--output-format", "stream-json", "--model", script(project, "say hello"))
    first, *lines = done.stdout.splitlines()
    assert json.loads(first)["schema_version"] == 1
    envelopes = [decode(line) for line in lines]
    payloads = [envelope.payload for envelope in envelopes]
    assert not any(isinstance(payload, EPHEMERAL) for payload in payloads)
    assert isinstance(payloads[0], PromptSubmitted)
    assert [payload.reason for payload in payloads if isinstance(payload, TurnFinished)] == [TurnEnd.DONE]
    assert [payload.message.text for payload in payloads if isinstance(payload, MessageAdded)] == ["go", "hello"]
    assert [envelope.seq for envelope in envelopes] == sorted(envelope.seq for envelope in envelopes)
    (record,) = (project.parent / "state" / "sessions").glob("*/*.jsonl")
    recorded = record.read_text("utf-8").splitlines()
    assert [line for line in recorded if line in lines] == lines


def test_piped_input_stands_before_the_prompt(project: Path) -> None:
    model = script(project, 'expect prompt matches "^one$"\nexpect prompt matches "^what is it.$"\nsay ok')
    done = stet(project, "-p", "what is it?", "--model", model, given="one\ntwo\n")
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr


def test_without_standard_input_it_runs_all_the_same(project: Path) -> None:
    assert stet(project, "-p", "go", "--model", script(project, "say ok"), given=None).stdout == "ok\n"
    closed = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -m stet -p go --model "{script(project, "say ok")}" <&-'],
        capture_output=True,
        text=True,
        cwd=project,
        env=environment(project.parent),
        timeout=LIMIT,
    )
    assert (closed.returncode, closed.stdout) == (0, "ok\n"), closed.stderr


@pytest.mark.parametrize(
    ("text", "options", "code", "said"),
    [
        ("error auth no", (), 3, "no"),
        ("error not_found no", (), 3, "no"),
        ("error quota no", (), 4, "no"),
        ("error rate_limited no retry_after=86400", (), 4, "no"),
        (f"{EDIT}---\nsay without it", (), 5, "write_file"),
        ("--- repeat forever\n" + 'call list_directory {"dir_path": "."}', ("--max-turns", "2"), 6, "limit"),
        ("error bad_request no", (), 7, "no"),
        ("finish blocked the word", (), 7, "the word"),
        ("say half\nerror connection gone", (), 7, "gone"),
    ],
)
def test_exit_codes(project: Path, text: str, options: tuple[str, ...], code: int, said: str) -> None:
    done = stet(project, "-p", "go", "--model", script(project, text), *options)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project / "made.txt").exists()


def test_a_turn_without_the_denied_tool_still_answers(project: Path) -> None:
    done = stet(project, "-p", "go", "--model", script(project, f"{EDIT}---\nsay without it"))
    assert (done.returncode, done.stdout) == (5, "without it\n")


def test_modes_decide_what_runs(project: Path) -> None:
    model = script(project, f"{EDIT}---\nsay it is made")
    assert stet(project, "-p", "go", "--model", model, "--approval-mode", "plan").returncode == 5
    assert not (project / "made.txt").exists()
    assert stet(project, "-p", "go", "--model", model, "--approval-mode", "auto_edit").returncode == 0
    assert (project / "made.txt").read_text() == "hi\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("-p", ""), 2, "empty"),
        (("-p", "go", "--modle", "x"), 2, "--model"),
        (("-p", "go", "--approval-mode", "often"), 2, "auto_edit"),
        (("-p", "go", "--max-turns", "0"), 2, "at least 1"),
        (("-p", "go", "--max-cost", "nan"), 2, "positive"),
        (("nowhere", "-p", "go"), 2, "nowhere is not a directory"),
        (("-p", "go", "--include-directory", "nowhere"), 2, "nowhere"),
        (("-p", "go", "--resume", "nosuch"), 2, "nosuch"),
        (("-p", "go", "--model", "nosuch/x"), 3, "nosuch/x"),
        (("-p", "go", "--model", "gemini/gemini-2.5-pro"), 3, "GEMINI_API_KEY"),
        (("-p", "go", "--model", "script/nowhere"), 3, "nowhere"),
        ((), 2, "no terminal"),
        (("--output-format", "json"), 2, "-p"),
    ],
)
def test_what_cannot_run_says_why(project: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = stet(project, *arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr and done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("output_format", ["json", "stream-json"])
@pytest.mark.parametrize(("model", "code"), [("nosuch/x", 3), ("script/nowhere", 3)])
def test_a_failure_is_json_where_json_was_asked_for(project: Path, output_format: str, model: str, code: int) -> None:
    done = stet(project, "-p", "go", "--output-format", output_format, "--model", model)
    document = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == document["exit_code"] == code
    assert document["error"]["message"] and document["schema_version"] == 1


def test_a_models_failure_is_in_the_document(project: Path) -> None:
    done = stet(project, "-p", "go", "--output-format", "json", "--model", script(project, "error auth refused"))
    document = json.loads(done.stdout)
    assert done.returncode == document["exit_code"] == 3
    assert (document["error"]["kind"], document["error"]["message"]) == ("auth", "refused")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_turn_with_130(project: Path, number: signal.Signals) -> None:
    model = script(project, "say begun\nwait forever")
    with subprocess.Popen(
        [sys.executable, "-m", "stet", "-p", "go", "--output-format", "stream-json", "--model", model],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=project,
        env=environment(project.parent),
    ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any("begun" in line for line in lines)
        process.send_signal(number)
        rest = list(lines)
        assert process.wait(LIMIT) == 130
    ends = [envelope.payload for envelope in map(decode, rest) if isinstance(envelope.payload, TurnFinished)]
    assert [end.reason for end in ends] == [TurnEnd.INTERRUPTED]


def test_a_reader_that_goes_away_is_no_traceback(project: Path) -> None:
    model = script(project, "say " + "word " * 200)
    done = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m stet -p go --output-format stream-json --model "{model}" | head -n 1'],
        capture_output=True,
        text=True,
        cwd=project,
        env=environment(project.parent),
        timeout=LIMIT,
    )
    assert json.loads(done.stdout)["schema_version"] == 1
    assert done.stderr == ""


def test_a_full_disk_under_standard_output_ends_the_turn(project: Path) -> None:
    model = script(project, "say word\nwait forever")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "stet", "-p", "go", "--output-format", "stream-json", "--model", model],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=project,
            env=environment(project.parent),
            timeout=LIMIT,
        )
    assert done.returncode == 7
    assert done.stderr == "stet: standard output can't be written: No space left on device\n"


def test_a_bug_is_a_sentence_and_the_traceback_is_in_the_log(project: Path) -> None:
    shim = project.parent / "shim"
    shim.mkdir()
    (shim / "sitecustomize.py").write_text("import sys\nsys.modules['app.bootstrap'] = None\n")
    path = f"{environment(project)['PYTHONPATH']}{os.pathsep}{shim}"
    done = stet(project, "-p", "go", PYTHONPATH=path)
    assert (done.returncode, done.stdout) == (1, "")
    log = project.parent / "state" / "logs" / "stet.log"
    assert done.stderr.startswith("stet: internal error: ModuleNotFoundError") and str(log) in done.stderr
    assert "Traceback" not in done.stderr and "Traceback" in log.read_text()


def test_a_session_goes_on_headless(project: Path) -> None:
    model = script(project, "say noted")
    assert stet(project, "-p", "remember 7", "--model", model).returncode == 0
    model = script(project, 'expect prompt contains "what"\nsay seven')
    assert stet(project, "-p", "what?", "--model", model, "--resume").stdout == "seven\n"
    (record,) = (project.parent / "state" / "sessions").glob("*/*.jsonl")
    assert os.stat(record).st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("end", "failure", "denied", "code"),
    [
        (TurnEnd.DONE, None, False, ExitCode.DONE),
        (TurnEnd.DONE, None, True, ExitCode.DENIED),
        (TurnEnd.INTERRUPTED, None, True, ExitCode.INTERRUPTED),
        (TurnEnd.LOOP, None, False, ExitCode.LIMIT),
        (TurnEnd.COST_LIMIT, None, False, ExitCode.LIMIT),
        (TurnEnd.FAILED, "", False, ExitCode.INTERNAL),
        *((TurnEnd.FAILED, kind, False, ExitCode.FAILED) for kind in ("server", "timeout", "empty", "malformed")),
    ],
)
def test_every_end_has_its_code(end: TurnEnd, failure: str | None, denied: bool, code: ExitCode) -> None:
    assert exit_code_of(end, failure=failure, denied=denied) is code


def test_every_kind_of_failure_has_a_code() -> None:
    codes = {kind: exit_code_of(TurnEnd.FAILED, failure=kind) for kind in ModelErrorKind}
    assert set(codes.values()) == {ExitCode.NO_MODEL, ExitCode.QUOTA, ExitCode.FAILED}
