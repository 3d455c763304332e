"""The settings of a session as the settings screen shows them; what is changed there is kept, and holds if it can."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from typing import Any

from app.stage import Stage
from core.settings.catalogue import SettingRow, describe_type, find_row, help_texts, setting_rows
from core.settings.load import LoadedSettings, load_settings
from core.settings.save import reset_setting, save_setting
from core.workspace.paths import path_from_home
from widgets.settings.screen import BUILT_IN, SettingLine, SettingsScreen
from widgets.transcript.view import TranscriptView

_COMMANDS = {"ui.theme": "theme"}
_SOURCES = {"default": BUILT_IN, "environment": "environment", "command line": "flag"}


class SettingsView:
    """Opens the screen, and keeps what is changed in it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    async def show(self) -> str:
        """Show the screen and return the command that is to be run after it; empty for none."""
        decided: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def decide(command: str | None) -> None:
            if not decided.done():
                decided.set_result(command or "")

        where = path_from_home(self._stage.engine.folders.settings_file)
        screen = SettingsScreen(self.lines, self.keep, where=where)
        self._stage.app.push_screen(screen, decide)
        try:
            return await decided
        except asyncio.CancelledError:
            if screen.is_current:
                screen.dismiss("")
            raise

    def load(self) -> LoadedSettings:
        """Read the settings as they stand in the files now. Blocks."""
        engine = self._stage.engine
        options = engine.options
        return load_settings(
            engine.folders, os.environ, project=options.directory, trusted=options.trust, flags=options.flags()
        )

    async def lines(self) -> Sequence[SettingLine]:
        """Return all settings."""
        return await asyncio.to_thread(self.read_lines)

    def read_lines(self) -> list[SettingLine]:
        """As `lines`. Blocks."""
        loaded, texts = self.load(), help_texts()
        lines = []
        for row in setting_rows():
            group = ".".join(row.path[:-1])
            lines.append(
                SettingLine(
                    row.key,
                    shown_value(_value_of(loaded.settings, row)),
                    self._source(loaded.origins.get(row.key, "default")),
                    texts.get(row.path[0], "").rstrip(".") if len(row.path) == 2 else group,
                    texts.get(row.key, ""),
                    describe_type(row),
                    shown_value(row.default),
                    choices_of(row),
                    _COMMANDS.get(row.key, ""),
                    "" if row.holds_at_once else "A change holds from the next start.",
                )
            )
        return lines

    def _source(self, origin: str) -> str:
        if origin in _SOURCES:
            return _SOURCES[origin]
        path, _, line = origin.rpartition(":")
        own = path == str(self._stage.engine.folders.settings_file)
        return f"{'your file' if own else 'the project'}:{line}" if path else origin

    async def keep(self, key: str, typed: str | None) -> str:
        """Write a setting to the user's file, or take it out there; let it hold where it can.

        Raises:
            StetError: it does not fit, or can't be written.
        """
        path = self._stage.engine.folders.settings_file
        if typed is None:
            await asyncio.to_thread(reset_setting, path, key)
            done = f"{key} is no longer set in {path}."
        else:
            value = await asyncio.to_thread(save_setting, path, key, typed)
            done = f"{key} = {json.dumps(value, ensure_ascii=False)} is kept in {path}."
        loaded = await asyncio.to_thread(self.load)
        self.take(loaded, key)
        if typed is not None and loaded.origins.get(key, "").rpartition(":")[0] != str(path):
            return f"It does not hold here: {loaded.origins.get(key, 'another file')} says otherwise. {done}"
        row = find_row(tuple(key.split(".")))
        return done if row is not None and row.holds_at_once else f"{done} It holds from the next start."

    def take(self, loaded: LoadedSettings, key: str) -> None:
        """Let the session follow a setting that was changed."""
        engine, app = self._stage.engine, self._stage.app
        engine.loaded = loaded
        engine.context.settings = loaded.settings
        ui = loaded.settings.ui
        chat = self._stage.workspace.query_one("#chat", TranscriptView)
        match key:
            case "ui.theme" if ui.theme in app.available_themes:
                app.theme = ui.theme
            case "ui.reduced_motion":
                app.animation_level = "none" if ui.reduced_motion else "full"
            case "ui.tool_output":
                chat.auto_open = ui.tool_output
            case "ui.group_reads":
                chat.groups = ui.group_reads
            case "prompt.vim":
                self._stage.workspace.prompt.use_vim(loaded.settings.prompt.vim)


def choices_of(row: SettingRow) -> tuple[str, ...]:
    """Return all that a setting can be, where that is little."""
    return row.choices or (("true", "false") if row.kinds[0] is bool else ())


def _value_of(settings: Any, row: SettingRow) -> Any:
    for step in row.path:
        settings = getattr(settings, step)
    return settings


def shown_value(value: Any) -> str:
    """Return a value as it is typed: a text without quotes, the rest as TOML and JSON have it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str)
