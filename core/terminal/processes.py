"""Which processes belong to a job, whether one waits for its terminal, and how they are ended. Linux, by /proc.

Where there is no /proc only the process group is known.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import struct
from collections.abc import Callable, Iterable

from core.terminal.environment import JOB_MARK, SESSION_MARK
from core.terminal.limit_mark import is_of_job, is_of_session, read_mark

GRACE = 0.2
"""Seconds between SIGTERM and SIGKILL."""
_GIVE_UP = 3.0
"""Seconds after which even SIGKILL is not waited for (a process in an uninterruptible sleep)."""


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def process_ids() -> list[int]:
    """Return all process ids that /proc shows."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def read_stat(pid: int) -> tuple[str, int, int, int] | None:
    """Return a process's state letter, parent, process group and session; none if it is gone."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) < 4:
        return None
    return fields[0].decode(), int(fields[1]), int(fields[2]), int(fields[3])


def marked_processes(mark: str, value: str) -> set[int]:
    """Return the live processes whose environment holds `mark=value`, or that bear the like where it was cleared."""
    wanted = f"{mark}={value}".encode()
    is_of = is_of_session if mark == SESSION_MARK else is_of_job

    def bears(pid: int) -> bool:
        if wanted in _read(f"/proc/{pid}/environ").split(b"\0"):
            return True
        return is_of(read_mark(_read(f"/proc/{pid}/limits")), value)

    own = os.getpid()
    return {pid for pid in process_ids() if pid != own and bears(pid)}


def job_processes(job: str, leader: int) -> set[int]:
    """Return the live processes of a job: of its mark, its group, its session, and all their descendants."""
    found = marked_processes(JOB_MARK, job)
    children: dict[int, list[int]] = {}
    alive: set[int] = set()
    for pid in process_ids():
        stat = read_stat(pid)
        if stat is None or stat[0] in "ZX":
            continue
        alive.add(pid)
        children.setdefault(stat[1], []).append(pid)
        if leader in stat[2:]:
            found.add(pid)
    found &= alive
    pending = list(found)
    while pending:
        for child in children.get(pending.pop(), ()):
            if child not in found:
                found.add(child)
                pending.append(child)
    found.discard(os.getpid())
    return found


def command_of(pid: int) -> str:
    """Return the command line that a process was started with; its short name where it has none."""
    words = _read(f"/proc/{pid}/cmdline").rstrip(b"\0") or _read(f"/proc/{pid}/comm").strip()
    return words.replace(b"\0", b" ").decode("utf-8", "replace")


def _started(pid: int) -> float:
    """Return when a process was started, in seconds since the machine was."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return int(fields[19]) / os.sysconf("SC_CLK_TCK") if len(fields) > 19 else 0.0


def machine_seconds() -> float:
    """Return how long the machine has run, on the clock by which starts of processes are told."""
    return float((_read("/proc/uptime").split() or [b"0"])[0])


def left_behind(job: str, leader: int, since: float = 0.0) -> dict[int, str]:
    """Return the commands that a job's leader has left running, without those that they have started themselves.

    Args:
        since: seconds since the machine was started: what is older does not count.
    """
    found = job_processes(job, leader) - {leader}
    parents = {pid: stat[1] for pid in found if (stat := read_stat(pid)) is not None}
    return {pid: command_of(pid) for pid in sorted(parents) if parents[pid] not in found and _started(pid) >= since}


def _signal_all(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


async def end_processes(find: Callable[[], set[int]], *, hard: bool = False) -> None:
    """End the processes that `find` (run in a thread) returns, until it finds none: SIGTERM, SIGKILL after 200 ms.

    Args:
        hard: SIGKILL at once.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    asked: set[int] = set()
    unseen = 0
    while unseen < 2:  # one that is just starting a program is not found at that moment
        pids = await asyncio.to_thread(find)
        unseen = 0 if pids else unseen + 1
        now = loop.time() - began
        if now > _GIVE_UP:
            return
        if hard or now >= GRACE:
            _signal_all(pids, signal.SIGKILL)
        elif pids - asked:
            _signal_all(pids - asked, signal.SIGTERM)
            _signal_all(pids - asked, signal.SIGCONT)
            asked |= pids
        if unseen < 2:
            await asyncio.sleep(0.04 if pids else 0.02)


# --- waiting for input ------------------------------------------------------------------------------

# system call numbers on x86-64 and on the generic table (arm64, riscv64)
_MACHINES = {
    "x86_64": {0: "read", 7: "poll", 23: "select", 232: "epoll", 270: "select", 271: "poll", 281: "epoll"},
    "generic": {63: "read", 72: "select", 73: "poll", 22: "epoll"},
}
_POLLIN = 0x1
_POLL_ENTRY = struct.Struct("=ihh")


def waits_for_terminal(group: int, terminal: str) -> bool | None:
    """Return whether a process of the foreground group is blocked until `terminal` (`/dev/pts/3`) has input.

    None where that can't be told: a process runs with the rights of another user, as those of `sudo` and `su` do.
    """
    may_look = True
    for pid in process_ids():
        stat = read_stat(pid)
        if stat is None or stat[2] != group or stat[0] != "S":
            continue
        for thread in _threads(pid):
            try:
                if _thread_waits(pid, thread, terminal):
                    return True
            except PermissionError:
                may_look = False
    return False if may_look else None


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")[:64]
    except OSError:
        return []


def _thread_waits(pid: int, thread: str, terminal: str) -> bool:
    try:
        with open(f"/proc/{pid}/task/{thread}/syscall", "rb") as file:
            call = file.read().split()
    except PermissionError:
        raise
    except OSError:  # it is gone
        return False
    if len(call) < 7 or not call[0].isdigit():
        return False
    machine = os.uname().machine
    names = _MACHINES["x86_64" if machine == "x86_64" else "generic"]
    kind = names.get(int(call[0]))
    first, second = int(call[1], 16), int(call[2], 16)
    if kind == "read":
        return _is_terminal(pid, first, terminal)
    if kind == "poll":
        entries = _memory(pid, first, min(second, 64) * _POLL_ENTRY.size)
        return any(
            events & _POLLIN and _is_terminal(pid, number, terminal)
            for number, events, _ in _POLL_ENTRY.iter_unpack(entries[: len(entries) // 8 * 8])
        )
    if kind == "select":
        bits = _memory(pid, second, (min(first, 1024) + 7) // 8) if second else b""
        numbers = [at * 8 + bit for at, byte in enumerate(bits) for bit in range(8) if byte >> bit & 1]
        return any(_is_terminal(pid, number, terminal) for number in numbers)
    if kind == "epoll":
        watched = _read(f"/proc/{pid}/fdinfo/{first}").split(b"tfd:")[1:]
        return any(_watches(pid, entry.split(), terminal) for entry in watched)
    return False


def _watches(pid: int, entry: list[bytes], terminal: str) -> bool:
    """Return whether an epoll entry (`N events: HEX …`) waits for input of the terminal."""
    return len(entry) > 2 and bool(int(entry[2], 16) & _POLLIN) and _is_terminal(pid, int(entry[0]), terminal)


def _memory(pid: int, address: int, size: int) -> bytes:
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
            file.seek(address)
            return file.read(size)
    except (OSError, OverflowError, ValueError):
        return b""


def _is_terminal(pid: int, number: int, terminal: str) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/fd/{number}") in (terminal, "/dev/tty")
    except OSError:
        return False
