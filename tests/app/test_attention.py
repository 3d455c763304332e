"""Copying and calling the user back: exactly these bytes go to the terminal, by every route."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path

import pytest
from textual import events

from app.presenters.attention import notification
from app.services.clipboard import MAX_OSC52, copy_text
from app.services.terminal_writing import osc52, passed_through
from core.settings.models import UiSettings
from tests.app.running import Running, running

pytestmark = pytest.mark.anyio

TEXT = "naïve\t日本 \x1b]0;x\x07 end"


def test_the_clipboards_sequence_holds_the_text_byte_for_byte() -> None:
    (body,) = re.fullmatch("\x1b\\]52;c;([A-Za-z0-9+/=]*)\x07", osc52(TEXT)).groups()  # type: ignore[union-attr]  # a test
    assert base64.b64decode(body).decode() == TEXT


@pytest.mark.parametrize("length", [10, 5_000])
def test_a_wrapped_sequence_comes_out_whole(length: int) -> None:
    sequence = osc52("x" * length)
    tmux = passed_through(sequence, {"TMUX": "/tmp/t,1,0"})
    assert tmux.startswith("\x1bPtmux;") and tmux.endswith("\x1b\\")
    assert tmux[7:-2].replace("\x1b\x1b", "\x1b") == sequence
    pieces = re.findall("\x1bP(.*?)\x1b\\\\", passed_through(sequence, {"STY": "1.x"}), re.DOTALL)
    assert "".join(pieces) == sequence
    assert max(map(len, pieces)) < 768
    assert passed_through(sequence, {}) == sequence


@pytest.mark.parametrize("term", ["xterm-256color", "foot"])
def test_a_notification_carries_no_control_character_of_the_text(term: str) -> None:
    sent = notification("a;b\x1b]52;c;eA==\x07\n" + "x" * 999, {"TERM": term})
    assert sent[0] == "\x07"
    assert not set(sent[3:-2]) & {"\x1b", "\x07", "\n"}
    assert len(sent) < 300


@pytest.mark.parametrize(
    ("way", "term", "sent"),
    [
        ("auto", "xterm", "\x07\x1b]9;done\x07"),
        ("auto", "foot", "\x07\x1b]777;notify;stet;done\x1b\\"),
        ("bell", "foot", "\x07"),
        ("osc9", "foot", "\x1b]9;done\x07"),
        ("osc777", "xterm", "\x1b]777;notify;stet;done\x1b\\"),
    ],
)
def test_it_calls_as_the_setting_says(way: str, term: str, sent: str) -> None:
    assert notification("done", {"TERM": term}, way) == sent


@pytest.mark.parametrize(("written", "meant"), [(True, "auto"), (False, "off"), ("bell", "bell")])
def test_the_setting_is_a_switch_too(written: object, meant: str) -> None:
    assert UiSettings.model_validate({"notifications": written}).notifications == meant


def written(stet: Running, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    assert stet.app._driver is not None
    monkeypatch.setattr(stet.app._driver, "write", found.append)
    return found


async def test_the_toast_is_honest_about_the_route(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMUX", "STY", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SSH_CONNECTION", "somewhere")
    async with running(project) as stet:
        sent = written(stet, monkeypatch)
        await copy_text(stet.app, TEXT, "the answer")
        assert osc52(TEXT) in sent
        await stet.shows("OSC 52, unverified")
        sent.clear()
        await copy_text(stet.app, "y" * (MAX_OSC52 + 1), "the answer")
        assert not any("52;c" in each for each in sent)
        await stet.shows("too long")
        (said,) = [each.message for each in stet.app._notifications if "too long" in each.message]
        path = Path(said.rpartition(" ")[2])
        assert path.read_text() == "y" * (MAX_OSC52 + 1)
        path.unlink()


async def test_the_toast_names_a_native_tool_or_tmux_only_where_they_took_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("xclip", "tmux"):
        (folder / name).write_text(f'#!/bin/sh\ncat >"{tmp_path}/{name}.got"\ntest ! -e "{tmp_path}/fails"\n')
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    for name in ("SSH_CONNECTION", "STY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("TMUX", "/tmp/t,1,0")
    async with running(project) as stet:
        sent = written(stet, monkeypatch)

        async def said(what: str) -> str:
            sent.clear()
            await copy_text(stet.app, TEXT, what)
            await stet.until(lambda: any(f"Copied {what}," in each.message for each in stet.app._notifications), "it")
            (message,) = [each.message for each in stet.app._notifications if f"Copied {what}," in each.message]
            return message

        assert (await said("first")).endswith("by xclip.")
        assert (tmp_path / "xclip.got").read_text() == TEXT and not any("52;c" in each for each in sent)
        monkeypatch.delenv("DISPLAY")
        assert "in tmux's buffer" in await said("second")
        assert (tmp_path / "tmux.got").read_text() == TEXT and passed_through(osc52(TEXT), os.environ) in sent
        (tmp_path / "fails").touch()
        assert "tmux" not in await said("third")
        assert any("52;c" in each for each in sent)
        monkeypatch.setenv("PATH", str(tmp_path / "empty"))
        assert "tmux" not in await said("fourth")
        assert any("52;c" in each for each in sent)


async def test_the_end_of_a_turn_calls_only_where_nobody_looks(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(project) as stet:
        sent = written(stet, monkeypatch)
        await stet.prompt("hello")
        await stet.idle()
        assert not any("\x1b]9;" in each for each in sent)
        stet.app.post_message(events.AppBlur())
        await stet.pilot.pause()
        assert not stet.app.app_focus
        await stet.engine.run_prompt("hello")
        await stet.until(lambda: any("The turn is over" in each for each in sent), "the call")
        stet.app.post_message(events.AppFocus())
        await stet.until(lambda: any("\x1b[23;2t" in each for each in sent), "the title given back")
