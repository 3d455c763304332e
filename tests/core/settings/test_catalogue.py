"""Every setting has help, a type in words and a default of that type; imports stay within their bounds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.settings.catalogue import SettingRow, describe_type, find_nearest, help_texts, setting_rows
from core.settings.models import Settings

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("row", setting_rows(), ids=lambda row: row.key)
def test_a_setting_explains_itself(row: SettingRow) -> None:
    text = help_texts()[row.key]
    assert text[0].isupper() and text.rstrip("`").endswith(".")
    assert describe_type(row)
    value = Settings()
    for step in row.path:
        value = getattr(value, step)
    assert value == row.default


def test_every_group_has_help() -> None:
    assert all(help_texts().values())


@pytest.mark.parametrize(
    ("key", "nearest"),
    [("theme", "ui.theme"), ("ui.moose", "ui.mouse"), ("tools.timeout", "tools.shell.timeout"), ("qqqq.zzzz", "")],
)
def test_the_nearest_key(key: str, nearest: str) -> None:
    assert find_nearest(tuple(key.split("."))) == nearest


def test_layers_can_be_read_without_pydantic() -> None:
    code = "import sys, core.settings.layers, core.settings.paths; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n", done.stderr
