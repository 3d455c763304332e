"""`/theme`, `/model`, `/mode`, `/settings` and `/keys`: what can be chosen, tried out and kept."""

from __future__ import annotations

import asyncio
import contextlib
import os
from difflib import get_close_matches

from app.commands.registry import Command, command
from app.keymap import load_keymap
from app.services.choosing import choose
from app.services.settings_view import SettingsView, choices_of, shown_value
from app.stage import Stage
from app.themes import PREFERRED
from core.contract.errors import StetError
from core.contract.events import ApprovalMode, Notice
from core.model.catalogue import choose_provider
from core.model.openai import list_models
from core.model.openai_access import openai_access
from core.model.pricing import known_models
from core.settings.catalogue import SettingRow, find_nearest, help_texts, setting_rows
from widgets.choice.screen import ChoiceScreen
from widgets.prompt.candidates import Candidate

_MODES = {
    ApprovalMode.DEFAULT: "ask before edits and commands",
    ApprovalMode.AUTO_EDIT: "edits run without asking, commands ask",
    ApprovalMode.PLAN: "nothing is changed: read, search, plan",
    ApprovalMode.YOLO: "everything runs without asking, but for what a rule denies",
}


async def _tell(stage: Stage, text: str) -> None:
    await stage.engine.bus.publish(Notice(text))


def _theme_names(stage: Stage, before: str = "") -> list[Candidate]:
    known = [*PREFERRED, *sorted(set(stage.app.available_themes) - set(PREFERRED))]
    return [] if before else [Candidate(name, _theme_hint(stage, name)) for name in known]


@command("theme", arguments="[NAME]", choices=_theme_names)
async def set_theme(stage: Stage, arguments: str) -> None:
    """Choose the colours: each theme is tried out while it is marked, and the one taken is kept.

    With a name the theme is used until the end of the session.
    """
    await _choose_theme(stage, arguments)


async def _choose_theme(stage: Stage, arguments: str) -> None:
    app = stage.app
    candidates = _theme_names(stage)
    if arguments:
        known = [each.text for each in candidates]
        if arguments not in known:
            near = get_close_matches(arguments, known, 3, 0.4) or known[:3]
            raise StetError(
                f"There is no theme {arguments!r}.", f"Did you mean {' or '.join(near)}? /theme shows all {len(known)}."
            )
        app.theme = arguments
        return

    def try_out(name: str) -> None:
        app.theme = name

    chosen = await choose(app, ChoiceScreen("Theme", candidates, current=app.theme, try_out=try_out))
    if chosen is not None:
        app.theme = chosen
        await _keep(stage, "ui.theme", chosen)


def _theme_hint(stage: Stage, name: str) -> str:
    theme = stage.app.available_themes[name]
    kind = "the terminal's own colours" if theme.ansi else "dark" if theme.dark else "light"
    kind += ", high contrast" if name.endswith("contrast") else ""
    return f"{kind}, in use" if name == stage.app.theme else kind


def _modes(stage: Stage, before: str = "") -> list[Candidate]:
    return [] if before else [Candidate(mode.value, text) for mode, text in _MODES.items()]


@command("mode", arguments="[default|auto_edit|plan|yolo]", choices=_modes)
async def set_mode(stage: Stage, arguments: str) -> None:
    """Choose what runs without asking."""
    now = stage.engine.policy.mode
    if not arguments:
        arguments = await choose(stage.app, ChoiceScreen("Approval mode", _modes(stage), current=now.value)) or ""
        if not arguments:
            return
    try:
        mode = ApprovalMode(arguments)
    except ValueError:
        raise StetError(f"There is no mode {arguments!r}.", f"Modes: {', '.join(ApprovalMode)}.") from None
    await stage.engine.set_mode(mode)
    if mode is ApprovalMode.YOLO:
        await _tell(stage, "Edits and commands now run without asking, but for those that a rule denies.")


def _busy(stage: Stage) -> str:
    return "the agent is at work" if stage.engine.agent.is_busy else ""


async def _served_models() -> list[str]:
    """Return the models of the OpenAI-compatible server, if there is one that names them in time."""
    with contextlib.suppress(StetError):
        access = openai_access(os.environ)
        return [f"openai/{name}" for name in await list_models(access)] if access is not None else []
    return []


@command("model", arguments="[PROVIDER/NAME]", unavailable=_busy)
async def set_model(stage: Stage, arguments: str) -> None:
    """Choose the model that goes on with the session."""
    engine = stage.engine
    now = f"{engine.agent.provider.name}/{engine.agent.provider.model}"
    if not arguments:
        served = await _served_models()
        names = dict.fromkeys([now, *(f"gemini/{name}" for name in known_models()), *served, "offline"])
        candidates = [Candidate(name, "in use" if name == now else "") for name in names]
        help = "Others by name: /model PROVIDER/NAME"
        arguments = await choose(stage.app, ChoiceScreen("Model", candidates, current=now, help=help)) or ""
        if not arguments or arguments == now:
            return
    await engine.use_provider(await asyncio.to_thread(choose_provider, arguments, engine.settings, os.environ))


def _setting_words(stage: Stage, before: str) -> list[Candidate]:
    """Return the keys, or the values that the key before takes."""
    if not before:
        texts = help_texts()
        return [Candidate(row.key, texts.get(row.key, "")) for row in setting_rows()]
    row = next((row for row in setting_rows() if row.key == before), None)
    if row is None:
        return []
    default = shown_value(row.default)
    return [Candidate(each, "the default" if each == default else "") for each in choices_of(row)]


@command("settings", aliases=("config",), arguments="[KEY [VALUE]]", choices=_setting_words)
async def show_settings(stage: Stage, arguments: str) -> None:
    """See and change the settings.

    Alone it shows all of them with their values and where each came from; with a key it asks for the value, with a
    value it writes it to your settings file.
    """
    key, _, value = arguments.partition(" ")
    view = SettingsView(stage)
    if not key:
        if await view.show() == "theme":
            await _choose_theme(stage, "")
        return
    row = next((row for row in setting_rows() if row.key == key), None)
    if row is None:
        nearest = find_nearest(tuple(key.split(".")))
        raise StetError(
            f"There is no setting {key!r}.", f"Did you mean {nearest}?" if nearest else "/settings shows all of them."
        )
    typed = value.strip() or await choose(stage.app, await asyncio.to_thread(_ask_value, view, row))
    if typed is not None:
        stage.app.notify(await view.keep(row.key, typed), markup=False)


def _ask_value(view: SettingsView, row: SettingRow) -> ChoiceScreen:
    line = next(line for line in view.read_lines() if line.key == row.key)
    if line.choices:
        candidates = [Candidate(each, "the default" if each == line.default else "") for each in line.choices]
        return ChoiceScreen(row.key, candidates, current=line.value, help=line.help)
    return ChoiceScreen(row.key, [], help=f"{line.help} ({line.takes})", typed=line.value, free=True)


async def _keep(stage: Stage, key: str, typed: str) -> None:
    """Write a setting to the user's file, and say so."""
    stage.app.notify(await SettingsView(stage).keep(key, typed), markup=False)


@command("vim", arguments="[on|off]")
async def toggle_vim(stage: Stage, arguments: str) -> None:
    """Use vi's keys in the prompt, or no longer; it is kept."""
    prompt = stage.workspace.prompt
    if arguments not in ("", "on", "off"):
        raise StetError(f"/vim knows no {arguments!r}.", "Use /vim on or /vim off; /vim alone turns them on or off.")
    prompt.use_vim(arguments == "on" if arguments else not prompt.uses_vim)
    await _keep(stage, "prompt.vim", str(prompt.uses_vim).lower())


@command("keys")
async def show_keys(stage: Stage, arguments: str) -> None:
    """All keys, and where to change them."""
    path = stage.engine.folders.config / "keys.toml"
    keymap = await asyncio.to_thread(load_keymap, path)
    lines = [f'Keys are changed in {path}, a line each: "prompt.send" = "ctrl+x" or a list of keys.']
    lines += [f"Changed: {action} = {', '.join(keys) or 'none'}" for action, keys in keymap.keys.items()]
    lines += [str(problem) for problem in keymap.problems]
    await _tell(stage, "\n".join(lines))
    await stage.app.dispatch.perform("app.help")


COMMANDS: tuple[Command[Stage], ...] = (set_theme, set_mode, set_model, show_settings, toggle_vim, show_keys)
