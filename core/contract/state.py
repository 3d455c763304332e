"""The states that people see all the time: how much is asked, what a job does, how grave a notice is.

Alone in a module, because the first paint needs them and can't wait for the classes of all events to be made.
"""

from __future__ import annotations

from enum import StrEnum


class ApprovalMode(StrEnum):
    DEFAULT = "default"
    AUTO_EDIT = "auto_edit"
    PLAN = "plan"
    YOLO = "yolo"


class JobState(StrEnum):
    RUNNING = "running"
    QUIET = "quiet"
    WAITING = "waiting"
    """The foreground process is blocked reading its terminal."""
    EXITED = "exited"


class NoticeLevel(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class McpState(StrEnum):
    """Where a server of the Model Context Protocol stands."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    NEEDS_LOGIN = "needs_login"
    STOPPED = "stopped"
