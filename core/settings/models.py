"""The settings: one field a setting, its docstring is the help text in the settings screen and the docs."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from core.contract.events import ApprovalMode


class Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSettings(Group):
    name: str = ""
    """PROVIDER/NAME, for instance `gemini/gemini-2.5-pro`; empty: chosen by the keys in the environment."""
    gemini: str = "gemini-2.5-pro"
    """The Gemini model where only the provider is given."""
    openai: str = ""
    """The model of the OpenAI-compatible server where only the provider is given."""
    retries: int = Field(default=3, ge=0, le=10)
    """How often a failed request is sent again before anything of its answer was shown."""


class UiSettings(Group):
    theme: str = "textual-dark"
    """Name of the colour theme."""
    diff_view: Literal["auto", "unified", "split"] = "auto"
    """How changes are shown; `auto` puts them side by side where the window is wide enough."""
    mouse: bool = True
    """Use the mouse; off leaves selecting text to the terminal."""
    reduced_motion: bool = False
    """No animation at all."""


class ReadFileSettings(Group):
    line_numbers: bool = True
    """Number the lines that read_file returns."""


class ShellSettings(Group):
    timeout: float = Field(default=30.0, gt=0, allow_inf_nan=False)
    """Seconds in the foreground; then a command moves to the background."""
    on_timeout: Literal["background", "kill"] = "background"
    """What happens then: `background` or `kill`."""


class ToolSettings(Group):
    read_file: ReadFileSettings = ReadFileSettings()
    """How files are read."""
    shell: ShellSettings = ShellSettings()
    """How the agent's commands are run."""
    truncate_chars: int = Field(default=50_000, ge=1_000)
    """Longer results are cut to a head and a tail that name the file which holds the whole."""
    ignore_path_filter: tuple[str, ...] = ()
    """Sensitive paths (glob patterns) that may be read and written all the same."""


class ShellPaneSettings(Group):
    program: str = ""
    """The user's own shell in the shell pane; empty: the login shell."""
    scrollback: int = Field(default=10_000, ge=0, le=1_000_000)
    """Lines kept of each job."""


class PolicySettings(Group):
    approval_mode: ApprovalMode = ApprovalMode.DEFAULT
    """What runs without asking when a session starts: `default`, `auto_edit`, `plan` or `yolo`."""


class AgentSettings(Group):
    max_turns: int = Field(default=100, ge=1)
    """Model steps within one prompt; then the agent stops and says so."""
    max_cost: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """US dollars that a session may cost; then the agent stops and says so."""
    parallel_calls: int = Field(default=8, ge=1, le=64)
    """Read-only tool calls that run at the same time."""
    idle_timeout: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    """Seconds without a word from the model after which the request counts as lost."""


class SessionSettings(Group):
    record: bool = True
    """Write the session's record, from which it can be resumed and exported."""


class Settings(Group):
    model: ModelSettings = ModelSettings()
    """Which model works."""
    ui: UiSettings = UiSettings()
    """The screen."""
    tools: ToolSettings = ToolSettings()
    """The agent's tools."""
    shell: ShellPaneSettings = ShellPaneSettings()
    """The shell pane."""
    policy: PolicySettings = PolicySettings()
    """What runs without asking."""
    agent: AgentSettings = AgentSettings()
    """The limits of the agent."""
    session: SessionSettings = SessionSettings()
    """The session's record."""
