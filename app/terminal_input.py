"""What the terminal sends, read a little more carefully than Textual does.

Alt with a character or Enter arrives as itself also from terminals without the kitty protocol; broken mouse reports and
key reports that Textual can't read are dropped, not typed into the prompt; nothing in a paste acts as a key.
"""

from __future__ import annotations

import os
import re
import select
import signal
import threading
from collections.abc import Iterable

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.drivers._writer_thread import WriterThread
from textual.keys import Keys
from textual.message import Message

_BROKEN_MOUSE = re.compile(r"\x1b\[<(?=[^Mm]*[NIni])[\d;.NaIinf-]*[Mm]")
"""SGR mouse reports with NaN or Inf for a number, as some terminals send them when their window has no size."""

_ALT = {"\x1b\r": "alt+enter", **{f"\x1b{digit}": f"alt+{digit}" for digit in "0123456789"}}
"""ESC before a key is Alt (xterm's metaSendsEscape); Textual takes these for Enter, and for what macOS types."""

_ALT_CHARACTER = re.compile(r"\x1b[^\x00-\x1f\x7f\[O]")
"""The same with any character, but for those with which longer sequences begin."""

_PASTE_START, _PASTE_END = "\x1b[200~", "\x1b[201~"
"""Around a paste (xterm's bracketed paste, mode 2004)."""
_SHOWN_ESC = "\u241b"


class TerminalInput(XTermParser):
    """Turns what the terminal sends into events."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._in_paste = False
        self._before = ""
        """The end of what came before, where the start of a paste may have begun."""
        self._held = ""
        """The end of what was pasted so far, where the end of the paste may have begun."""

    def feed(self, data: str) -> Iterable[Message]:
        """As Textual's, without broken mouse reports, and with pastes that can't act."""
        if data and not (data := _BROKEN_MOUSE.sub("", self._tame_pastes(data))):
            return ()  # an empty string would mean the end of input
        return super().feed(data)

    def _tame_pastes(self, data: str) -> str:
        """Return `data` with every ESC of a paste as its symbol: Textual takes what follows one for keys."""
        done: list[str] = []
        while data:
            if self._in_paste:
                text, end, data = (self._held + data).partition(_PASTE_END)
                self._held = "" if end else _begun(text, _PASTE_END)
                done.append(text.removesuffix(self._held).replace("\x1b", _SHOWN_ESC) + end)
                self._in_paste = not end
                continue
            at = (self._before + data).find(_PASTE_START)
            if at < 0:
                self._before = _begun(self._before + data, _PASTE_START)
                done.append(data)
                break
            length = at + len(_PASTE_START) - len(self._before)
            done.append(data[:length])
            data = data[length:]
            self._before, self._in_paste = "", True
        return "".join(done)

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if (key := _ALT.get(sequence)) is not None:
            return [events.Key(key, None)]
        try:
            if _ALT_CHARACTER.fullmatch(sequence):
                return [self._with_alt(key) for key in super()._sequence_to_key_events(sequence[1])]
            return list(super()._sequence_to_key_events(sequence, alt))
        except ValueError:  # a kitty report with fields that were not asked for: the input thread would die of it
            return [events.Key(Keys.Ignore, sequence)]

    @staticmethod
    def _with_alt(key: events.Key) -> events.Key:
        """Return a character's key with Alt; Textual takes it from symbols, and turns two letters into arrows."""
        shift = "shift+" if (key.character or "").isupper() else ""
        return events.Key(f"alt+{shift}{key.key.lower()}", key.character)


def _begun(text: str, marker: str) -> str:
    """Return the end of `text` with which `marker` may have begun."""
    lengths = range(len(marker) - 1, 0, -1)
    return next((marker[:length] for length in lengths if text.endswith(marker[:length])), "")


class TerminalWriter(WriterThread):
    """Textual's thread that writes; where the terminal is gone it takes what comes, so that nobody waits for ever."""

    def run(self) -> None:
        try:
            super().run()
        except OSError:
            while self._queue.get() is not None:
                pass


def _wait_for_hangup(terminal: int) -> None:
    """Be told by SIGHUP that the terminal is gone also where it is not ours to control, as below `su -c`."""
    waiting = select.poll()
    waiting.register(terminal, 0)
    waiting.poll()
    os.kill(os.getpid(), signal.SIGHUP)


class TerminalDriver(linux_driver.LinuxDriver):
    """Textual's driver with our reading of input: `App(driver_class=TerminalDriver)`.

    While the terminal is lent to another program nothing is written; Textual would wait for a thread that has ended.
    """

    _is_lent = False
    _is_watched = False

    def write(self, data: str) -> None:
        if not self._is_lent:
            super().write(data)

    def start_application_mode(self) -> None:
        """Start to draw. Textual names its writer in the module only, as it does its parser."""
        vars(linux_driver)["WriterThread"] = TerminalWriter
        if not self._is_watched:
            self._is_watched = True
            threading.Thread(target=_wait_for_hangup, args=(self.fileno,), name="hangup", daemon=True).start()
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual's

    def suspend_application_mode(self) -> None:
        super().suspend_application_mode()
        self._is_lent = True

    def resume_application_mode(self) -> None:
        self._is_lent = False
        super().resume_application_mode()

    def run_input_thread(self) -> None:
        """Read input until the end. Textual names its parser in the module only, so that is where ours is put."""
        vars(linux_driver)["XTermParser"] = TerminalInput
        super().run_input_thread()
