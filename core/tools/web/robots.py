"""robots.txt (RFC 9309): asked once an hour for each origin, before the first page of it is fetched."""

from __future__ import annotations

import time
from collections.abc import Callable

from protego import Protego

from core.contract.errors import ToolErrorType, ToolFailure
from core.tools.web.download import Downloader, failed
from core.tools.web.targets import Target, parse_url

AGENT = "stet"
"""The name that rules may be addressed to."""
MAX_BYTES = 512_000
"""Of a robots.txt (RFC 9309 section 2.5 asks for 500 KiB at least)."""
_KEEP = 3_600.0
_MAX_ORIGINS = 200


class RobotsRules:
    """The rules of the origins that were asked so far."""

    def __init__(self, downloader: Downloader, clock: Callable[[], float] = time.monotonic) -> None:
        self._downloader = downloader
        self._clock = clock
        self._known: dict[str, tuple[float, Protego | None]] = {}

    async def check(self, target: Target) -> None:
        """Refuse what the origin's rules forbid.

        Raises:
            ToolFailure: it is forbidden, or the rules could not be had.
        """
        known = self._known.get(target.origin)
        if known is None or self._clock() - known[0] > _KEEP:
            known = (self._clock(), await self._ask(target))
            if len(self._known) >= _MAX_ORIGINS:
                self._known.pop(next(iter(self._known)))
            self._known[target.origin] = known
        rules = known[1]
        if rules is not None and not rules.can_fetch(target.url, AGENT):
            raise failed(target, "the site's robots.txt forbids it", "Ask the user to open it, or use another source.")

    async def _ask(self, target: Target) -> Protego | None:
        """Return the rules; none where everything is allowed (no robots.txt: RFC 9309 section 2.3.1.3)."""
        robots = parse_url(f"{target.origin}/robots.txt")
        try:
            answer = await self._downloader.get(robots, limit=MAX_BYTES)
        except ToolFailure as failure:
            if failure.type is not ToolErrorType.WEB_FETCH_PROCESSING_ERROR:
                raise
            raise failed(target, f"its robots.txt could not be had ({failure.message})") from None
        if answer.status >= 500:
            raise failed(target, f"its robots.txt could not be had (status {answer.status})", "Try again later.")
        if answer.status >= 400:
            return None
        return Protego.parse(answer.data.decode("utf-8", "replace"))
