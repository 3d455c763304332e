"""The end of a session that is taken up, on the screen before anything else of it is there. It knows no engine."""

from __future__ import annotations

import asyncio
import contextlib
import os

from app.options import SessionOptions
from app.presenters.conversation import Conversation
from app.screens.workspace import WorkspaceScreen
from core.contract.envelope import Envelope
from core.contract.errors import StetError
from core.session.store import SessionStore
from core.session.tail import read_tail
from core.settings.paths import find_folders
from widgets.transcript.view import TranscriptView


async def show_end(workspace: WorkspaceScreen, options: SessionOptions) -> None:
    """Show the last turns in the chat; the presenter of the chat puts the whole in their place.

    What is wrong with the session is not said here: it is when the session is opened.
    """
    with contextlib.suppress(StetError, OSError):
        envelopes = await asyncio.to_thread(_read, options)
        view = await workspace.pane("chat")
        assert isinstance(view, TranscriptView)
        Conversation(view).replay(envelopes)


def _read(options: SessionOptions) -> tuple[Envelope, ...]:
    store = SessionStore(find_folders(os.environ).state / "sessions", options.directory)
    return read_tail(store.find(options.resume or "").path)
