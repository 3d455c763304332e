"""The application: one Textual App that owns no feature. It paints first; the session starts after that."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.driver import Driver
from textual.filter import LineFilter, Monochrome, NoColor
from textual.message import Message
from textual.reactive import Reactive
from textual.screen import Screen
from textual.worker import WorkerFailed

from app.actions import ActionDispatch, Catalogue, Scope
from app.early_keys import EarlyKeys
from app.options import SessionOptions
from app.panes import STYLES, remove_panes
from app.screens.workspace import WorkspaceScreen
from app.services.collection import start_collecting
from app.themes import DEFAULT, THEMES
from core.contract.errors import StetError
from widgets.common.line_filter import ControlFilter
from widgets.prompt.prompt import PromptPane

if TYPE_CHECKING:
    from app.host import SessionHost
    from app.palette import PaletteEntry

log = logging.getLogger(__name__)


class StetApp(App[int], inherit_bindings=False):
    """The full-screen application.

    Args:
        catalogue: the actions with the keys in force.
        theme: name of a theme; an unknown one is reported and the default taken.
        on_session: told the session's id when there is one.
        warnings: what is wrong in files that were read before the start.
        driver: reads the terminal; Textual's choice if none.
    """

    TITLE = "stet"
    ENABLE_COMMAND_PALETTE = False
    app_focus: Reactive[bool] = Reactive(True, compute=False, repaint=False)
    """As Textual's, which paints the whole screen again whenever the terminal gains or loses the focus."""
    BINDINGS: ClassVar[list[BindingType]] = []
    """None, not even Textual's own: every key is a row of the catalogue and stands on the workspace."""
    CSS_PATH = [STYLES / f"{name}.tcss" for name in ("workspace", "prompt", "status")]

    def __init__(
        self,
        options: SessionOptions,
        *,
        catalogue: Catalogue | None = None,
        theme: str = "",
        on_session: Callable[[str], None] = lambda session: None,
        warnings: Sequence[str] = (),
        driver: type[Driver] | None = None,
    ) -> None:
        super().__init__(driver_class=driver)
        self.options = options
        self.catalogue = catalogue or Catalogue()
        self.dispatch = ActionDispatch(self.catalogue)
        self.early = EarlyKeys(self.dispatch)
        self.last_key = 0.0
        """When the latest key came (seconds, monotonic)."""
        self._typed_at: WeakKeyDictionary[events.Key, Screen[Any]] = WeakKeyDictionary()
        """The screen at which a key was typed that is on its way."""
        self.on_exit_requested: Callable[[], None] = self.exit
        self.on_session = on_session
        self.warnings = warnings
        self.exit_code = 0
        self.failure: BaseException | None = None
        """What ended the application, if it was an error of ours."""
        for ours in THEMES:
            self.register_theme(ours)
        self._take_theme(theme if theme in self.available_themes else DEFAULT)
        self._control_filter = ControlFilter()
        self.host: SessionHost | None = None
        """The running session's side; there from shortly after the first paint."""

    def _take_theme(self, name: str) -> None:
        """Take a theme while no style is parsed: set later, it would have Textual parse all of them again."""
        self.set_reactive(App.theme, name)
        dark = self.current_theme.dark
        self.update_classes({"-dark-mode": dark, "-light-mode": not dark, f"-theme-{name}": True}, update=False)
        self._refresh_truecolor_filter(self.ansi_theme)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_default_screen(self) -> Screen[None]:
        from app.completions import Completions

        self.completions = Completions()
        prompt = PromptPane(
            self.catalogue.key_methods(Scope.PROMPT),
            self.catalogue.key_methods(Scope.COMPLETION),
            complete=self.completions.complete,
            preview=self.completions.show_path,
        )
        self.workspace = WorkspaceScreen(self.dispatch, prompt)
        return self.workspace

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Guard every surface: no control character of foreign text reaches the terminal, no colour under NO_COLOR."""
        filters = [each for each in super().get_line_filters() if not isinstance(each, Monochrome)]
        return [*filters, *([NoColor()] if self.no_color else []), self._control_filter]

    def on_mount(self) -> None:
        self.set_keymap(self.catalogue.keymap())
        self.app_resume_signal.subscribe(self, lambda app: self.refresh(layout=True))  # `fg` finds an empty screen
        self.call_after_refresh(self._start_session)

    def _start_session(self) -> None:
        start_collecting()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # not in the main thread: tests
                asyncio.get_running_loop().add_signal_handler(number, self._end_by, number)
        from app.host import SessionHost  # late: everything heavy comes with it

        self.host = SessionHost(self)
        self.run_worker(self.host.run(), group="session", exit_on_error=True)

    def switch_session(self, session: str) -> None:
        """Close the session and take up another one."""
        if self.host is not None:
            self.host.switch(session)

    async def open_session(self, session: str) -> None:
        """Take up a session after the former one has closed: its panes are made anew."""
        from app.host import SessionHost

        await remove_panes(self.workspace)
        self.options = replace(self.options, resume=session)
        self.host = SessionHost(self)
        self.run_worker(self.host.run(), group="session", exit_on_error=True)

    def _end_by(self, number: int) -> None:
        self.exit_code = 128 + number
        self.on_exit_requested()

    def _watch_app_focus(self, focus: bool) -> None:
        """As Textual's, but what has the focus keeps it: nothing is restyled just when someone comes back and types."""
        if focus:
            self.screen._update_auto_focus()  # of a dialog that opened meanwhile

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self.last_key = time.monotonic()
            if not event.is_forwarded:
                if self.screen is self.workspace and self.early.take_key(event):
                    return
                self._typed_at[event] = self.screen
            elif self._typed_at.get(event, self.screen) is not self.screen:
                return  # typed before what is on screen now was there: no key of that, least of all one that accepts
        await super().on_event(event)

    def on_decision_screen_minimised(self, message: Message) -> None:
        self.workspace.forward(message)  # dialogs talk to the application, as they lie over the workspace

    def on_decision_screen_others_wanted(self, message: Message) -> None:
        self.workspace.forward(message)

    async def action_perform(self, action_id: str) -> None:
        """Do an action of the catalogue."""
        try:
            if not self.early.take_action(action_id):
                await self.dispatch.perform(action_id)
        except StetError as error:
            self.notify(str(error), severity="warning", markup=False)

    def _handle_exception(self, error: Exception) -> None:
        """Textual's hook for what nobody caught: the traceback goes to the log, and people get a sentence."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        self.failure = self.failure or cause
        log.critical("the application failed", exc_info=cause)
        if self.is_headless:
            super()._handle_exception(error)  # a test's: it is raised there
        else:
            self._close_messages_no_wait()

    def palette_entries(self) -> Iterable[PaletteEntry]:
        """Return what the command palette offers now."""
        return self.host.palette_entries() if self.host is not None else ()
