"""What people are asked before a call runs, and what they may answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class ToolConfirmationOutcome(StrEnum):
    PROCEED_ONCE = "proceed_once"
    PROCEED_ALWAYS = "proceed_always"
    """All later calls of this sort in this session (edits: auto-edit mode)."""
    PROCEED_ALWAYS_TOOL = "proceed_always_tool"
    PROCEED_ALWAYS_SERVER = "proceed_always_server"
    PROCEED_ALWAYS_AND_SAVE = "proceed_always_and_save"
    MODIFY_WITH_EDITOR = "modify_with_editor"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class EditConfirmation:
    title: str
    file_name: str
    file_path: str
    file_diff: str
    """Unified diff."""
    original_content: str | None
    """None where the file does not exist yet."""
    new_content: str
    is_modifying: bool = False
    notes: tuple[str, ...] = ()
    """What the reviewer should know: the rung that matched, a changed encoding, a stale file."""
    is_deleted: bool = False
    """The file goes; `new_content` is empty."""
    dropped_with: tuple[str, ...] = ()
    """Paths of the same change that stay as they are, too, where nothing of this one is taken."""
    type: Literal["edit"] = "edit"


@dataclass(frozen=True, slots=True)
class FileOperationsConfirmation:
    """One change of many files, reviewed as a whole."""

    title: str
    files: tuple[EditConfirmation, ...]
    """Each with a path of its own."""
    type: Literal["file_operations"] = "file_operations"


@dataclass(frozen=True, slots=True)
class CommandPart:
    """One simple command of a command line, with the policy's verdict on it."""

    text: str
    verdict: str = "ask"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ExecConfirmation:
    title: str
    command: str
    root_command: str
    root_commands: tuple[str, ...]
    directory: str
    parts: tuple[CommandPart, ...] = ()
    type: Literal["exec"] = "exec"


@dataclass(frozen=True, slots=True)
class McpConfirmation:
    title: str
    server_name: str
    tool_name: str
    tool_display_name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    type: Literal["mcp"] = "mcp"


@dataclass(frozen=True, slots=True)
class InfoConfirmation:
    title: str
    prompt: str
    urls: tuple[str, ...] = ()
    type: Literal["info"] = "info"


@dataclass(frozen=True, slots=True)
class Choice:
    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    question: str
    header: str = ""
    choices: tuple[Choice, ...] = ()
    """Empty for a free answer."""
    multiple: bool = False


@dataclass(frozen=True, slots=True)
class AskUserConfirmation:
    title: str
    questions: tuple[Question, ...]
    type: Literal["ask_user"] = "ask_user"


@dataclass(frozen=True, slots=True)
class PlanConfirmation:
    title: str
    plan_file: str
    plan: str
    type: Literal["plan"] = "plan"


ConfirmationDetails = (
    EditConfirmation
    | FileOperationsConfirmation
    | ExecConfirmation
    | McpConfirmation
    | InfoConfirmation
    | AskUserConfirmation
    | PlanConfirmation
)
