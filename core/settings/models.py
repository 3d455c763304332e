"""The settings: one field a setting, its docstring is the help text in the settings screen and the docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from core.contract.events import ApprovalMode


class Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Marks a setting that is read where it is needed: a change holds at once; that of others from the next start."""


class ModelSettings(Group):
    name: str = ""
    """PROVIDER/NAME, for instance `gemini/gemini-2.5-pro`; empty: chosen by the keys in the environment."""
    gemini: str = "gemini-2.5-pro"
    """The Gemini model where only the provider is given."""
    openai: str = ""
    """The model of an OpenAI-compatible server where only the provider is given."""
    context_window: int = Field(default=0, ge=0)
    """Tokens of the context window of a model on an OpenAI-compatible server; 0: as its name says."""
    retries: int = Field(default=3, ge=0, le=10)
    """How often a failed request is sent again before anything of its answer was shown."""


class UiSettings(Group):
    theme: Annotated[str, AtOnce()] = "stet-dark"
    """Name of the colour theme: `stet-dark`, `stet-light`, `stet-contrast`, `ansi-dark` …; `/theme` shows all."""
    diff_view: Annotated[Literal["auto", "unified", "split"], AtOnce()] = "auto"
    """How changes are shown; `auto` puts them side by side where the window is wide enough."""
    mouse: bool = True
    """Use the mouse; off leaves selecting text to the terminal."""
    tool_output: Annotated[Literal["never", "failed", "always"], AtOnce()] = "failed"
    """Which finished tool calls open by themselves in the chat."""
    tool_output_of: Annotated[dict[str, Literal["never", "failed", "always"]], AtOnce()] = {}
    """The same for single tools, by name: `{ run_shell_command = "always" }`."""
    group_reads: Annotated[bool, AtOnce()] = True
    """Show calls that only read or search, and went well, as one line that opens."""
    reduced_motion: Annotated[bool, AtOnce()] = False
    """No animation at all."""
    notifications: Annotated[Literal["auto", "bell", "osc9", "osc777", "off"], AtOnce()] = "auto"
    """How the terminal calls you while it has not the focus and something waits or is over: `auto` is the bell and the
    notification that the terminal knows (by OSC 9 or OSC 777); `bell` the bell alone, `osc9` and `osc777` no bell."""

    @field_validator("notifications", mode="before")
    @classmethod
    def _take_switch(cls, value: object) -> object:
        return {True: "auto", False: "off"}[value] if isinstance(value, bool) else value


class PromptSettings(Group):
    vim: Annotated[bool, AtOnce()] = False
    """Vi's keys in the prompt, from insert mode on; Alt with a letter is Esc and that letter. `/vim` turns them on."""


class ReadFileSettings(Group):
    line_numbers: Annotated[bool, AtOnce()] = True
    """Number the lines that read_file returns."""


class ShellSettings(Group):
    timeout: Annotated[float, AtOnce()] = Field(default=30.0, gt=0, allow_inf_nan=False)
    """Seconds in the foreground; then a command moves to the background."""
    on_timeout: Annotated[Literal["background", "kill"], AtOnce()] = "background"
    """What happens then: `background` or `kill`."""


class WebFetchSettings(Group):
    allowed_hosts: Annotated[tuple[str, ...], AtOnce()] = ()
    """Hosts that web_fetch may ask although they are not public: `localhost:3000`, or a name for the usual ports."""


class ToolSettings(Group):
    read_file: ReadFileSettings = ReadFileSettings()
    """How files are read."""
    shell: ShellSettings = ShellSettings()
    """How the agent's commands are run."""
    web_fetch: WebFetchSettings = WebFetchSettings()
    """How pages of the web are fetched."""
    truncate_chars: int = Field(default=50_000, ge=1_000)
    """Longer results are cut to a head and a tail that name the file which holds the whole."""
    ignore_path_filter: tuple[str, ...] = ()
    """Sensitive paths (glob patterns) that may be read and written all the same."""
    discovery_command: str = ""
    """Prints the declarations of more tools as JSON; split into words like a command line, but run without a shell."""
    call_command: str = ""
    """Runs a discovered tool: gets its name as the last argument and the call's arguments as JSON on standard input."""
    call_timeout: Annotated[float, AtOnce()] = Field(default=10.0, gt=0, allow_inf_nan=False)
    """Seconds that a call of a discovered tool may take."""


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


class McpOAuthSettings(Group):
    client_id: str = ""
    """Of a client that is registered already; empty: one is registered when logging in."""
    client_secret: str = ""
    """Of that client, where it has one."""
    scope: str = ""
    """Scopes to ask for, separated by blanks; empty: what the server names."""
    redirect_port: int = Field(default=0, ge=0, le=65535)
    """Port on the loopback interface to which the browser comes back; 0: any that is free."""


class McpServerSettings(Group):
    command: str = ""
    """Program of a server that talks over its standard input and output."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: dict[str, str] = {}
    """Variables for it, besides the few that it gets anyway; `$NAME` stands for a variable of ours."""
    cwd: str = ""
    """Its directory; empty: the workspace where the project is trusted, else the configuration folder."""
    url: str = ""
    """Address of a server that talks streamable HTTP, or SSE."""
    headers: dict[str, str] = {}
    """Headers for every request; `$NAME` stands for a variable of ours."""
    timeout: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    """Seconds that a call may take."""
    start_timeout: float = Field(default=30.0, gt=0, allow_inf_nan=False)
    """Seconds that it may take to start and to list what it offers."""
    trust: bool = False
    """Run its tools without asking."""
    include_tools: tuple[str, ...] = ()
    """Only these tools, as the server calls them (glob patterns); empty: all."""
    exclude_tools: tuple[str, ...] = ()
    """Not these tools; wins over `include_tools`."""
    oauth: bool | McpOAuthSettings = True
    """Log in by OAuth where the server asks for it; a table gives a client that is registered already."""
    enabled: bool = True
    """Start it with the session."""


class McpSettings(Group):
    wait: float = Field(default=10.0, ge=0, allow_inf_nan=False)
    """Seconds that a prompt without a screen waits for servers that are still starting."""


class FileOperationsSettings(Group):
    enabled: Literal["off", "adapters", "full"] = "adapters"
    """Changes of many files in one call: `off`, beside the single tools (`adapters`), or in their place (`full`)."""

    @property
    def is_full(self) -> bool:
        return self.enabled == "full"


class SessionSettings(Group):
    record: bool = True
    """Write the session's record, from which it can be resumed and exported."""
    keep_days: int = Field(default=0, ge=0)
    """Days after its last use when a session is deleted; 0 keeps all."""


class TelemetrySettings(Group):
    otlp_endpoint: str = ""
    """Where spans of turns and work on files are sent (OTLP over HTTP: `http://HOST:4318/v1/traces`); empty: none."""


class Settings(Group):
    model: ModelSettings = ModelSettings()
    """Which model works."""
    ui: UiSettings = UiSettings()
    """The screen."""
    prompt: PromptSettings = PromptSettings()
    """What you write in."""
    tools: ToolSettings = ToolSettings()
    """The agent's tools."""
    file_operations: FileOperationsSettings = FileOperationsSettings()
    """Many files in one call."""
    shell: ShellPaneSettings = ShellPaneSettings()
    """The shell pane."""
    policy: PolicySettings = PolicySettings()
    """What runs without asking."""
    agent: AgentSettings = AgentSettings()
    """The limits of the agent."""
    session: SessionSettings = SessionSettings()
    """The session's record."""
    telemetry: TelemetrySettings = TelemetrySettings()
    """Measurements for OpenTelemetry; needs `pip install 'stet[otel]'`."""
    mcp: McpSettings = McpSettings()
    """Servers of the Model Context Protocol together."""
    mcp_servers: dict[str, McpServerSettings] = {}
    """Servers of the Model Context Protocol, by name; their tools are called `NAME__tool`."""
