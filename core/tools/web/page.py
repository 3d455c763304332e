"""Pages as Markdown, made in a process of its own that is killed when it takes too long."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path

PATIENCE = 8.0
"""Seconds for one conversion."""
_WORKER = Path(__file__).with_name("page_worker.py")


class PageUnreadable(Exception):
    """The page can't be converted: the process failed, or took too long."""


async def page_to_markdown(html: str, url: str, *, full_page: bool = False, patience: float = PATIENCE) -> str:
    """Return the Markdown of a page: of its main content, unless the `full_page` is wanted or none is found.

    Links become absolute by `url`. A page that breaks the conversion gives its bare text.

    Raises:
        PageUnreadable: not even that can be had.
    """
    if not html.strip():
        return ""
    data = html.encode("utf-8", "replace")
    try:
        text = await _work({"url": url, "full": full_page, "strip": False}, data, patience)
    except PageUnreadable:
        text = ""
    return text or await _work({"url": url, "full": True, "strip": True}, data, patience)


async def _work(job: dict[str, object], data: bytes, patience: float) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        str(_WORKER),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(patience):
            answer, _ = await process.communicate(json.dumps(job).encode() + b"\n" + data)
    except TimeoutError:
        raise PageUnreadable(f"it took more than {patience:g} seconds") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        raise PageUnreadable("the converter failed")
    return answer.decode("utf-8", "replace")
