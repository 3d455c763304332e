"""The session as a whole: leaving it, the help, the palette, panes and everything that belongs to no single pane."""

from __future__ import annotations

import time

from app.presenters.prompt import PromptPresenter
from app.services.clipboard import copy_text
from app.services.leaving import leave
from app.stage import Presenter, Stage

QUIT_WITHIN = 1.5
"""Seconds within which ctrl+c must come again to quit."""


class SessionPresenter(Presenter):
    """The application's own actions."""

    def __init__(self, stage: Stage, prompt: PromptPresenter) -> None:
        super().__init__(stage)
        self._prompt = prompt
        self._asked_to_quit = 0.0
        if stage.engine.settings.ui.reduced_motion:
            stage.app.animation_level = "none"

    def register(self) -> None:
        register, workspace = self.stage.app.dispatch.register, self.stage.workspace
        if self.stage.engine.settings.ui.reduced_motion:
            self.stage.app.animation_level = "none"
        if self.stage.engine.trust.answer:  # the project's own theme was not yet known at the first paint
            self._take_theme(self.stage.engine.settings.ui.theme)
        register("app.interrupt", self._interrupt)
        register("app.palette", self._open_palette)
        register("app.help", self.show_help)
        register("app.redraw", self._redraw)
        register("app.suspend", self.stage.app.action_suspend_process)
        register("context.show", lambda: self.stage.spawn(self._prompt.run_command("context")))
        register("settings.show", lambda: self.stage.spawn(self._prompt.run_command("settings")))
        register("pane.chat", lambda: workspace.focus_pane("chat"))
        register("pane.side", self._toggle_side)
        register("pane.maximise", self._toggle_maximised)

    def _take_theme(self, name: str) -> None:
        if name in self.stage.app.available_themes:
            self.stage.app.theme = name

    def _interrupt(self) -> None:
        """Copy the selection; else clear the prompt; else stop the turn; else ask to quit, and then quit."""
        app = self.stage.app
        if selected := app.screen.get_selected_text():
            app.screen.clear_selection()
            self.stage.spawn(copy_text(app, selected, "the selection"))
        elif self.stage.workspace.prompt.clear() or self._prompt.stop_work():
            pass
        elif time.monotonic() - self._asked_to_quit < QUIT_WITHIN:
            self.stage.spawn(leave(self.stage))
        else:
            self._asked_to_quit = time.monotonic()
            running = sum(job.running and not job.is_shell for job in self.stage.engine.jobs)
            jobs = f" {running} command{'s' if running > 1 else ''} still run{'s' * (running == 1)}." if running else ""
            app.notify(f"Press ctrl+c again to quit.{jobs}", timeout=QUIT_WITHIN + 1, markup=False)

    def _redraw(self) -> None:
        self.stage.app.refresh(repaint=True, layout=True)

    def _open_palette(self) -> None:
        from app.palette import ActionPalette

        if not any(isinstance(screen, ActionPalette) for screen in self.stage.app.screen_stack):
            self.stage.app.push_screen(ActionPalette())

    def show_help(self) -> None:
        """Show all keys and commands."""
        from app.help import help_sections
        from widgets.help.screen import HelpScreen

        app = self.stage.app
        if any(isinstance(screen, HelpScreen) for screen in app.screen_stack):
            return
        commands = app.host.commands if app.host is not None else None
        app.push_screen(HelpScreen(help_sections(app.catalogue, commands or ())))

    def _toggle_side(self) -> None:
        workspace = self.stage.workspace
        workspace.show_side(not workspace.side_shown)

    def _toggle_maximised(self) -> None:
        workspace = self.stage.workspace
        pane = workspace.focused_pane
        workspace.maximise_pane(None if workspace.maximised else pane.id if pane else "chat")
