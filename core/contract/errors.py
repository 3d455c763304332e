"""The errors that people and models see: a message, and a hint that says what to do next."""

from __future__ import annotations

from enum import StrEnum


class StetError(Exception):
    """Base of every error that stet raises on purpose.

    Args:
        message: what happened, to what.
        hint: what to do next; may be empty.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class NoUsableModel(StetError):
    """The model that was asked for is not there, or lacks its key."""


class ToolErrorType(StrEnum):
    """Machine-readable reason of a tool's failure; one value for each refusal of the tool pages."""

    INVALID_TOOL_PARAMS = "invalid_tool_params"
    TOOL_NOT_REGISTERED = "tool_not_registered"
    UNHANDLED_EXCEPTION = "unhandled_exception"
    EXECUTION_FAILED = "execution_failed"
    POLICY_VIOLATION = "policy_violation"
    DENIED_BY_USER = "denied_by_user"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"

    FILE_NOT_FOUND = "file_not_found"
    FILE_WRITE_FAILURE = "file_write_failure"
    READ_CONTENT_FAILURE = "read_content_failure"
    FILE_TOO_LARGE = "file_too_large"
    PERMISSION_DENIED = "permission_denied"
    NO_SPACE_LEFT = "no_space_left"
    TARGET_IS_DIRECTORY = "target_is_directory"
    TARGET_IS_NOT_DIRECTORY = "target_is_not_directory"
    TARGET_IS_SPECIAL = "target_is_special"
    PATH_NOT_IN_WORKSPACE = "path_not_in_workspace"
    SENSITIVE_PATH = "sensitive_path"
    SEARCH_PATH_NOT_FOUND = "search_path_not_found"
    SEARCH_PATH_NOT_A_DIRECTORY = "search_path_not_a_directory"
    BINARY_FILE = "binary_file"
    ENCODING_FAILURE = "encoding_failure"
    FILE_CHANGED = "file_changed"

    EDIT_PREPARATION_FAILURE = "edit_preparation_failure"
    EDIT_NO_OCCURRENCE_FOUND = "edit_no_occurrence_found"
    EDIT_EXPECTED_OCCURRENCE_MISMATCH = "edit_expected_occurrence_mismatch"
    EDIT_NO_CHANGE = "edit_no_change"
    EDIT_OMISSION_PLACEHOLDER = "edit_omission_placeholder"
    SYMBOL_NOT_FOUND = "symbol_not_found"
    RENAME_CONFLICT = "rename_conflict"
    ATTEMPT_TO_CREATE_EXISTING_FILE = "attempt_to_create_existing_file"

    GLOB_EXECUTION_ERROR = "glob_execution_error"
    GREP_EXECUTION_ERROR = "grep_execution_error"
    INVALID_PATTERN = "invalid_pattern"
    LS_EXECUTION_ERROR = "ls_execution_error"
    SHELL_EXECUTE_ERROR = "shell_execute_error"
    MCP_TOOL_ERROR = "mcp_tool_error"
    DISCOVERED_TOOL_EXECUTION_ERROR = "discovered_tool_execution_error"
    MEMORY_TOOL_EXECUTION_ERROR = "memory_tool_execution_error"
    WEB_FETCH_NO_URL_IN_PROMPT = "web_fetch_no_url_in_prompt"
    WEB_FETCH_PROCESSING_ERROR = "web_fetch_processing_error"
    WEB_FETCH_PRIVATE_ADDRESS = "web_fetch_private_address"
    WEB_SEARCH_FAILED = "web_search_failed"
    STOP_EXECUTION = "stop_execution"


class ToolFailure(StetError):
    """A tool's refusal with its type; the framework turns it into a `ToolResult.error`, never a crash."""

    def __init__(self, type: ToolErrorType, message: str, hint: str = "", *, display: str = "") -> None:
        super().__init__(message, hint)
        self.type = type
        self.display = display
        """A shorter text for the user; empty means the message itself."""


class ModelErrorKind(StrEnum):
    """Why a model request failed, as far as the next step depends on it."""

    AUTH = "auth"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    CONTEXT_TOO_LONG = "context_too_long"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    SERVER = "server"
    CONNECTION = "connection"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    EMPTY = "empty"
    BLOCKED = "blocked"
    UNAVAILABLE = "unavailable"


class ModelError(StetError):
    """A model request that failed.

    Args:
        retry_after: seconds that the server asked to wait, or none.
        retryable: whether the same request may succeed when sent again.
        max_retries: fewer retries than usual make sense (an unknown host, nothing listening).
    """

    def __init__(
        self,
        kind: ModelErrorKind,
        message: str,
        hint: str = "",
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        max_retries: int = 3,
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.max_retries = max_retries
        self.retryable = retryable
        self.retry_after = retry_after
