"""`@shell` in a prompt: the end of what a terminal shows goes along, only when it is asked for."""

from __future__ import annotations

from core.terminal.job import Job
from core.terminal.jobs import JobTable
from core.tools.builtin.run_shell_command import wrap_untrusted

MENTION = "shell"
MAX_LINES = 200
MAX_CHARACTERS = 20_000


def mentioned_job(jobs: JobTable) -> Job | None:
    """Return what `@shell` means: the user's own shell, else the newest job; none if there is none."""
    return jobs.shell or next(iter(reversed(list(jobs))), None)


async def read_shell(jobs: JobTable, mentions: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the text that stands for `@shell` among the mentions, and the other mentions.

    Without any job it is a path like another.
    """
    job = mentioned_job(jobs) if MENTION in mentions else None
    if job is None:
        return "", mentions
    lines = (await job.text())[-MAX_CHARACTERS:].rstrip("\n").split("\n")
    shown = "\n".join(lines[-MAX_LINES:])
    which = "the user's shell"
    if not job.is_shell:
        which, shown = "a command", f"$ {job.command}\n{shown}"
    text = f"\n\nThe last lines of {which}, as the terminal shows them:\n{wrap_untrusted(shown)}"
    return text, tuple(mention for mention in mentions if mention != MENTION)
