"""What the user does in the shell pane, as messages to whoever owns the jobs."""

from __future__ import annotations

from textual.message import Message


class KeysTyped(Message):
    """Bytes for a job's program. They may be a password: never log or keep them."""

    def __init__(self, job_id: str, data: bytes) -> None:
        super().__init__()
        self.job_id = job_id
        self.data = data


class JobResized(Message):
    """The terminal of the job that is shown has a new size, in cells."""

    def __init__(self, job_id: str, columns: int, lines: int) -> None:
        super().__init__()
        self.job_id = job_id
        self.columns = columns
        self.lines = lines


class JobShown(Message):
    """Another job is shown, or with an empty id none, as the pane is hidden."""

    def __init__(self, job_id: str) -> None:
        super().__init__()
        self.job_id = job_id


class JobKillRequested(Message):
    """The user wants a job ended."""

    def __init__(self, job_id: str) -> None:
        super().__init__()
        self.job_id = job_id


class LeaveRequested(Message):
    """The user wants out of the terminal, back to the prompt."""


class TextSelected(Message):
    """The user has selected text in a terminal: it is to be copied."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
