"""Saving a setting keeps everything else of the file, and refuses what could not be loaded again."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.errors import StetError
from core.settings import save
from core.settings.save import save_setting

KEPT = """\
# my settings
[ui]   # looks
theme = "paper"  # for the day
mouse = true

[tools]
shell = { timeout = 5, on_timeout = "kill" } # careful
"""


@pytest.mark.parametrize(
    ("key", "typed", "old", "new"),
    [
        ("ui.theme", "night", 'theme = "paper"  #', 'theme = "night"  #'),
        ("ui.mouse", "off", "mouse = true", "mouse = false"),
        ("ui.reduced_motion", "yes", "[ui]   # looks\n", "[ui]   # looks\nreduced_motion = true\n"),
        ("tools.shell.timeout", "7.5", "timeout = 5", "timeout = 7.5"),
        ("tools.ignore_path_filter", "*.pem", "[tools]\n", '[tools]\nignore_path_filter = [\n    "*.pem",\n]\n'),
        ("agent.max_turns", "3", '"kill" } # careful\n', '"kill" } # careful\n\n[agent]\nmax_turns = 3\n'),
    ],
)
def test_only_the_setting_changes(tmp_path: Path, key: str, typed: str, old: str, new: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(KEPT)
    save_setting(file, key, typed)
    assert file.read_text() == KEPT.replace(old, new)


def test_a_missing_file_is_made_in_a_private_folder(tmp_path: Path) -> None:
    file = tmp_path / "config" / "stet" / "settings.toml"
    former = os.umask(0)
    try:
        assert save_setting(file, "ui.mouse", "false") is False
    finally:
        os.umask(former)
    assert file.read_text() == "[ui]\nmouse = false\n"
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_a_link_stays_a_link_and_the_mode_is_kept(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("")
    real.chmod(0o640)
    link = tmp_path / "settings.toml"
    link.symlink_to(real)
    save_setting(link, "ui.theme", "night")
    assert link.is_symlink()
    assert real.read_text() == '[ui]\ntheme = "night"\n'
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("text", "key", "typed", "message"),
    [
        (KEPT, "ui.them", "x", "There is no setting ui.them.\nDid you mean ui.theme?"),
        (KEPT, "zzz", "x", "There is no setting zzz.\n`stet config show` lists all settings."),
        (KEPT, "ui", "x", "There is no setting ui."),
        (KEPT, "agent.max_turns", "0", "agent.max_turns = 0: expected a whole number, at least 1"),
        (KEPT, "agent.max_turns", "many", 'agent.max_turns = "many": expected a whole number, at least 1'),
        ("[ui\n", "ui.theme", "x", "Mend the file first; nothing was written."),
        ("ui = 3\n", "ui.theme", "x", "ui is a value, not a table, in this file."),
    ],
)
def test_what_is_refused_changes_nothing(tmp_path: Path, text: str, key: str, typed: str, message: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(text)
    with pytest.raises(StetError) as caught:
        save_setting(file, key, typed)
    assert message in str(caught.value)
    assert file.read_text() == text


def test_a_change_by_someone_else_meanwhile_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(KEPT)
    parse = save.parse_settings

    def meanwhile(text: str, path: Path) -> dict[str, object]:
        file.write_text("[ui]\nmouse = true\n")
        return parse(text, path)

    monkeypatch.setattr(save, "parse_settings", meanwhile)
    with pytest.raises(StetError, match="changed by someone else"):
        save_setting(file, "ui.theme", "night")
    assert file.read_text() == "[ui]\nmouse = true\n"
    assert os.listdir(tmp_path) == ["settings.toml"]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, theme: str) -> None:
    file = tmp_path_factory.mktemp("any") / "settings.toml"
    file.write_text(KEPT)
    save_setting(file, "ui.theme", theme)
    values = tomllib.loads(file.read_text())
    assert values["ui"]["theme"] == theme
    assert values["tools"]["shell"]["timeout"] == 5
