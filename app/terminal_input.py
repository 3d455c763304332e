"""What the terminal sends, read a little more carefully than Textual does.

Alt with a digit or Enter arrives as itself also from terminals without the kitty protocol; broken mouse reports and
key reports that Textual can't read are dropped, not typed into the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.keys import Keys
from textual.message import Message

_BROKEN_MOUSE = re.compile(r"\x1b\[<(?=[^Mm]*[NIni])[\d;.NaIinf-]*[Mm]")
"""SGR mouse reports with NaN or Inf for a number, as some terminals send them when their window has no size."""

_ALT = {"\x1b\r": "alt+enter", **{f"\x1b{digit}": f"alt+{digit}" for digit in "0123456789"}}
"""ESC before a key is Alt (xterm's metaSendsEscape); Textual takes these for Enter, and for what macOS types."""


class TerminalInput(XTermParser):
    """Turns what the terminal sends into events."""

    def feed(self, data: str) -> Iterable[Message]:
        """As Textual's, without broken mouse reports."""
        if "\x1b[<" in data and not (data := _BROKEN_MOUSE.sub("", data)):
            return ()  # an empty string would mean the end of input
        return super().feed(data)

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if (key := _ALT.get(sequence)) is not None:
            return [events.Key(key, None)]
        try:
            return list(super()._sequence_to_key_events(sequence, alt))
        except ValueError:  # a kitty report with fields that were not asked for: the input thread would die of it
            return [events.Key(Keys.Ignore, sequence)]


class TerminalDriver(linux_driver.LinuxDriver):
    """Textual's driver with our reading of input: `App(driver_class=TerminalDriver)`."""

    def run_input_thread(self) -> None:
        """Read input until the end. Textual names its parser in the module only, so that is where ours is put."""
        vars(linux_driver)["XTermParser"] = TerminalInput
        super().run_input_thread()
