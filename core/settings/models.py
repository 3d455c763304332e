"""The settings: one field a setting, its docstring is the help text in the settings screen and the docs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class ReadFileSettings(Group):
    line_numbers: bool = True
    """Number the lines that read_file returns."""


class ShellSettings(Group):
    timeout: float = 30.0
    """Seconds in the foreground; then a command moves to the background."""
    on_timeout: str = "background"
    """What happens then: `background` or `kill`."""


class ToolSettings(Group):
    read_file: ReadFileSettings = ReadFileSettings()
    shell: ShellSettings = ShellSettings()
    truncate_chars: int = 50_000
    """Longer results are cut to a head and a tail that name the file which holds the whole."""
    ignore_path_filter: tuple[str, ...] = ()
    """Sensitive paths (glob patterns) that may be read and written all the same."""


class Settings(Group):
    tools: ToolSettings = ToolSettings()
