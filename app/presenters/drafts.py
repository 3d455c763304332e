"""Keeps what was typed: the history of sent prompts, and the draft that was not sent, over a crash too."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from typing import Any

from app.services.drafts import DraftFile
from app.stage import Presenter, Stage
from core.contract.errors import StetError
from core.redaction import Redactor
from widgets.prompt.draft import Draft
from widgets.prompt.messages import DraftChanged

log = logging.getLogger(__name__)

SAVE_AFTER = 0.5
"""Seconds after a change within which it is on the disk."""


class DraftsPresenter(Presenter):
    """Saves the draft a moment after it changed, but in a session that leaves nothing behind; idle it has no timer."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._pane = stage.workspace.prompt
        self._file: DraftFile | None = None
        self._saving = False

    def message_routes(self) -> dict[type, Callable[[Any], None]]:
        return {DraftChanged: self._note_change}

    def register(self) -> None:
        engine = self.stage.engine
        if not engine.is_recorded:
            return
        project = engine.store.folder.name
        redact = Redactor.from_environment(os.environ)
        self._pane.keep_history(engine.folders.state / "history" / f"{project}.jsonl", redact)
        self._file = DraftFile(engine.folders.state / "drafts" / project, engine.bus.session, redact)
        self.stage.spawn(self._serve(self._file))

    async def _serve(self, file: DraftFile) -> None:
        try:
            left = await asyncio.to_thread(file.open)
        except (OSError, StetError) as error:
            log.warning("drafts can't be kept: %s", error)
            return
        for draft in left:
            self._pane.history.add(draft)
        if left and self._pane.draft.is_empty:
            self._pane.set_draft(left[-1])
            self.stage.app.notify("This is what you had not sent yet.", markup=False)
        self._note_change(None)
        try:
            await asyncio.Event().wait()  # the session's end
        finally:
            draft = self._pane.draft
            await asyncio.to_thread(file.close, draft if self._may_keep(draft) else Draft())

    def _note_change(self, message: DraftChanged | None) -> None:
        if self._file is not None and not self._saving:
            self._saving = True
            self.stage.spawn(self._save(self._file))

    async def _save(self, file: DraftFile) -> None:
        await asyncio.sleep(SAVE_AFTER)
        self._saving = False
        draft = self._pane.draft
        if not self._may_keep(draft):
            return
        try:
            await asyncio.to_thread(file.save, draft)
        except OSError as error:
            log.warning("the draft can't be saved: %s", error)

    def _may_keep(self, draft: Draft) -> bool:
        return self._pane.editor.guard.may_keep(draft)
